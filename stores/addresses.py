"""Addresses of lists that are narrowed to what a record says; none holds a secret."""

from __future__ import annotations

from django.urls import reverse
from django.utils.http import urlencode

from stores.formats.secrets import find_secrets


def list_url(name: str, /, **filters: str) -> str:
    """Give a list that is narrowed to some values; "" where one of them is empty or may not stand in an address."""
    if any(not value or find_secrets(value) for value in filters.values()):
        return ""
    return f"{reverse(name)}?{urlencode(filters)}"


def search_url(text: str) -> str:
    """Give the search for these words as a phrase; "" where nothing may stand in an address."""
    quoted = text.replace('"', " ").strip()
    return f"{reverse('search')}?{urlencode({'q': chr(34) + quoted + chr(34)})}" if quoted and not find_secrets(quoted) else ""
