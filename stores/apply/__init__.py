"""The one writer: everything that changes a store does so by the steps of this package (docs/architecture.md)."""
