"""Decides on one action of the review queue."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from stores.management.base import DONE, Refused, StoreCommand
from stores.management.deciding import action_named, lines_about
from stores.management.signing_in import add_sign_in_arguments, sign_in
from stores.models import LifecycleAction, User
from stores.review import deciding
from stores.review.approving import approve
from stores.review.deciding import Decided, Manner
from stores.review.installation import is_applying
from stores.selectors.action_documents import action_document, whole_document

DECISIONS = ("approve", "reject", "withdraw")


class Command(StoreCommand):
    """The review from a terminal, by the rules of the page."""

    help = (
        "Approve, reject or withdraw one action. The account proves itself with its password, or with a personal token of the scope\n"
        "review in MEMORYUI_TOKEN, which is not enough for what takes something away. What is approved is exactly what is printed\n"
        "before the question; --digest makes sure of it in a script. Who proposed an action cannot approve it here either."
    )
    examples = ("review_action 128 --approve --as ines", 'review_action 128 --reject --as ines --reason "still in use" --password-stdin')

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which action, which decision, and whose."""
        parser.add_argument("id", metavar="ID", help="number of the action in the queue, or its action_id")
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--approve", dest="decision", action="store_const", const="approve", help="let it be applied")
        which.add_argument("--reject", dest="decision", action="store_const", const="reject", help="refuse it; needs a reason")
        which.add_argument(
            "--withdraw", dest="decision", action="store_const", const="withdraw", help="take an approval or a proposal back"
        )
        add_sign_in_arguments(parser)
        parser.add_argument("--reason", default="", help="why; told to the proposer and kept in the audit")
        parser.add_argument("--digest", default="", metavar="DIGEST", help="decide only if the action still has this digest")
        parser.add_argument(
            "--break-glass", action="store_true", help="a superuser approves an own proposal, with a reason; it is listed for ever"
        )

    def run(self, **options: Any) -> int:
        """Tell, ask, decide."""
        decision = options["decision"]
        if options["break_glass"] and decision != "approve":
            raise Refused("--break-glass goes with --approve only.")
        person = sign_in(options)
        action = action_named(person.user, options["id"])
        if options["digest"] and options["digest"] != action.digest:
            raise Refused(f"Action #{action.pk} has another digest by now: {action.digest}. Look at it again.")
        self._tell(action)
        if person.is_asked and not self._says_so(decision):
            raise Refused("Nothing was decided.")
        manner = Manner(
            "terminal", timezone.now(), options["reason"], password_given=person.password_given, break_glass=options["break_glass"]
        )
        decided = _decide(decision, person.user, action, manner)
        action.refresh_from_db()
        if self.as_json:
            self.print_json({"decision": decided.code, "message": decided.message, "action": action_document(action)})
            return DONE
        self.print_lines([f"#{action.pk} is {decided.code}. {decided.message}".strip()])
        if action.state == "approved" and not is_applying():
            self.say("Nothing is applied at present: the switch is off (set_applying on).")
        return DONE

    def _tell(self, action: LifecycleAction) -> None:
        lines = lines_about(whole_document(action))
        if not self.as_json:
            self.print_lines(lines)
            return
        for line in lines:
            self.say(line)

    def _says_so(self, decision: str) -> bool:
        self.stderr.write(f"{decision.capitalize()} this? Type {decision}: ", lambda text: text, ending="")
        self.stderr.flush()
        return sys.stdin.readline().strip() == decision


def _decide(decision: str, user: User, action: LifecycleAction, manner: Manner) -> Decided:
    """Decide on the action as it was loaded and told: its digest, not the one that it has meanwhile."""
    if decision == "approve":
        return approve(user, action.pk, action.digest, manner)
    if decision == "reject":
        return deciding.reject(user, action.pk, action.digest, manner)
    return deciding.withdraw(user, action.pk, manner)
