"""What every route of the API shares: who asks, how errors look, how lists are cut into pages."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Generic, TypeVar

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from ninja import Field, NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.security import HttpBearer, SessionAuth
from pydantic import AfterValidator

from stores import accounts
from stores.errors import BadRequest, MemoryUIError, NotAllowed
from stores.formats import storable
from stores.models import ApiToken, User
from stores.views import problems

CAP = 10_000
"""Rows are counted up to here, and paged up to here (ruling 42)."""
PER_PAGE = (25, 50, 100, 250)

StorableText = Annotated[str, AfterValidator(storable.text)]
"""Text of a query that both engines can be asked about (ruling 45)."""
Row = TypeVar("Row", bound=Model)
Item = TypeVar("Item")


class Token(HttpBearer):
    """`Authorization: Bearer mui_…`: a personal token, made on the account page."""

    openapi_bearerFormat = "personal token"

    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        """Give the token's owner, as whom the request goes on."""
        found = accounts.token_owner(token)
        if found is None:
            return None
        request.user, request.api_token = found  # type: ignore[attr-defined]  # read by token_of
        return found[0]


class Session(SessionAuth):
    """The session of a signed-in person, so that the documentation page can try routes out; what changes anything needs its CSRF token."""

    def _get_key(self, request: HttpRequest) -> str | None:
        """Look for a CSRF token only where somebody is signed in: a stranger is told to bring a personal token."""
        return super()._get_key(request) if request.user.is_authenticated else None

    def authenticate(self, request: HttpRequest, key: str | None) -> User | None:
        """Give who is signed in."""
        return request.user if isinstance(request.user, User) and request.user.is_active else None


def asker(request: HttpRequest) -> User:
    """Give the account that asks; NotAllowed if it has no role."""
    if not isinstance(request.user, User) or not accounts.roles(request.user):
        raise NotAllowed("This account has no role yet, so it may see no store.")
    return request.user


def token_of(request: HttpRequest) -> ApiToken | None:
    """Give the token by which somebody asks; None for a session."""
    token = getattr(request, "api_token", None)
    return token if isinstance(token, ApiToken) else None


def asker_with(request: HttpRequest, scope: str) -> User:
    """Give the account that asks to change something; NotAllowed if it has no role, or its token another scope."""
    user, token = asker(request), token_of(request)
    if token is not None and token.scope != scope:
        raise NotAllowed(f"This needs a token of the scope {scope}; yours has the scope {token.scope}.")
    return user


class Page(Schema, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    count: int = Field(description=f"Rows that match, counted up to {CAP:,}.")
    capped: bool = Field(description="There are more than `count`.")
    page: int
    per_page: int


def page_of(found: QuerySet[Row], page: int, per_page: int, shape: Callable[[list[Row]], list[Any]]) -> dict[str, Any]:
    """Cut one page out of ordered rows: two queries, neither of which counts or skips more than CAP rows."""
    if per_page not in PER_PAGE:
        raise BadRequest(f"per_page is one of {', '.join(map(str, PER_PAGE))}.")
    if page < 1 or page * per_page > CAP:
        raise BadRequest(f"page goes from 1 to {CAP // per_page}. Narrow the filter to see the rest.")
    count = found.order_by()[: CAP + 1].count()
    rows = list(found[(page - 1) * per_page : page * per_page])
    return {"items": shape(rows), "count": min(count, CAP), "capped": count > CAP, "page": page, "per_page": per_page}


def make_api() -> NinjaAPI:
    """Make the API without its routes."""
    api = NinjaAPI(
        title="memoryui",
        version="1",
        description=(
            "What memoryui knows of stores of agent memory, and its review queue. Every route gives only what the account of the token may see."
        ),
        urls_namespace="api",
        auth=[Token(), Session(csrf=True)],
        docs_decorator=_for_account,
    )
    _answer_errors_as_problems(api)
    return api


def _answer_errors_as_problems(api: NinjaAPI) -> None:
    @api.exception_handler(MemoryUIError)
    def typed(request: HttpRequest, error: MemoryUIError) -> HttpResponse:
        return problems.as_json(problems.from_error(error))

    @api.exception_handler(Http404)
    def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
        return problems.as_json(problems.NOT_FOUND)

    @api.exception_handler(PermissionDenied)
    def forbidden(request: HttpRequest, error: PermissionDenied) -> HttpResponse:
        return problems.as_json(problems.FORBIDDEN)

    @api.exception_handler(AuthenticationError)
    def unknown(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
        response = problems.as_json(NO_TOKEN)
        response["WWW-Authenticate"] = 'Bearer realm="memoryui"'
        return response

    @api.exception_handler(ValidationError)
    def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
        places = "; ".join(f"{'.'.join(str(part) for part in one['loc'][1:])}: {one['msg']}" for one in error.errors)
        return problems.as_json(problems.BAD_REQUEST._replace(status=422, happened=f"Parameters that cannot be read: {places}.", to_do=""))

    @api.exception_handler(HttpError)
    def other(request: HttpRequest, error: HttpError) -> HttpResponse:
        return problems.as_json(problems.BAD_REQUEST._replace(status=error.status_code, happened=str(error), to_do=""))


NO_TOKEN = problems.Problem(
    401,
    "Who is asking is not known",
    "The request carries no session, and no personal token that is known and still valid.",
    to_do="Make a token on the account page and send it as Authorization: Bearer mui_…",
)


def _for_account(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Open the documentation to a session or a token."""

    @login_not_required
    @require_safe
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated and Token()(request) is None:
            return problems.as_json(NO_TOKEN)
        return view(request, *args, **kwargs)

    return guarded
