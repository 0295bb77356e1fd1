"""Applies what may be applied, and says of every other open action why not."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from django.core.management.base import CommandParser
from django.utils import timezone

from stores.apply.applying import Result, apply_action
from stores.apply.given_markers import read_given, store_given
from stores.errors import BadRequest
from stores.formats.canonical import digest
from stores.formats.secrets import mask
from stores.formats.visible import one_line
from stores.lifecycle.gate import Status, Verdict
from stores.lifecycle.states import OPEN
from stores.management.applying import actor, bring_up_to_date
from stores.management.base import DONE, FAILED, StoreCommand, columns, store_named
from stores.management.progress import spinner
from stores.models import LifecycleAction, Review, Store
from stores.review import keys
from stores.review.moving import MovedMeanwhile
from stores.review.planning import ENVELOPE
from stores.selectors.wording import counted
from stores.worker.identity import require_ours, this_worker

OPERATION: Final = "lifecycle.apply"


class Command(StoreCommand):
    """Apply the queue of one store."""

    help = (
        "Judge every open action of a store as its files are at this moment, and apply what may be applied: what people approved, and\n"
        "what needs no review. Each action is applied whole or not at all; what is not applied says why. Nothing is written while the\n"
        "switch is off (set_applying) or with --dry-run.\n\n"
        "The exit code is 1 if an action that was named with --action was not applied, or if writing failed; an action that waits for\n"
        "its review is no failure. --approval-marker takes the signed marker of an approval and nothing else."
    )
    examples = ("apply_actions atlas --dry-run", "apply_actions atlas", "apply_actions atlas --action 41 --approval-marker eyJhbGciOi…")

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Which store, which actions, by which approvals."""
        parser.add_argument("slug", metavar="SLUG", help="the store")
        parser.add_argument(
            "--action", action="append", default=[], metavar="ID", help="only this one: our number or its action_id; may be repeated"
        )
        parser.add_argument(
            "--approval-marker",
            action="append",
            default=[],
            metavar="M",
            help="an approval, as compact JWS; it names its action; may be repeated",
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would become of each, and write nothing")

    def run(self, **options: Any) -> int:
        """Judge and apply."""
        store, dry_run = store_named(options["slug"]), options["dry_run"]
        require_ours(store, this_worker())
        rows = _rows(store, options["action"])
        given = read_given(store, options["approval_marker"], keys.trusted_keys())
        if not dry_run:
            store_given(store, given, actor(), timezone.now())
        with spinner(self.verbosity if not self.as_json else 0, f"applying {counted(len(rows), 'action')} of {store.slug}"):
            results = [_applied(store, row, given if dry_run else [], dry_run=dry_run) for row in rows]
        if not dry_run and any(one.change for one in results):
            bring_up_to_date(store, self.say)
        self._print(store, results, dry_run=dry_run)
        failed = any(one.verdict.status is Status.FAILED for one in results)
        missed = bool(options["action"]) and any(not _is_applied(one, dry_run) for one in results)
        return FAILED if failed or missed else DONE

    def _print(self, store: Store, results: list[Result], *, dry_run: bool) -> None:
        documents = [_document(one) for one in results]
        counts = Counter(str(one.verdict.status) for one in results)
        if self.as_json:
            self.print_json(_envelope(store, documents, {str(status): counts[str(status)] for status in Status}, dry_run=dry_run))
            return
        self.print_lines(columns([_row(one) for one in results]))
        said = ", ".join(f"{counts[str(status)]:,} {status}" for status in Status)
        self.say(f"{counted(len(results), 'open action')} of {store.slug}: {said}.{' Nothing was written.' if dry_run else ''}")


def _rows(store: Store, named: list[str]) -> list[LifecycleAction]:
    """Give the open actions, or those that were named; raises BadRequest for a name that is none."""
    mine = LifecycleAction.objects.filter(store=store).order_by("pk")
    if not named:
        return list(mine.filter(state__in=sorted(OPEN)))
    found = []
    for name in dict.fromkeys(named):
        by_number = mine.filter(pk=int(name)) if name.isdecimal() and len(name) < 19 else mine.filter(action_id=name)
        row = by_number.filter(state__in=sorted(OPEN)).last() or by_number.last()
        if row is None:
            raise BadRequest(f"Store {store.slug} has no action {one_line(name)}.")
        if not row.is_open:
            raise BadRequest(f"Action #{row.pk} is {row.state}: there is nothing to apply.")
        found.append(row)
    return found


def _applied(store: Store, row: LifecycleAction, given: list[Review], *, dry_run: bool) -> Result:
    extra = [one for one in given if one.action_id == row.pk]
    try:
        return apply_action(store, row.pk, actor(), timezone.now(), dry_run=dry_run, extra=extra)
    except MovedMeanwhile as err:
        return Result(row, Verdict(Status.SKIPPED, "moved", str(err), row.requires_review))


def _is_applied(one: Result, dry_run: bool) -> bool:
    done = one.verdict.status is Status.APPLIED or one.verdict.reason_code == "already_applied"
    return done or (dry_run and one.verdict.would_status is Status.APPLIED)


def _row(one: Result) -> tuple[str, ...]:
    verdict, row = one.verdict, one.action
    would = f"would be {verdict.would_status}" if verdict.would_status else ""
    return (f"#{row.pk}", row.verb, str(verdict.status), would or verdict.reason_code or "", mask(row.first_target), mask(verdict.message))


def _document(one: Result) -> dict[str, Any]:
    verdict, row = one.verdict, one.action
    said: dict[str, Any] = {
        "action_id": row.action_id,
        "action": row.verb,
        "status": str(verdict.status),
        "reason_code": verdict.reason_code,
        "message": mask(verdict.message),
        "requires_review": verdict.requires_review,
        "targets": [
            {
                "record_type": target.record_type,
                "id": mask(target.id),
                "before_digest": target.before_digest,
                "after_digest": target.after_digest,
            }
            for target in one.targets
        ],
        "event_ids": list(one.event_ids),
        "audit_id": one.audit_id or None,
        "id": row.pk,
        "state": row.state,
        "change": one.change or None,
    }
    if verdict.would_status is not None:
        said["would_status"] = str(verdict.would_status)
    if one.marker:
        said |= {"approval_marker": one.marker, "review_id": one.review_id}
    return said


def _envelope(store: Store, results: list[dict[str, Any]], counts: dict[str, int], *, dry_run: bool) -> dict[str, Any]:
    now = timezone.now()
    allowed = not counts[str(Status.DENIED)]
    return {
        "schema_version": ENVELOPE,
        "operation_id": f"op:{digest([store.slug, now.isoformat(), [one['action_id'] for one in results]])[7:23]}",
        "operation": OPERATION,
        "dry_run": dry_run,
        "valid": not counts[str(Status.FAILED)],
        "subject": store.slug,
        "source": "store",
        "policy_decision": {"allowed": allowed, "reason": "local policy" if allowed else "some actions are denied", "obligations": []},
        "audit_receipt": None,
        "diagnostics": [],
        "data": {"results": results, "counts": counts},
    }
