"""Pages, fragments and downloads, one module an area."""
