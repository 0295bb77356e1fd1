"""Pages of single records, put together from parts: facts, text, tables, charts. One module a family of records."""
