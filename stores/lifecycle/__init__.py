"""Lifecycle actions: what may be proposed, what needs a review, and which bytes an action writes. No Django, no disk, no clock."""
