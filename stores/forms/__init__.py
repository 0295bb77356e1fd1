"""Forms, one module an area."""
