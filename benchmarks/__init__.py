"""How fast memoryui is, side by side with the floor and with its peers in one run: `make bench` writes docs/benchmarks.md."""
