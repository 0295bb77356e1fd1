"""How passwords are hashed."""

from __future__ import annotations

from django.contrib.auth.hashers import Argon2PasswordHasher


class LeanArgon2(Argon2PasswordHasher):
    """Argon2id in the second of OWASP's recommended sizes: 19 MiB, two passes, one lane.

    Django's own size takes 100 MiB and eight lanes for each try: on a small server a handful of sign-ins at once would fill its memory,
    and one sign-in during an import would wait for all its processors. Hashes of another size are made anew when their owner signs in.
    """

    memory_cost = 19_456
    time_cost = 2
    parallelism = 1
