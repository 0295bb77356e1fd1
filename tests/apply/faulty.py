"""A layer under `stores/files` in which system calls fail, or the process dies, at a chosen call (crash sweeps)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from django.db import connection

from stores.files import exchanging, logs, opened, own, root
from stores.models import AuditEvent

CHANGING = ("write", "fsync", "rename", "link", "unlink", "mkdir", "ftruncate", "fchmod")


OF_WRITES = ("torn", "short", "full")


class Killed(BaseException):
    """The process ends here: nothing that catches errors sees it."""


class FaultyOs:
    """The module `os`, in which the n-th call that changes a disk is the last one, or fails.

    `mode` is "kill", the name of an errno, or, for writes alone, "torn" (dies in the middle of one) or "short" (room
    for half of it) or "full" (and for nothing after it).
    """

    def __init__(self, mode: str, at: int, instead: Callable[[], None] | None = None) -> None:
        self.mode, self.at, self.instead = mode, at, instead
        self.calls = 0
        self.hit = self.dead = False

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if self.mode in OF_WRITES and name != "write":
            return real
        if name == "open":
            return lambda *args, **kwargs: self._call(real, args, kwargs) if args[1] & os.O_CREAT else real(*args, **kwargs)
        return (lambda *args, **kwargs: self._call(real, args, kwargs)) if name in CHANGING else real

    def rename_by(self, real: Callable[..., None], args: tuple[Any, ...]) -> None:
        """Rename with flags, which `os` does not know."""
        if self.mode in OF_WRITES and not self.dead:
            real(*args)
        else:
            self._call(real, args, {})

    def _call(self, real: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.dead:
            raise Killed
        self.calls += 1
        if self.calls < self.at or (self.calls > self.at and self.mode != "full"):
            return real(*args, **kwargs)
        if self.instead is not None:
            self.instead()
            return real(*args, **kwargs)
        self.hit = True
        if self.mode in OF_WRITES and self.calls == self.at and len(args[1]) > 1:
            written = real(args[0], args[1][: len(args[1]) // 2])
            if self.mode != "torn":
                return written
        if self.mode in ("short", "full"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.mode in ("kill", "torn"):
            self.dead = True
            raise Killed
        code = getattr(errno, self.mode)
        raise OSError(code, os.strerror(code))


@contextmanager
def faulty(monkeypatch: pytest.MonkeyPatch, mode: str, at: int, instead: Callable[[], None] | None = None) -> Iterator[FaultyOs]:
    """Let the n-th changing call of `stores/files` go wrong while the block runs; with `instead`, have that done before it."""
    layer = FaultyOs(mode, at, instead)
    real_rename = exchanging._rename

    def rename(*args: Any) -> None:
        layer.rename_by(real_rename, args)

    with monkeypatch.context() as patched:
        for module in (exchanging, logs, opened, own, root):
            patched.setattr(module, "os", layer)
        patched.setattr(exchanging, "_rename", rename)
        yield layer


@contextmanager
def no_audit(cause: BaseException) -> Iterator[None]:
    """Let every insertion into the audit end like this while the block runs."""

    def execute(run: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("INSERT") and f'"{AuditEvent._meta.db_table}"' in sql:
            raise cause
        return run(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield


def before_call(monkeypatch: pytest.MonkeyPatch, at: int, happens: Callable[[], None]) -> AbstractContextManager[FaultyOs]:
    """Let something happen just before the n-th changing call of `stores/files`."""
    return faulty(monkeypatch, "", at, happens)


def fault_points(monkeypatch: pytest.MonkeyPatch, mode: str, step: int = 1) -> Iterator[Callable[[], Any]]:
    """Give, for each call that can go wrong, what enters the layer for it; ends when a run was through before its call came."""
    at = 1
    while True:
        made: list[FaultyOs] = []

        @contextmanager
        def enter(at: int = at, made: list[FaultyOs] = made) -> Iterator[FaultyOs]:
            with faulty(monkeypatch, mode, at) as layer:
                made.append(layer)
                yield layer

        yield enter
        if made and not made[0].hit:
            return
        at += step
