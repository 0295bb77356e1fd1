"""Every setting of memoryui, read from the environment (docs/configuration.md lists them)."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url
import django
from environs import Env, ValidationError, validate

from memoryui import email_url, secret_key

BASE_DIR = Path(__file__).resolve().parent.parent


def _no_wildcard(hosts: list[str]) -> None:
    """Refuse `*` among the host names: it would open the door to DNS rebinding (promises D5)."""
    if any("*" in host for host in hosts):
        raise ValidationError("MEMORYUI_ALLOWED_HOSTS names hosts exactly; `*` is refused.")


def _database(url: str) -> None:
    """Refuse what names neither a database of PostgreSQL nor a file of SQLite, without telling the password in it."""
    use = "use postgresql://user:password@host/name, or leave it unset for SQLite."
    scheme = urlsplit(url).scheme
    if not url:
        return
    if scheme == "sqlite":
        if not Path(str(dj_database_url.parse(url)["NAME"])).is_absolute():
            raise ValidationError("A file of SQLite is named with its whole path: sqlite:////srv/memoryui/memoryui.sqlite3.")
        return
    if scheme not in ("postgresql", "postgres", "pgsql"):
        raise ValidationError(f"No engine but PostgreSQL can be named: {use}")
    try:
        read = dj_database_url.parse(url)
    except (dj_database_url.ParseError, dj_database_url.UnknownSchemeError, ValueError):
        raise ValidationError(f"It cannot be read; special characters of a password are written as %XX: {use}") from None
    if not read.get("NAME") and "service" not in read.get("OPTIONS", {}):
        raise ValidationError(f"It names no database: {use}")


def _mail(url: str) -> None:
    """Refuse what says no way of sending mail, without telling the password in it."""
    try:
        email_url.read_email_url(url or "console://")
    except ValueError as err:
        raise ValidationError(f"MEMORYUI_EMAIL_URL cannot be used: {err}.") from None


def _web_address(url: str) -> None:
    """Refuse what is no address that something can be posted to."""
    if url and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
        raise ValidationError("MEMORYUI_WEBHOOK_URL begins with https:// or http:// and names a host.")


env = Env(eager=False)
with env.prefixed("MEMORYUI_"):
    _state_home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    DATA_DIR = Path(os.path.abspath(env.str("DATA_DIR", "") or f"{_state_home}/memoryui"))
    _database_url = env.str("DATABASE_URL", "", validate=[lambda url: _database(url)])
    _store_roots = env.str("STORE_ROOTS", "")
    _base_url = env.str("BASE_URL", "http://127.0.0.1:8000")
    _allowed_hosts: list[str] = env.list("ALLOWED_HOSTS", [], validate=[lambda hosts: _no_wildcard(hosts)])
    _secret_key = env.str("SECRET_KEY", "")
    TRUSTED_PROXY = env.bool("TRUSTED_PROXY", False)
    DEBUG = env.bool("DEBUG", False)
    SCRUB_HOURS = env.float("SCRUB_HOURS", 24.0, validate=[validate.Range(min=0.01)])
    SWEEP_SECONDS = env.float("SWEEP_SECONDS", 5.0, validate=[validate.Range(min=0.1)])
    QUEUE_LIMIT = env.int("QUEUE_LIMIT", 50, validate=[validate.Range(min=1)])
    QUEUE_OLDEST_HOURS = env.float("QUEUE_OLDEST_HOURS", 24.0, validate=[validate.Range(min=0.01)])
    UNDRAINED_DAYS = env.float("UNDRAINED_DAYS", 7.0, validate=[validate.Range(min=0.01)])
    EVENT_VERSIONS: list[str] = env.list("EVENT_VERSIONS", [])
    MEM0_KEY_PRESENT = env.bool("MEM0_KEY_PRESENT", False)
    SESSION_HOURS = env.float("SESSION_HOURS", 12.0, validate=[validate.Range(min=0.1)])
    WORKER_LABEL = env.str("WORKER_LABEL", "")
    NOTIFY_MAIL_HOUR = env.int("NOTIFY_MAIL_HOUR", -1, validate=[validate.Range(min=-1, max=23)])
    _email_url = env.str("EMAIL_URL", "", validate=[lambda url: _mail(url)])
    MAIL_FROM = env.str("MAIL_FROM", "")
    WEBHOOK_URL = env.str("WEBHOOK_URL", "", validate=[lambda url: _web_address(url)])
    WEBHOOK_SECRET = env.str("WEBHOOK_SECRET", "")

env.seal()

MAIL = email_url.read_email_url(_email_url) if _email_url else None
"""How mail is sent; None: none is."""

STORE_ROOTS = tuple(Path(os.path.realpath(root)) for root in (_store_roots or str(Path.home())).split(":") if root)
"""Folders below which stores may lie (ruling 34)."""

_base = urlsplit(_base_url)
BASE_URL = _base_url.rstrip("/")
HTTPS = _base.scheme == "https"
ALLOWED_HOSTS = sorted({_base.hostname or "127.0.0.1", *_allowed_hosts, *(["127.0.0.1", "localhost", "[::1]"] if not HTTPS else [])})
CSRF_TRUSTED_ORIGINS = [f"{_base.scheme}://{_base.netloc}"]

if _secret_key:
    SECRET_KEY, SECRET_KEY_IS_KEPT = _secret_key, True
else:
    SECRET_KEY, SECRET_KEY_IS_KEPT = secret_key.read_or_make(DATA_DIR, sys.argv)

BUILT_IN_CSP_AND_PARTIALS = django.VERSION >= (6, 0)

INSTALLED_APPS = [
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    *([] if BUILT_IN_CSP_AND_PARTIALS else ["csp", "template_partials"]),
    "django_htmx",
    "django_tables2",
    "axes",
    "ninja",
    "stores.apps.StoresConfig",
]

MIDDLEWARE = [
    "django.middleware.csp.ContentSecurityPolicyMiddleware" if BUILT_IN_CSP_AND_PARTIALS else "csp.middleware.CSPMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "stores.middleware.PrivateResponseMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "stores.middleware.SignInRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "stores.middleware.ProblemMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "memoryui.urls"
WSGI_APPLICATION = "memoryui.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "stores.context.page",
            ],
            "builtins": [
                "stores.templatetags.stores_tags",
                *([] if BUILT_IN_CSP_AND_PARTIALS else ["template_partials.templatetags.partials"]),
            ],
        },
    }
]

_is_sqlite = urlsplit(_database_url).scheme in ("", "sqlite")
if not _is_sqlite:
    DATABASES = {"default": dj_database_url.parse(_database_url, conn_max_age=None, conn_health_checks=True)}
else:
    DATABASES = {
        "default": {
            "ENGINE": "stores.sqlite",
            "NAME": str(dj_database_url.parse(_database_url)["NAME"] if _database_url else DATA_DIR / "memoryui.sqlite3"),
            "CONN_MAX_AGE": None,
            "OPTIONS": {
                "timeout": 30,
                "transaction_mode": "IMMEDIATE",
                # page_size only counts before the first table; WAL must come after it.
                "init_command": (
                    "PRAGMA page_size=8192; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
                    "PRAGMA cache_size=-65536; PRAGMA wal_autocheckpoint=4000; PRAGMA temp_store=MEMORY;"
                ),
            },
        }
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "stores.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
PASSWORD_HASHERS = [
    "memoryui.password_hashing.LeanArgon2",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "sign_in"

AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = 0.25
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "stores.views.accounts.locked_out"
AXES_ENABLE_ADMIN = False
AXES_USERNAME_CALLABLE = "stores.sign_ins.throttled_name"
AXES_CLIENT_IP_CALLABLE = "stores.sign_ins.client_address"
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False

SESSION_COOKIE_AGE = int(SESSION_HOURS * 3600)
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "stores.views.problems.csrf_failure"
SECURE_SSL_REDIRECT = False
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXY else None
USE_X_FORWARDED_HOST = False
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

CSP = {
    "default-src": ["'none'"],
    "script-src": ["'self'"],
    "style-src": ["'self'"],
    "img-src": ["'self'"],
    "font-src": ["'self'"],
    "connect-src": ["'self'"],
    "form-action": ["'self'"],
    "base-uri": ["'none'"],
    "frame-ancestors": ["'none'"],
    "object-src": ["'none'"],
}
SECURE_CSP = CSP
CONTENT_SECURITY_POLICY = {"DIRECTIVES": CSP}

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "memoryui.static_files.QuicklyCompressedFiles"},
}
# `serve` collects and compresses the files; no page depends on that having happened (ruling 78).
WHITENOISE_USE_FINDERS = DEBUG or not (STATIC_ROOT / "memoryui" / "app.css").is_file()
WHITENOISE_IMMUTABLE_FILE_TEST = r"\.[0-9a-f]{8}\.\w+$"
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_ALLOW_ALL_ORIGINS = False

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

DJANGO_TABLES2_TEMPLATE = "tables/table.html"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "memoryui.log_lines.OneLineFormatter", "format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    # Whoever scans the network asks for wrong hosts all day: each is answered with 400, and none is worth a traceback.
    "loggers": {"stores": {"level": "INFO"}, "axes": {"level": "ERROR"}, "django.security.DisallowedHost": {"level": "CRITICAL"}},
}

SILENCED_SYSTEM_CHECKS = ["security.W002", "security.W004", "security.W005", "security.W008", "security.W021"]
"""X-Frame-Options is set by stores.middleware. TLS ends at the proxy, where one stands; HSTS follows MEMORYUI_BASE_URL, for that
host alone: what holds for a whole domain is not ours to say."""
