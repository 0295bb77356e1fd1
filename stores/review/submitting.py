"""Takes proposed actions into the queue: intake, effect, tier, digest, once and for all (rulings 2, 7 and 26)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final

from django.db import transaction

from stores import audit
from stores.errors import BadRequest, NotFound
from stores.formats import storable
from stores.formats.canonical import canonical
from stores.formats.phase_memory.reading import read_record
from stores.lifecycle import gate, intake
from stores.lifecycle.actions import Action
from stores.lifecycle.approvals import Approvals
from stores.lifecycle.changes import Create, EditLog, Replace
from stores.lifecycle.differences import adds_secret
from stores.lifecycle.digests import approval_digest
from stores.lifecycle.effect_of import effect_of
from stores.lifecycle.effects import Effect, EffectRefused
from stores.lifecycle.phase_memory.taking_in import brings_durable
from stores.lifecycle.states import OPEN, REJECTED_DAYS, State
from stores.lifecycle.targets import TargetNow, plain
from stores.lifecycle.vocabulary import Tier
from stores.models import ActionTarget, ApiToken, LifecycleAction, ReviewPolicy, Store, User
from stores.models.reviews import TIER_RANKS
from stores.review import keeping, moving, policies
from stores.review.mirror_source import MirrorSource

QUEUED: Final = "queued"
KNOWN: Final = "already_queued"
REJECTED: Final = "rejected_recently"
PLANNER: Final = "planner"
_GIST: Final = 200
_NAMED_IN_AUDIT: Final = 50
_BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class Proposer:
    """Who proposes, and by which way; the planner is nobody's (ruling 15)."""

    label: str
    origin: str
    through: audit.Through
    account: User | None = None
    token: ApiToken | None = None
    asked_by: User | None = None
    """Who had the planner plan: named in the audit, and no proposer, as the plan says nothing that they chose."""

    @property
    def barred(self) -> list[int]:
        """Ids of the accounts that cannot approve what it proposes."""
        return [self.account.pk] if self.account is not None else []


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of one proposal, or of one of the actions that it stands for."""

    position: int
    """Of the proposal among those that were handed in, from 0."""
    code: str
    """queued, already_queued, rejected_recently, or why it was refused."""
    message: str = ""
    action: LifecycleAction | None = None
    """The row in the queue, also of one that was there already or was rejected."""

    @property
    def is_refused(self) -> bool:
        """Whether nothing of it is in the queue."""
        return self.code not in (QUEUED, KNOWN)


@dataclass(frozen=True, slots=True)
class _Wanted:
    position: int
    action: Action
    taken: intake.Taken


@dataclass(frozen=True, slots=True)
class Beside:
    """What else is known of actions when they are handed in."""

    renewed_from: LifecycleAction | None = None
    undo_of: LifecycleAction | None = None
    effect: Effect | None = None
    """Of an undo: computed from what was replaced, not from the verb."""
    barred: tuple[int, ...] = ()


def submit(
    store: Store, proposals: Sequence[object], proposer: Proposer, now: datetime, *, beside: Beside | None = None
) -> list[Submitted]:
    """Queue proposals, each by itself; what is refused is told with its code. Raises BadRequest for a store that was never imported."""
    if store.imported_at is None:
        raise BadRequest(f"Store {store.slug} has not been imported yet: its worker has to look at it first.")
    beside = beside or Beside()
    source = MirrorSource(store)
    source.preload(_ids_in(proposals))
    source.preload(_ids_in(one for one in proposals if isinstance(one, Mapping) and one.get("target_type") == "event"), ("event",))
    policy = policies.policy_for(store)
    results: list[Submitted] = []
    wanted: list[_Wanted] = []
    for position, given in enumerate(proposals):
        taken = intake.take(store.kind, given, source.target)
        if taken.refused is not None:
            results.append(Submitted(position, taken.refused.code, str(taken.refused)))
        wanted += (_Wanted(position, action, taken) for action in taken.actions)
    prepared: list[tuple[_Wanted, Effect, LifecycleAction]] = []
    for one in wanted:
        made = _prepare(store, one, proposer, source, policy, now, beside)
        if isinstance(made, Submitted):
            results.append(made)
        else:
            prepared.append((one, *made))
    results += _queue(store, prepared, proposer, now)
    _record(store, results, proposer)
    return sorted(results, key=lambda one: (one.position, one.action.pk if one.action else 0))


def _prepare(
    store: Store, one: _Wanted, proposer: Proposer, source: MirrorSource, policy: ReviewPolicy, now: datetime, beside: Beside
) -> Submitted | tuple[Effect, LifecycleAction]:
    action = one.action
    there = {name: source.target(action.target_type, name) for name in action.target_ids}
    targets = {name: target for name, target in there.items() if target is not None}
    planned_at = now.astimezone(UTC).replace(microsecond=0)
    try:
        effect = beside.effect or effect_of(action, source.file, f"{planned_at:%Y-%m-%dT%H:%M:%SZ}")
    except EffectRefused as refused:
        return _refused(store, one, targets, policy, now, refused)
    needed = gate.needs_review(action, targets, gate_policy := policies.gate_policy(policy))
    if action.verb.name in gate_policy.denied_verbs:
        return Submitted(one.position, "policy_denied", "The store's policy does not allow it.")
    tier = gate.tier_of(action, targets)
    durable = brings_durable(action) or any(target.durable for target in targets.values())
    row = LifecycleAction(
        store=store,
        store_uid=store.uid,
        store_slug=store.slug,
        kind=store.kind,
        action_id=action.id,
        verb=action.verb.name,
        tier=str(tier),
        rank=TIER_RANKS[tier],
        state=str(State.PENDING if needed else State.READY),
        record=canonical({**action.record, "action_id": action.id}).decode("utf-8"),
        digest=approval_digest({**action.record, "action_id": action.id}, str(store.uid), effect.changes),
        sentence=effect.sentence,
        undo_refused=effect.undo,
        requires_review=needed,
        durable=durable,
        destructive=action.verb.destructive or tier is Tier.HIGH or any(isinstance(change, EditLog) for change in effect.changes),
        adds_secret=any(map(adds_secret, effect.changes)),
        target_type=action.target_type,
        target_count=len(action.target_ids),
        first_target=storable.name(action.target_ids[0]),
        gist=_gist(action, targets.get(action.target_ids[0])),
        reason=storable.text(action.reason),
        alike=_alike(store, action, proposer),
        origin=proposer.origin,
        proposer=proposer.account,
        token=proposer.token,
        proposed_by=storable.name(proposer.label),
        also_proposed_by=one.taken.proposed_by,
        barred=sorted({*proposer.barred, *beside.barred}),
        batch_id=one.taken.batch_id[:40],
        foreign_action_id=one.taken.foreign_action_id,
        renewed_from=beside.renewed_from,
        undo_of=beside.undo_of,
        planned_at=planned_at,
        created_at=now,
        due_at=policies.due_at(policy, tier, now),
    )
    return effect, row


def _refused(
    store: Store, one: _Wanted, targets: Mapping[str, TargetNow], policy: ReviewPolicy, now: datetime, refused: EffectRefused
) -> Submitted:
    """Give the gate's word for what has no effect where it has one: a target may be already as it is wanted."""
    unreviewed = {**one.action.record, "action_id": one.action.id}
    verdict = gate.verdict(unreviewed, targets, Approvals(""), policies.gate_policy(policy), now, (), kind=store.kind, dry_run=True)
    done = gate.is_done(one.action, targets)
    code = "already_applied" if done else verdict.reason_code if verdict.reason_code in _OF_TARGETS else "invalid_action"
    return Submitted(one.position, code, str(refused))


