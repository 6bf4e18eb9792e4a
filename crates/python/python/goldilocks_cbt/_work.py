"""Options that many functions share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Path: TypeAlias = str | os.PathLike[str]
Progress: TypeAlias = Callable[[int, int | None, str], object] | bool | None
Names: TypeAlias = str | Iterable[str] | None
Controls: TypeAlias = str | Iterable[str | tuple[str, int]] | None


class _Bar:
    """A bar of tqdm for each piece of work."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None
        self._stage = ""

    def __call__(self, done: int, total: int | None, what: str) -> None:
        stage = what.split(":")[0]
        if self._bar is None or stage != self._stage:
            self.close()
            self._bar, self._stage = self._tqdm(total=total, desc=stage), stage
        self._bar.total, self._bar.n = total, done
        self._bar.set_postfix_str(what[len(stage) + 2 :], refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def work(progress: Any = None, threads: int | None = None) -> dict[str, Any]:
    """How a piece of work is done; `progress=True` is tqdm's bar where tqdm is installed, and nothing elsewhere."""
    if threads is not None and threads < 1:
        raise ValueError(f"threads: expected 1 or more, found {threads}")
    if progress is True:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            progress = None
        else:
            progress = _Bar(tqdm)
    if progress is not None and progress is not False and not callable(progress):
        raise TypeError(f"progress: expected True or a function, found {type(progress).__name__}")
    return {"threads": threads, "progress": progress or None}


def names(value: Any, what: str) -> list[str]:
    """One name, several or none, as a list."""
    if value is None:
        return []
    found = [value] if isinstance(value, str) else list(value)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"{what}: expected a name or a list of names, found {type(name).__name__}")
    return found


def which(split: Any = None, word_class: Any = None) -> dict[str, list[str]]:
    """Which questions are meant."""
    classes = [name.upper() for name in names(word_class, "word_class")]
    return {"splits": names(split, "split"), "classes": classes}


def answering(
    split: Any, controls: Any, sample: int | None, seed: int, name: str, out: Any, overwrite: bool
) -> dict[str, Any]:
    """How questions are answered."""
    given = [controls] if isinstance(controls, str) else list(controls or [])
    return {
        "splits": names(split, "split"),
        "controls": [(control, None) if isinstance(control, str) else tuple(control) for control in given],
        "sample": sample,
        "seed": seed,
        "name": name,
        "out": out,
        "overwrite": overwrite,
    }


def settings_text(settings: dict[str, Any] | None) -> list[str]:
    """Settings as `KEY=VALUE`."""
    return [f"{key}={_value(value)}" for key, value in (settings or {}).items()]


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(part) for part in value) + "]"
    return str(value)


def thousands(number: int) -> str:
    """`8,064`."""
    return f"{number:,}"
