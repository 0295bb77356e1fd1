"""Querysets and values for pages, commands and API; each starts at `visible_stores(user)`."""
