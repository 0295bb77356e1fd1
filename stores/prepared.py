"""SQL that is made once: what every page asks takes longer to put into SQL than to answer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

from django.db import connection
from django.db.models import DateTimeField, Field, QuerySet
from django.db.models.expressions import RawSQL

from stores.models import User

Question = Callable[[User, datetime], QuerySet[Any]]
"""Gives one column for an account at a moment; of the account it may look at nothing but its key and whether it is a superuser."""

_SOMEBODY: Final = -(2**62)
"""Stands for the account's key, which is never negative."""
_SOME_TIME: Final = datetime(1, 2, 3, 4, 5, 6, 789012, tzinfo=UTC)


class _Made(NamedTuple):
    sql: str
    params: tuple[object, ...]


def column(question: Question, user: User, output_field: Field[Any, Any], now: datetime = _SOME_TIME) -> RawSQL:
    """Give the answer for an account as part of any query: what the queryset itself would give there. `now` where the question needs it."""
    made = _made(question, user.is_superuser, connection.vendor)
    given = {_SOMEBODY: user.pk, _adapted(_SOME_TIME): _adapted(now)}
    # Flags and words stand in the SQL for all accounts alike; only these two differ.
    params = [given.get(param, param) if isinstance(param, int | str | datetime) else param for param in made.params]
    return RawSQL(made.sql, params, output_field)  # noqa: S611  written by the queryset, with every value as a parameter


@lru_cache(maxsize=16)
def _made(question: Question, is_superuser: bool, vendor: str) -> _Made:
    asked = question(User(pk=_SOMEBODY, is_superuser=is_superuser), _SOME_TIME)
    sql, params = asked.query.sql_with_params()
    return _Made(sql, tuple(params))


def _adapted(moment: datetime) -> Any:
    return DateTimeField().get_db_prep_value(moment, connection)