_OF_TARGETS: Final = frozenset({"target_missing", "stale_source", "already_applied", "action_id_mismatch"})


def _queue(store: Store, prepared: Sequence[tuple[_Wanted, Effect, LifecycleAction]], proposer: Proposer, now: datetime) -> list[Submitted]:
    """Store what is new, in one transaction that holds the store's row: the same action is in the queue at most once."""
    if not prepared:
        return []
    results: list[Submitted] = []
    with transaction.atomic():
        if not Store.objects.select_for_update().filter(pk=store.pk).exists():
            raise NotFound(f"Store {store.slug} is not there any more.")
        known = _known(store, [row.action_id for _, _, row in prepared], now)
        new: list[tuple[_Wanted, Effect, LifecycleAction]] = []
        for one, effect, row in prepared:
            there = known.get(row.action_id)
            if there is None:
                known[row.action_id] = row
                new.append((one, effect, row))
            elif there.state == State.REJECTED and there.closed_at is not None:
                results.append(Submitted(one.position, REJECTED, f"It was rejected on {there.closed_at:%Y-%m-%d}.", there))
            else:
                results.append(Submitted(one.position, KNOWN, "It is in the queue already.", there))
        for (_, _, row), document in zip(new, keeping.keep(effect for _, effect, _ in new), strict=True):
            row.effect = document
        rows = LifecycleAction.objects.bulk_create([row for _, _, row in new], batch_size=_BATCH)
        targets = [target for (one, effect, _), row in zip(new, rows, strict=True) for target in _targets(one.action, effect, row)]
        ActionTarget.objects.bulk_create(targets, batch_size=_BATCH)
        if proposer.origin == PLANNER:
            _retire(store, rows, now)
    return results + [Submitted(one.position, QUEUED, "", row) for (one, _, _), row in zip(new, rows, strict=True)]


