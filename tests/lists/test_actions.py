"""What an address asks of the review queue, read and written back."""

from __future__ import annotations

import pytest
from django.http import QueryDict

from stores.errors import BadRequest
from stores.lists.actions import ActionQuery, read_actions

ALIKE = "a1" * 32


@pytest.mark.parametrize(
    "address",
    [
        "",
        "tab=mine",
        "tab=overdue&q=cursor+pagination&verb=archive&verb=merge&tier=high&state=pending&store=atlas&kind=phase-memory&proposer=agent+7&assigned=me",
        f"older=3&snoozed=1&alike={ALIKE}",
        "batch=bulk%3A12&singly=1&sort=risk&page=3",
        "tab=decided&sort=oldest",
    ],
)
def test_an_address_comes_back_as_it_was(address: str) -> None:
    assert read_actions(QueryDict(address)).address().removeprefix("?") == address


def test_what_the_queue_does_not_know_is_passed_over() -> None:
    odd = "tab=everything&sort=price&page=-4&older=x&alike=zz&assigned=alice&verb=&colour=red"
    assert read_actions(QueryDict(odd)) == ActionQuery()


def test_the_order_of_a_tab_needs_no_word_in_the_address() -> None:
    assert read_actions(QueryDict("sort=due")).sort == ""
    assert read_actions(QueryDict("tab=decided&sort=newest")).sort == ""
    assert read_actions(QueryDict("tab=decided")).order == "newest"


def test_alike_actions_are_folded_unless_a_group_or_a_batch_is_looked_at() -> None:
    assert ActionQuery().folds
    assert not any(read_actions(QueryDict(one)).folds for one in (f"alike={ALIKE}", "batch=b", "singly=1", "tab=decided"))


def test_too_many_values_are_refused() -> None:
    with pytest.raises(BadRequest):
        read_actions(QueryDict("&".join(f"verb=v{number}" for number in range(51))))
