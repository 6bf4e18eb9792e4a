"""Figures from predictions."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, overload

from goldilocks_cbt import _native
from goldilocks_cbt._models import _native_of
from goldilocks_cbt._predictions import Predictions
from goldilocks_cbt._questions import Questions
from goldilocks_cbt._work import Names, Path, Progress, thousands, which, work

_TITLES = {
    "NE": "Named Entities",
    "CN": "Common Nouns",
    "V": "Verbs",
    "P": "Prepositions",
    "all": "All",
}


class Accuracy(NamedTuple):
    """An accuracy with its 95 % interval; a tie among k best candidates counts 1/k."""

    n: int
    accuracy: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.accuracy:.3f}  {self.low:.3f}–{self.high:.3f}  n = {thousands(self.n)}"


class Difference(NamedTuple):
    """The paired difference of two models on the same questions."""

    n: int
    difference: float
    low: float
    high: float
    only_first: int
    only_second: int
    p: float
    p_holm: float | None

    def __str__(self) -> str:
        return f"{self.difference:+.3f}  {self.low:+.3f}–{self.high:+.3f}  n = {thousands(self.n)}  p = {self.p:.3g}"


class _Figures:
    """Figures of each class, split by split: texts in a terminal, tables in a notebook."""

    tables: list[tuple[str, dict[str, Any]]]
    _heads: tuple[str, ...]

    def __str__(self) -> str:
        lines = []
        for title, classes in self.tables:
            lines.append(title)
            lines += [f"  {_TITLES.get(name, name):14}  {figure}" for name, figure in classes.items()]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = "".join(f"<th>{head}</th>" for head in ("", *self._heads))
        tables = []
        for title, classes in self.tables:
            rows = "".join(
                f"<tr><th>{_TITLES.get(name, name)}</th>{self._row(figure)}</tr>" for name, figure in classes.items()
            )
            tables.append(f"<table><caption>{html.escape(title)}</caption><tr>{cells}</tr>{rows}</table>")
        return "".join(tables)

    def _row(self, figure: Any) -> str:
        return "".join(f"<td>{cell}</td>" for cell in str(figure).replace("n = ", "").replace("p = ", "").split("  "))


class Evaluation(_Figures):
    """The accuracies of predictions, split by split; `data` as the program's `evaluate --json`.

    Indexed by class, `NE`, `CN`, `V`, `P` or `all`, where there is one table; else `tables` has them all.
    """

    _heads = ("accuracy", "95 % interval", "n")

    def __init__(self, data: list[dict[str, Any]]) -> None:
        self.data = data
        self.tables = [(_title(table["predictions"], table), _by_class(table, Accuracy)) for table in data]

    def __getitem__(self, word_class: str) -> Accuracy:
        if len(self.tables) != 1:
            raise KeyError(f"{word_class}: there are {len(self.tables)} tables; see `tables`")
        found: Accuracy = self.tables[0][1][word_class]
        return found


class Comparison(_Figures):
    """The differences of two models, split by split; `data` as the program's `compare --json`."""

    _heads = ("difference", "95 % interval", "n", "p (McNemar)")

    def __init__(self, data: list[dict[str, Any]]) -> None:
        self.data = data
        self.tables = [
            (_title(f"{table['first']} − {table['second']}", table), _by_class(table, Difference)) for table in data
        ]

    def __getitem__(self, word_class: str) -> Difference:
        if len(self.tables) != 1:
            raise KeyError(f"{word_class}: there are {len(self.tables)} tables; see `tables`")
        found: Difference = self.tables[0][1][word_class]
        return found


def _title(name: str, table: dict[str, Any]) -> str:
    return name if table["split"] is None else f"{name}, {table['split']}"


def _by_class(table: dict[str, Any], kind: Any) -> dict[str, Any]:
    return {name: kind(**figure) for name, figure in table["classes"].items()}


def _list(predictions: Any) -> list[_native.PredictionList]:
    given = [predictions] if isinstance(predictions, Predictions) else list(predictions)
    for one in given:
        if not isinstance(one, Predictions):
            raise TypeError(f"predictions: expected Predictions, found {type(one).__name__}")
    return [one._native for one in given]


