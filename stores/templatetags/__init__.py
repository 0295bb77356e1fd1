"""Tags and filters that every template has (settings add them to the builtins)."""
