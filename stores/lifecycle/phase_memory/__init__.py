"""Lifecycle of phase-memory stores: what their rules propose, and what each verb writes."""
