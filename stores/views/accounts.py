"""Signing in and out, the throttle's answer, and the page of one's own account."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from stores import accounts, audit, context, sessions
from stores.errors import NotAllowed
from stores.forms.accounts import NameForm, OwnPasswordForm, SignInForm, ThemeForm, TokenForm
from stores.models import ApiToken, User
from stores.selectors.saved_views import own_views
from stores.views import problems

THEME_LASTS_S = 365 * 86_400


@method_decorator(login_not_required, name="dispatch")
class SignInView(LoginView):
    """Name and password; 422 with one and the same sentence for whatever does not fit."""

    authentication_form = SignInForm
    template_name = "registration/sign_in.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add after how many hours the session ended, where one has."""
        ended = settings.SESSION_COOKIE_NAME in self.request.COOKIES and bool(self.get_redirect_url())
        return super().get_context_data(**kwargs, ended_hours=f"{settings.SESSION_HOURS:g}" if ended else "")

    def form_valid(self, form: Any) -> HttpResponse:
        """Sign in under a new session id, and go where the person wanted to go."""
        # Session, last sign-in, throttle and audit in one: each transaction of its own would queue behind a batch of an import.
        with transaction.atomic():
            response = super().form_valid(form)
        sessions.note_use(self.request)
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again; the password is not sent back."""
        response = super().form_invalid(form)
        response.status_code = 422
        return response


def locked_out(request: HttpRequest, response: object = None, credentials: object = None) -> HttpResponse:
    """Answer the throttle's 429, whether the account exists or not."""
    minutes = round(settings.AXES_COOLOFF_TIME * 60)
    return problems.answer(
        request,
        problems.Problem(
            429,
            "Too many failed sign-ins",
            f"Signing in with this name from your address is stopped for {minutes} minutes.",
            to_do="Wait, then try again. If the password is lost, whoever runs this memoryui can set a new one.",
            state="muted",
            links=(problems.Link("Back to the sign-in page", reverse("sign_in")),),
        ),
    )


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session."""
    logout(request)
    return redirect("sign_in")


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Keep the choice of light, dark or auto in a cookie, and go back."""
    form = ThemeForm(request.POST)
    if not form.is_valid():
        return problems.answer(request, problems.BAD_REQUEST)
    response = redirect(_own_address(form.cleaned_data["next"]) or reverse("overview"))
    response.set_cookie(
        context.THEME_COOKIE, form.cleaned_data["theme"], max_age=THEME_LASTS_S, secure=settings.HTTPS, httponly=True, samesite="Lax"
    )
    return response


def _own_address(given: str) -> str:
    """Give an address of ours as a form says it; "" for any other."""
    return given if given.startswith("/") and url_has_allowed_host_and_scheme(given, allowed_hosts=None) else ""


@require_POST
def set_keys(request: HttpRequest) -> HttpResponse:
    """Turn keys that act without Ctrl or Alt on or off for this browser, and go back (ruling 69)."""
    response = redirect(_own_address(request.POST.get("next", "")) or reverse("account"))
    context.keep_keys(request, response, off=request.POST.get("keys") == "off")
    return response


@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """Name, password, theme, personal tokens and saved views of who is signed in."""
    return _account_page(request)


@require_POST
def account_name(request: HttpRequest) -> HttpResponse:
    """Change the name that others see."""
    user = _user(request)
    before = user.label
    form = NameForm(request.POST, instance=user)
    if not form.is_valid():
        user.refresh_from_db()
        return _account_page(request, name_form=form)
    with transaction.atomic():
        form.save()
        if user.label != before:
            audit.record("name_changed", actor=user, object_label=f"{before} is now {user.label}", through="page")
    messages.success(request, "Name saved")
    return redirect("account")


@require_POST
def account_password(request: HttpRequest) -> HttpResponse:
    """Change the password; all other sessions of the account end."""
    user = _user(request)
    form = OwnPasswordForm(user, request.POST)
    if not form.is_valid():
        return _account_page(request, password_form=form)
    with transaction.atomic():
        form.save()
        audit.record("password_changed", actor=user, object_label=user.username, through="page")
    update_session_auth_hash(request, user)
    messages.success(request, "Password changed, other sessions ended")
    return redirect("account")


@require_POST
def token_make(request: HttpRequest) -> HttpResponse:
    """Make a personal token and show its text this once."""
    user = _user(request)
    form = TokenForm(request.POST, owner=user)
    if not form.is_valid():
        return _account_page(request, token_form=form)
    _, text = accounts.make_token(user, form.cleaned_data["label"], form.cleaned_data["scope"], form.cleaned_data["days"])
    return _account_page(request, token_text=text)


@require_POST
def token_revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """End a personal token."""
    token = accounts.revoke_token(_user(request), token_id)
    messages.success(request, f"Token {token.label} revoked")
    return redirect("account")


def _account_page(
    request: HttpRequest,
    *,
    name_form: NameForm | None = None,
    password_form: OwnPasswordForm | None = None,
    token_form: TokenForm | None = None,
    token_text: str = "",
) -> HttpResponse:
    user = _user(request)
    refused = any(form is not None for form in (name_form, password_form, token_form))
    shown = {
        "roles": sorted(accounts.roles(user)),
        "name_form": name_form or NameForm(instance=user),
        "password_form": password_form or OwnPasswordForm(user),
        "token_form": token_form or TokenForm(owner=user),
        "token_text": token_text,
        "tokens": ApiToken.objects.filter(owner=user),
        "saved_views": own_views(user),
        "themes": context.THEMES,
    }
    return render(request, "stores/account.html", shown, status=422 if refused else 200)


def _user(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise NotAllowed("Sign in first.")
    return request.user
