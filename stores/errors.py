"""Typed errors: each carries the HTTP status and the title with which pages, API and commands show it."""

from __future__ import annotations


class MemoryUIError(Exception):
    """Something that a person can mend; the message says what happened and what to do."""

    status = 500
    title = "This could not be done"


class BadRequest(MemoryUIError):
    """The request asks for something that cannot be."""

    status = 400
    title = "That request cannot be read"


class NotAllowed(MemoryUIError):
    """The account lacks the role."""

    status = 403
    title = "Your account may not do this"


class NotFound(MemoryUIError):
    """No such thing, or none that this account may see: the two are told alike."""

    status = 404
    title = "Nothing is here"


class Conflict(MemoryUIError):
    """The state moved between looking and acting."""

    status = 409
    title = "Changed while you were reading"


class NotAStore(MemoryUIError):
    """No kind of store is recognised in this folder."""

    status = 400
    title = "This is no store"


class OutsideRoots(MemoryUIError):
    """The folder lies outside MEMORYUI_STORE_ROOTS."""

    status = 400
    title = "Outside the allowed folders"


class AlreadyRegistered(MemoryUIError):
    """The folder or the slug is taken."""

    status = 409
    title = "Already registered"


class UnknownStore(NotFound):
    """No store has this slug."""


class OtherHost(MemoryUIError):
    """The store belongs to the worker of another host."""

    status = 409
    title = "Another host owns this store"


class StoreUnreadable(MemoryUIError):
    """The folder or a file of the store cannot be read."""

    status = 503
    title = "The store cannot be read"


class CannotWrite(MemoryUIError):
    """A file of the store cannot be written, or not as it must be."""

    status = 503
    title = "The store cannot be written"


class ChangedMeanwhile(Conflict):
    """Another writer changed a file between looking and writing; its version stands."""


class WorkerRunning(MemoryUIError):
    """A worker already serves this data folder."""

    status = 409
    title = "A worker is already running"
