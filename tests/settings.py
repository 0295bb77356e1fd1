"""The product's settings on a data folder and a database of this run's own, which go with it."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_own_folder = Path(tempfile.mkdtemp(prefix="memoryui-tests-"))
atexit.register(shutil.rmtree, _own_folder, ignore_errors=True)

# What a developer or a deployment has set must not decide what the tests see; the engine is chosen on purpose.
for name in [name for name in os.environ if name.startswith("MEMORYUI_") and name not in {"MEMORYUI_DATABASE_URL", "MEMORYUI_SHARED"}]:
    del os.environ[name]
os.environ["MEMORYUI_DATA_DIR"] = str(_own_folder)
os.environ["MEMORYUI_STORE_ROOTS"] = tempfile.gettempdir()

from memoryui.settings import *  # noqa: E402, F403
from memoryui.settings import DATABASES  # noqa: E402

if DATABASES["default"]["ENGINE"] != "django.db.backends.postgresql":
    # A file, as in production: a database in memory has neither WAL nor the turnstile, and no second process sees it.
    DATABASES["default"]["TEST"] = {"NAME": str(_own_folder / "tests.sqlite3")}

STATIC_ROOT = _own_folder / "static"
STATIC_ROOT.mkdir()

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
"""Hundreds of tests sign in; the real hashes take a tenth of a second each, on purpose."""