def evaluate(
    predictions: Predictions | Iterable[Predictions] | Path,
    questions: Questions | Path | None = None,
    *,
    split: Names = None,
    word_class: str | None = None,
) -> Evaluation:
    """Accuracy of each class with its 95 % interval. With `questions`, each of them must be answered once.

    A path of predictions, with the path of their questions if these are to be checked, may be a folder with a file for
    each shard of a set: they are read one at a time.

    >>> import goldilocks_cbt as gl
    >>> questions = gl.build(seed=1)
    >>> predictions = gl.train("word-distance", questions).answer(questions)
    >>> round(gl.evaluate(predictions, questions, split="valid")["V"].accuracy, 3)
    0.517
    """
    if isinstance(predictions, (str, os.PathLike)):
        if isinstance(questions, Questions):
            raise TypeError("questions: expected a path, as the predictions are one, found Questions")
        path = None if questions is None else os.fspath(questions)
        text = _native.evaluate_path(os.fspath(predictions), path, which(split, word_class), work())
        return Evaluation([table for tables in json.loads(text) for table in tables])
    if isinstance(questions, (str, os.PathLike)):
        raise TypeError("questions: expected Questions, as the predictions are no path")
    against = None if questions is None else _native_of(questions)
    text = _native.evaluate(_list(predictions), against, which(split, word_class), work())
    return Evaluation([table for tables in json.loads(text) for table in tables])


def compare(
    first: Predictions,
    second: Predictions,
    *,
    split: Names = None,
    word_class: str | None = None,
    seed: int = 1,
) -> Comparison:
    """How much better one model is than another on the same questions: bootstrap by book, McNemar's exact test."""
    one, other = _list([first, second])
    return Comparison(json.loads(_native.compare((one, other), which(split, word_class), seed, work())))


@overload
def combine(
    predictions: Sequence[Predictions],
    *,
    fit: Sequence[Predictions] = (),
    by_class: Literal[False] = False,
    name: str = "combined",
    seed: int = 1,
) -> tuple[Predictions, list[float] | None]: ...
@overload
def combine(
    predictions: Sequence[Predictions],
    *,
    fit: Sequence[Predictions],
    by_class: Literal[True],
    name: str = "combined",
    seed: int = 1,
) -> tuple[Predictions, dict[str | None, list[float]]]: ...
def combine(
    predictions: Sequence[Predictions],
    *,
    fit: Sequence[Predictions] = (),
    by_class: bool = False,
    name: str = "combined",
    seed: int = 1,
) -> tuple[Predictions, Any]:
    """Several models as one, and the weights that were fitted.

    By the mean of their distributions; with `fit`, validation predictions of the same models in the same order, by
    weights that are fitted on those: one for each model or, `by_class`, one for each model and class, in a `dict`.

    >>> import goldilocks_cbt as gl
    >>> questions = gl.build(seed=1)
    >>> models = [gl.train(name, questions) for name in ("word-distance", "kneser-ney")]
    >>> valid, test = ([model.answer(questions, split=split) for model in models] for split in ("valid", "test"))
    >>> both, weights = gl.combine(test, fit=valid, by_class=True)
    >>> len(both), {name: len(fitted) for name, fitted in weights.items()}
    (1200, {'NE': 2, 'CN': 2, 'V': 2, 'P': 2})
    """
    if by_class and not fit:
        raise ValueError("by_class: expected predictions to fit on (`fit`), found none")
    native, weights = _native.combine(name, (_list(predictions), _list(fit)), (by_class, seed), work())
    fitted: Any = dict(weights) if by_class else weights[0][1] if weights else None
    return Predictions(native), fitted


def stats(questions: Questions, *, progress: Progress = None, threads: int | None = None) -> dict[str, Any]:
    """Table 1 of the paper for a set, and what its splits share; as the program's `stats --json`.

    >>> import goldilocks_cbt as gl
    >>> [split["split"] for split in gl.stats(gl.build(seed=1))["statistics"]["splits"]]
    ['train', 'valid', 'test']
    """
    found: dict[str, Any] = json.loads(_native.stats(_native_of(questions), work(progress, threads)))
    return found


def report(
    predictions: Predictions | Iterable[Predictions],
    questions: Questions,
    folder: str | os.PathLike[str],
    *,
    tables: Names = None,
    title: str = "the questions",
    beside_paper: bool = False,
    seed: int = 1,
    overwrite: bool = False,
) -> str:
    """Writes the paper's tables with these predictions as a folder, `index.html` in it; returns them as text.

    A row is named after its predictions or their file if that is a row of the paper's tables, `memnn-window`; else after
    the model that answered. Without `tables`, Table 2 is filled, or the validation table if no test question was answered.
    """
    given = _list(predictions)
    stems = [os.path.splitext(os.path.basename(one.name))[0] if one.name.endswith(".jsonl") else one.name for one in given]
    reporting = {
        "names": stems,
        "tables": [tables] if isinstance(tables, str) else list(tables or []),
        "title": title,
        "beside_paper": beside_paper,
        "seed": seed,
        "folder": os.fspath(folder),
        "overwrite": overwrite,
    }
    return _native.report(given, _native_of(questions), reporting, work())
