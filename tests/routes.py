"""Every named address of the product, found in the URL resolver, so that a route added later is walked too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse


class Route(NamedTuple):
    """A named route: `parameters` are the names of what its path holds."""

    name: str
    parameters: tuple[str, ...]
    pattern: str


def routes() -> list[Route]:
    """Give every named route, in the resolver's order; one that has several paths stands once a path."""
    return list(_below(get_resolver(), "", ""))


def _below(resolver: URLResolver, namespace: str, prefix: str) -> Iterator[Route]:
    for entry in resolver.url_patterns:
        path = f"{prefix}{entry.pattern}"
        if isinstance(entry, URLResolver):
            yield from _below(entry, f"{namespace}{entry.namespace}:" if entry.namespace else namespace, path)
        elif isinstance(entry, URLPattern) and entry.name:
            parameters = re.findall(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>", path)
            yield Route(f"{namespace}{entry.name}", tuple(first or second for first, second in parameters), path)


def addresses(values: Mapping[str, Callable[[str], object]]) -> Iterator[tuple[Route, str]]:
    """Give each named route with an address, its parameters filled from `values`: parameter -> what it is for a route of this name.

    KeyError names a parameter that `values` does not know: a new route has to say there what its parameters mean.
    """
    for route in routes():
        try:
            arguments = {name: values[name](route.name) for name in route.parameters}
        except KeyError as missing:
            raise KeyError(f"tests/scenes.py must say what {missing} is in the route {route.name} ({route.pattern})") from None
        try:
            yield route, reverse(route.name, kwargs=arguments)
        except NoReverseMatch as error:
            raise AssertionError(f"no address for {route.name} with {arguments}") from error
