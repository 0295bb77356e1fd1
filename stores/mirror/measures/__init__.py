"""How each kind of store is measured: its facts, its conditions, its verdict."""