def _known(store: Store, ids: Sequence[str], now: datetime) -> dict[str, LifecycleAction]:
    """Give what there is of these actions: open ones, and those that a person rejected lately."""
    found: dict[str, LifecycleAction] = {}
    since = now - timedelta(days=REJECTED_DAYS)
    for start in range(0, len(ids), _BATCH):
        mine = LifecycleAction.objects.filter(store=store, action_id__in=ids[start : start + _BATCH])
        found |= {row.action_id: row for row in mine.filter(state=State.REJECTED, closed_at__gte=since)}
        found |= {row.action_id: row for row in mine.filter(state__in=sorted(OPEN))}
    return found


def _targets(action: Action, effect: Effect, row: LifecycleAction) -> Iterable[ActionTarget]:
    after = {one.id: one.after_digest for one in effect.targets}
    paths = _paths(action, effect)
    for position, name in enumerate(action.target_ids):
        before = action.source_digests.get(name)
        yield ActionTarget(
            action=row,
            position=position,
            record_type=action.target_type,
            target_id=storable.name(name),
            path=paths.get(name, ""),
            before_digest=before if isinstance(before, str) else "",
            after_digest=after.get(name) or "",
        )


def _paths(action: Action, effect: Effect) -> dict[str, str]:
    """Give the file of each target, where a target is about one."""
    if action.target_type == "file":
        return {name: name for name in action.target_ids}
    edited = [change.path for change in effect.changes if isinstance(change, EditLog)]
    if edited:
        return dict.fromkeys(action.target_ids, edited[0])
    return _record_paths(action, effect)


def _record_paths(action: Action, effect: Effect) -> dict[str, str]:
    """Pair targets with the record files that are replaced, by what their content says."""
    paths: dict[str, str] = {}
    for change in effect.changes:
        if isinstance(change, Replace | Create):
            read = read_record(action.target_type, change.after)
            if not read.refused and read.id in action.target_ids:
                paths.setdefault(read.id, change.path)
    return paths


def _retire(store: Store, rows: Sequence[LifecycleAction], now: datetime) -> None:
    """End older plans of the same verb about the same target: what they rest on has changed, or the plan would have the same id."""
    newer = {(row.verb, row.target_type, row.target_count, row.first_target): row for row in rows}
    mine = {row.pk for row in rows}
    waiting = LifecycleAction.objects.filter(
        store=store, state__in=(State.PENDING, State.READY), origin=PLANNER, verb__in={row.verb for row in rows}
    )
    listed = waiting.order_by("pk").values_list("pk", "verb", "target_type", "target_count", "first_target")
    older = {pk: newer[about] for pk, *about_ in listed if pk not in mine and (about := tuple(about_)) in newer}
    keys = list(older)
    for start in range(0, len(keys), _BATCH):
        for one in LifecycleAction.objects.filter(pk__in=keys[start : start + _BATCH]):
            row = older[one.pk]
            if one.digest != row.digest:
                moving.move(one, State.STALE, now, message=f"A newer plan takes its place: #{row.pk}.", reason_code="stale_source")


def _record(store: Store, results: Sequence[Submitted], proposer: Proposer) -> None:
    queued = [one.action.pk for one in results if one.code == QUEUED and one.action is not None]
    refused = [one for one in results if one.is_refused]
    entries: list[audit.Entry] = []
    if queued:
        detail: dict[str, Any] = {"actions": queued[:_NAMED_IN_AUDIT], "number": len(queued), "origin": proposer.origin}
        entries.append(audit.Entry("action_proposed", store.slug, store, detail))
    if refused:
        codes = sorted({one.code for one in refused})
        entries.append(audit.Entry("action_refused", store.slug, store, {"number": len(refused), "codes": codes}))
    label = proposer.label if proposer.account or not proposer.asked_by else ""
    audit.record_all(entries, actor=proposer.account or proposer.asked_by, actor_label=label, through=proposer.through)


def _alike(store: Store, action: Action, proposer: Proposer) -> str:
    moved = [str(action.record.get(name, "")) for name in ("from_phase", "to_phase", "from_state", "to_state")]
    said = [str(store.uid), action.verb.name, action.target_type, proposer.label, *moved, str(len(action.target_ids) > 1)]
    return sha256(canonical(said)).hexdigest()


def _gist(action: Action, target: TargetNow | None) -> str:
    """Give what the first target says, its first line; of a line of a log, where it stands."""
    if target is not None and target.line:
        return storable.text(f"{target.file} line {target.line}", _GIST)
    record = target.record if target is not None else plain(action.parameters.get("record"))
    for name in ("title", "text", "what", "content", "name", "summary"):
        given = record.get(name)
        if isinstance(given, Mapping):
            given = given.get("what") or given.get("text")
        if isinstance(given, str) and given.strip():
            return storable.text(given.strip().split("\n", 1)[0], _GIST)
    return ""


def _ids_in(proposals: Iterable[object]) -> Iterable[str]:
    for given in proposals:
        listed = given.get("target_ids") if isinstance(given, Mapping) else None
        if isinstance(listed, list):
            yield from (one for one in listed if isinstance(one, str))
