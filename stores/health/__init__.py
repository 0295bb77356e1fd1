"""Facts of a store to conditions and a verdict, one module a kind; pure: no Django, no disk, no clock."""
