"""What models answered."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, overload

from goldilocks_cbt import _native
from goldilocks_cbt._work import Names, thousands, which


class Predictions:
    """Predictions in order, each a `dict` with the keys of the predictions file; a table for whatever takes Arrow.

    >>> import goldilocks_cbt as gl
    >>> questions = gl.build(seed=1).filter(split="test")[:5]
    >>> predictions = gl.answer(lambda batch: [[len(c) for c in q.candidates] for q in batch], questions, name="long")
    >>> predictions
    Predictions(5 of long)
    >>> list(predictions[0])
    ['id', 'class', 'split', 'book', 'candidates', 'scores', 'answer', 'predicted']
    """

    def __init__(self, native: _native.PredictionList) -> None:
        if not isinstance(native, _native.PredictionList):
            raise TypeError("make predictions with `answer` or `read_predictions`")
        self._native = native

    @property
    def name(self) -> str:
        """The name of the model, or the path of the file."""
        return self._native.name

    def named(self, name: str) -> Predictions:
        """The same under another name: rows of a report are named so."""
        return Predictions(self._native.named(name))

    def __len__(self) -> int:
        return len(self._native)

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, place: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self._native.prediction(index) for index in range(*place.indices(len(self)))]
        index = place.__index__()
        if not -len(self) <= index < len(self):
            raise IndexError(f"prediction {index}: there are {thousands(len(self))}")
        return self._native.prediction(index % len(self))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self._native.prediction(index) for index in range(len(self)))

    def filter(self, *, split: Names = None, word_class: str | None = None) -> Predictions:
        """The predictions for some splits, and for one word class."""
        return Predictions(self._native.filter(which(split, word_class)))

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes them as JSON lines, as the program does."""
        self._native.write(os.fspath(path), overwrite)

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` with the columns of the predictions file."""
        import pyarrow

        return pyarrow.table(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.arrow()

    def __repr__(self) -> str:
        return f"Predictions({thousands(len(self))} of {self.name})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _predictions_of_text, (self.name, self._native.text())


def _predictions_of_text(name: str, text: str) -> Predictions:
    return Predictions(_native.PredictionList.of_text(name, text))


def read_predictions(path: str | os.PathLike[str]) -> Predictions:
    """Reads a predictions file, of this package, the program, or any other."""
    return Predictions(_native.read_predictions(os.fspath(path)))
