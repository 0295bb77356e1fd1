"""Actions that wait for people: planned from the mirror."""
