"""The format of phase-memory stores: bytes to records, paths, export and import."""
