"""Lifecycle of OrchestKit stores: what may be proposed for them, and what each verb writes."""
