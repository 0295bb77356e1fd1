"""Changes of the tables, named by content."""
