"""Every list of records by the word of its address, and every list of which views can be kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from django.http import QueryDict

from stores.lists.actions import SECTION, ActionQuery, read_actions
from stores.lists.phase_memory import PHASE_MEMORY
from stores.lists.queries import ListQuery, read
from stores.lists.specs import DECISIONS, FURTHER, PROBLEMS, QUEUE, ListSpec

SPECS: dict[str, ListSpec] = {spec.section: spec for spec in (DECISIONS, PROBLEMS, QUEUE, *FURTHER, *PHASE_MEMORY)}


class Section(NamedTuple):
    """A list of which views can be kept."""

    section: str
    """Word of its address and of its saved views."""
    name: str
    """First part of the name of its route: `<name>_list`."""
    title: str
    many: str
    read: Callable[[QueryDict], ListQuery | ActionQuery]


SECTIONS: dict[str, Section] = {
    **{name: Section(name, spec.name, spec.title, spec.many, partial(read, spec)) for name, spec in SPECS.items()},
    SECTION: Section(SECTION, "review", "Review", "actions", read_actions),
}
