"""What the web asks of a worker, and how the worker claims and does it (ruling 40)."""
