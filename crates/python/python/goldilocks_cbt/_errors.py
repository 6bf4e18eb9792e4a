"""Exceptions, by kind. Each is also the exception of Python's own that callers expect."""

from __future__ import annotations


class Error(Exception):
    """What goldilocks fails with; `message` says what is wrong and where, `hint` what to do about it, if known."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class InputError(Error, ValueError):
    """Input that is malformed, or does not fit together; a name that does not exist."""


class NotFoundError(Error, FileNotFoundError):
    """A file or folder that does not exist."""


class ExistsError(Error, FileExistsError):
    """An output that would be overwritten."""


class IoError(Error, OSError):
    """The file system refused."""


class DeviceError(Error, RuntimeError):
    """A GPU is missing or failed."""


_KINDS: dict[str, type[Error]] = {
    "not_found": NotFoundError,
    "unknown_name": InputError,
    "invalid_input": InputError,
    "exists": ExistsError,
    "io": IoError,
    "device": DeviceError,
    "interrupted": Error,
}


def of_kind(kind: str, message: str, hint: str | None) -> Error:
    """The exception for an error of the library."""
    return _KINDS[kind](message, hint)
