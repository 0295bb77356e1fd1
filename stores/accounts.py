"""Who may see and do what: roles, visible stores, personal tokens (rulings 20 and 22)."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias

from django.contrib.auth.models import AnonymousUser, Group
from django.db import IntegrityError, transaction
from django.db.models import BigAutoField, Exists, OuterRef, Q, QuerySet
from django.db.models.signals import pre_delete
from django.dispatch import receiver
from django.utils import timezone

from stores import audit, prepared
from stores.errors import BadRequest, Conflict, NotAllowed, NotFound
from stores.models import ApiToken, Store, User

Visitor: TypeAlias = User | AnonymousUser
Role = Literal["viewer", "reviewer", "operator"]
ROLES: tuple[Role, ...] = ("viewer", "reviewer", "operator")
"""Groups made by migration 0002. Everybody with a role sees, a reviewer decides, an operator manages stores."""

TOKEN_MARK = "mui_"  # noqa: S105  how a leaked token is recognised
LONGEST_TOKEN_DAYS = 366
LONGEST_REVIEW_DAYS = 30
"""A token that decides is short-lived (ruling 12)."""
LAST_USE_EVERY = timedelta(minutes=5)
"""The last use of a token is written at most this often: reading writes nothing else (ruling 8)."""


def visible_stores(user: Visitor) -> QuerySet[Store]:
    """Give the stores that `user` may see; every selector starts here. No query of its own.

    A superuser sees all. An account with a role sees the stores that are limited to no group, and those limited to one of its
    groups. Nobody else sees any.
    """
    if not isinstance(user, User) or not user.is_active:
        return Store.objects.none()
    if user.is_superuser:
        return Store.objects.all()
    return Store.objects.filter(pk__in=prepared.column(_keys_seen_by, user, BigAutoField()))


def _keys_seen_by(user: User, _now: datetime) -> QuerySet[Any]:
    limits = Store.groups.through.objects.filter(store=OuterRef("pk"))
    own = Exists(limits.filter(group__in=_memberships(user).values("group")))
    return Store.objects.filter(~Exists(limits) | own, holds_a_role(user)).order_by().values("pk")


def holds_a_role(user: User) -> Exists:
    """Give the condition, for any query, that `user` has one of the roles."""
    return Exists(_memberships(user).filter(group__name__in=ROLES))


def _memberships(user: User) -> QuerySet[Any]:
    return User.groups.through.objects.filter(user=user.pk)


def who_sees(store: Store) -> QuerySet[User]:
    """Give the active accounts that may see a store, by name. No query of its own."""
    limits = Store.groups.through.objects.filter(store=store)
    held = User.groups.through.objects.filter(user=OuterRef("pk"))
    fitting = ~Exists(limits) | Exists(held.filter(group__in=limits.values("group")))
    of_role = User.objects.filter(fitting, Exists(held.filter(group__name__in=ROLES)))
    return User.objects.filter(Q(is_superuser=True) | Q(pk__in=of_role.values("pk")), is_active=True).order_by("username")


def stores_open_to_all() -> QuerySet[Store]:
    """Give the stores that no group limits."""
    return Store.objects.filter(~Exists(Store.groups.through.objects.filter(store=OuterRef("pk"))))


def roles(user: Visitor) -> frozenset[Role]:
    """Give the roles of `user`, all of them for a superuser; one query for anybody else who is active."""
    if not isinstance(user, User) or not user.is_active:
        return frozenset()
    if user.is_superuser:
        return frozenset(ROLES)
    held = set(user.groups.filter(name__in=ROLES).values_list("name", flat=True))
    return frozenset(role for role in ROLES if role in held)


def is_reviewer(user: Visitor) -> bool:
    """Tell whether `user` may decide, and see what is masked."""
    return "reviewer" in roles(user)


def is_operator(user: Visitor) -> bool:
    """Tell whether `user` may add, change and remove stores."""
    return "operator" in roles(user)


def require_reviewer(user: Visitor) -> User:
    """Give the account back if it may review; NotAllowed if not."""
    return _require(user, "reviewer")


def require_operator(user: Visitor) -> User:
    """Give the account back if it may manage stores; NotAllowed if not."""
    return _require(user, "operator")


def _require(user: Visitor, role: Role) -> User:
    if isinstance(user, User) and role in roles(user):
        return user
    raise NotAllowed(f"This needs the role {role}. Someone who administers accounts can give it to you.")


@receiver(pre_delete, sender=Group)
def keep_groups_in_use(instance: Group, **_: object) -> None:
    """Refuse the deletion of a role, and of a group that limits stores: they would be open to everybody."""
    if instance.name in ROLES:
        raise Conflict(f"{instance.name} is a role of memoryui and stays. Take the accounts out of it instead.")
    limited = instance.stores.count()
    if limited:
        raise Conflict(
            f"{limited} stores are limited to the group {instance.name}. Change their groups on the settings page of each, then delete it."
        )


def make_token(owner: User, label: str, scope: str, days: int, *, through: audit.Through = "page") -> tuple[ApiToken, str]:
    """Make a personal token and give it with its text, which is kept nowhere: only the sha256 of its secret part is.

    BadRequest for an empty label, an unknown scope or days outside 1 to LONGEST_TOKEN_DAYS, for the scope `review` to
    LONGEST_REVIEW_DAYS; NotAllowed for that scope without the role.
    """
    label = label.strip()
    if not 0 < len(label) <= 80:
        raise BadRequest("Give the token a label of 1 to 80 characters, so that you know it again.")
    if scope not in dict(ApiToken.SCOPES):
        raise BadRequest(f"The scope of a token is one of {', '.join(dict(ApiToken.SCOPES))}.")
    longest = LONGEST_REVIEW_DAYS if scope == "review" else LONGEST_TOKEN_DAYS
    if not 1 <= days <= longest:
        raise BadRequest(f"A token of the scope {scope} is valid for 1 to {longest} days.")
    if scope == "review":
        require_reviewer(owner)
    secret = secrets.token_urlsafe(32)
    with transaction.atomic():
        token = _with_new_prefix(
            ApiToken(owner=owner, label=label, scope=scope, digest=_digest(secret), expires_at=timezone.now() + timedelta(days=days))
        )
        detail = {"scope": scope, "expires": token.expires_at.isoformat(timespec="seconds")}
        audit.record("token_made", actor=owner, object_label=str(token), through=through, detail=detail)
    return token, f"{token.prefix}_{secret}"


def _with_new_prefix(token: ApiToken) -> ApiToken:
    for _ in range(5):
        token.prefix = TOKEN_MARK + secrets.token_hex(4)
        try:
            with transaction.atomic():
                token.save(force_insert=True)
        except IntegrityError:
            continue
        return token
    raise RuntimeError("Five random prefixes in a row were taken: the source of randomness is broken.")


def revoke_token(owner: User, token_id: int, *, through: audit.Through = "page") -> ApiToken:
    """End a token of `owner` now; NotFound if it is none of theirs. A second time changes nothing."""
    with transaction.atomic():
        token = ApiToken.objects.filter(owner=owner, pk=token_id).first()
        if token is None:
            raise NotFound("You have no such token.")
        now = timezone.now()
        if ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=now):
            token.revoked_at = now
            audit.record("token_revoked", actor=owner, object_label=str(token), through=through)
    return token


def token_owner(text: str) -> tuple[User, ApiToken] | None:
    """Give the account and the token of a token's text; None if it is unknown, ended, or its owner may not sign in. One query.

    The use is noted at most every five minutes, in one further statement.
    """
    prefix, _, secret = text.removeprefix(TOKEN_MARK).partition("_")
    if not text.startswith(TOKEN_MARK) or not prefix.isascii() or not secret or len(text) > 200:
        return None
    token = ApiToken.objects.select_related("owner").filter(prefix=TOKEN_MARK + prefix).first()
    if token is None or not hmac.compare_digest(token.digest, _digest(secret)):
        return None
    now = timezone.now()
    if token.revoked_at is not None or token.expires_at <= now or not token.owner.is_active:
        return None
    if token.last_used_at is None or now - token.last_used_at >= LAST_USE_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token.owner, token


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
