"""Disk to database: scan, read, save, measure. Only this package changes mirror tables."""
