"""One view for a page and for the parts of it that htmx asks for."""

from __future__ import annotations

from django.http import HttpRequest


def page_or_fragment(request: HttpRequest, template: str, *names: str) -> str:
    """Give the template's part that the request asks for, if it is one of `names`; else the template, which is the page.

    The part's name is the id of the element that htmx swaps. A history restore gets the page.
    """
    headers = request.headers
    asked = headers.get("HX-Target", "") if headers.get("HX-Request") == "true" else ""
    return f"{template}#{asked}" if asked in names and headers.get("HX-History-Restore-Request") != "true" else template
