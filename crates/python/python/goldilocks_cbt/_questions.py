"""Books and questions."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, overload

from goldilocks_cbt import _native
from goldilocks_cbt._native import Question
from goldilocks_cbt._work import Names, Path, Progress, thousands, which, work


@dataclass(frozen=True)
class Books:
    """Books by their paths, or as texts by their names, or the tales of the package. Nothing is read yet."""

    paths: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    are_tales: bool = False

    def __len__(self) -> int:
        return _native.n_tales if self.are_tales else len(self.paths) + len(self.texts)


def read_books(source: Any = None) -> Books:
    """Names books: a file, a folder, a pattern such as `"books/*.epub"`, a list of these, or texts by name.

    Without a source they are the tales of the package.

    >>> import goldilocks_cbt as gl
    >>> len(gl.read_books({"bears": "Once there were three bears.", "fox": "A fox met a crow."}))
    2
    >>> len(gl.read_books())
    14

    A pattern that finds nothing is a `NotFoundError`.
    """
    if source is None:
        return Books(are_tales=True)
    if isinstance(source, Books):
        return source
    if isinstance(source, Mapping):
        for name, text in source.items():
            if not isinstance(name, str) or not isinstance(text, str):
                types = f"{type(name).__name__} and {type(text).__name__}"
                raise TypeError(f"books: expected texts by name, found {types}")
        return Books(texts=dict(source))
    if isinstance(source, (str, os.PathLike)):
        source = [source]
    paths: list[str] = []
    for path in map(os.fspath, source):
        if not glob.has_magic(path) or os.path.exists(path):
            paths.append(path)
            continue
        found = sorted(glob.glob(path, recursive=True))
        if not found:
            from goldilocks_cbt._errors import NotFoundError

            raise NotFoundError(f"{path}: no such file", "check the pattern")
        paths.extend(found)
    return Books(paths=paths)


class Questions:
    """Questions, in order: `len`, `[]`, slices, iteration, `filter`.

    A table for whatever takes Arrow: `pyarrow.table(questions)`, `polars.DataFrame(questions)`,
    `pandas.DataFrame.from_arrow(questions)`. Pickled questions carry their text.

    >>> import goldilocks_cbt as gl
    >>> questions = gl.build(seed=1)
    >>> len(questions)
    8064
    >>> questions.filter(split="test", word_class="NE")
    Questions(239 from 14 books; test 239)
    >>> len(questions[:10]), len(questions[0].candidates)
    (10, 10)
    """

    def __init__(self, native: _native.QuestionList) -> None:
        if not isinstance(native, _native.QuestionList):
            raise TypeError("make questions with `build` or `open`")
        self._native = native

    def __len__(self) -> int:
        return len(self._native)

    @overload
    def __getitem__(self, place: int) -> Question: ...
    @overload
    def __getitem__(self, place: slice) -> Questions: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Questions(self._native.select(range(*place.indices(len(self)))))
        try:
            index = place.__index__()
        except AttributeError:
            raise TypeError(f"expected a number or a slice, found {type(place).__name__}") from None
        if not -len(self) <= index < len(self):
            raise IndexError(f"question {index}: there are {thousands(len(self))}")
        return self._native.question(index % len(self))

    def __iter__(self) -> Iterator[Question]:
        return (self._native.question(place) for place in range(len(self)))

    def filter(self, *, split: Names = None, word_class: Names = None) -> Questions:
        """The questions of some splits (`train`, `valid`, `test`) and word classes (`NE`, `CN`, `V`, `P`)."""
        return Questions(self._native.filter(which(split, word_class)))

    def select(self, places: Iterable[int]) -> Questions:
        """The questions at some places, in that order."""
        return Questions(self._native.select(list(places)))

    def find(self, id: str) -> Question | None:
        """The question with an id; `None` if there is none."""
        place = self._native.find(id)
        return None if place is None else self._native.question(place)

    @property
    def books(self) -> list[tuple[str, str | None]]:
        """The names of the books with their splits."""
        return self._native.books()

    @property
    def counts(self) -> dict[tuple[str | None, str | None], int]:
        """How many questions of each split and class there are."""
        return {(split, word_class): n for split, word_class, n in self._native.counts()}

    @property
    def fingerprint(self) -> str:
        """16 digits that identify the content, in whatever form it is stored."""
        return self._native.fingerprint()

    def layout(self, layout: str) -> Table:
        """The questions with contexts in another layout than lists: `view` or `dictionary`, each sentence once."""
        return Table(self._native, layout)

    def to_arrow(self, layout: str = "list") -> Any:
        """A `pyarrow.Table` with the columns sentences, question, answer, options, id, class, split and book.

        `layout="view"` holds each sentence once, in a seventh of the memory; polars and `datasets` refuse it.
        """
        import pyarrow

        return pyarrow.table(self.layout(layout))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.arrow("list", work())

    def write(
        self, output: Path, *, format: str | None = None, overwrite: bool = False, threads: int | None = None
    ) -> None:
        """Writes the questions: `NAME.jsonl`, `NAME.parquet`, `NAME.txt` or, without an ending, the compact form.

        `format` is `cbt`, `jsonl`, `parquet`, `compact` or `lm-eval`, where the ending does not say.
        """
        self._native.write(os.fspath(output), (format, overwrite), work(None, threads))

    def __repr__(self) -> str:
        splits: dict[str, int] = {}
        for (split, _), n in self.counts.items():
            splits[split or "no split"] = splits.get(split or "no split", 0) + n
        listed = ", ".join(f"{split} {thousands(n)}" for split, n in splits.items())
        books = f" from {thousands(len(self.books))} books" if self.books else ""
        return f"Questions({thousands(len(self))}{books}{'; ' + listed if listed else ''})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _questions_of_state, (self._native.state(),)


class Table:
    """Questions as Arrow in a layout of one's choice."""

    def __init__(self, native: _native.QuestionList, layout: str) -> None:
        self._native, self._layout = native, layout

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.arrow(self._layout, work())


def _questions_of_state(state: dict[str, bytes]) -> Questions:
    return Questions(_native.QuestionList.of_state(state))


def building(
    books: Any,
    *,
    like: str | None,
    seed: int,
    rules: Mapping[str, Any] | None,
    splits: Any,
    valid: float,
    test: float,
    tagged: bool,
    skip_bad: bool,
    counts: str | None = None,
    by: str | None = None,
) -> dict[str, Any]:
    """What questions are built from, and how."""
    named = read_books(books)
    if not len(named):
        raise ValueError("books: expected at least one; leave them out for the tales of the package")
    if by not in (None, "author"):
        raise ValueError(f"by: expected 'author', found {by!r}")
    is_file = isinstance(splits, (str, os.PathLike))
    return {
        "paths": named.paths,
        "texts": list(named.texts.items()),
        "tagged": tagged,
        "like": like,
        "counts": counts,
        "rules": json.dumps(dict(rules or {})),
        "splits_file": os.fspath(splits) if is_file else None,
        "splits": None if is_file or splits is None else list(splits.items()),
        "shares": (valid, test),
        "by_author": by is not None,
        "seed": seed,
        "skip_bad": skip_bad,
    }


def build(
    books: Any = None,
    *,
    like: str | None = None,
    seed: int = 1,
    rules: Mapping[str, Any] | None = None,
    counts: str | None = None,
    splits: Any = None,
    valid: float = 0.1,
    test: float = 0.1,
    by: str | None = None,
    tagged: bool = False,
    skip_bad: bool = False,
    progress: Progress = None,
    threads: int | None = None,
) -> Questions:
    """Builds questions from books: whatever `read_books` takes, or nothing for the tales of the package.

    `like="cbt"` follows the released set where the rules leave something open, `counts="cbt"` keeps as many questions.
    `rules` changes any rule. `splits` is a file of `split TAB book` or the splits by book; else they are drawn, with the
    shares `valid` and `test`, and with all books of an author in one split if they are drawn `by="author"`.

    >>> import goldilocks_cbt as gl
    >>> gl.build(seed=1, rules={"context_sentences": 10, "classes": ["NE"]})[0].word_class
    'NE'
    """
    options = building(
        books,
        like=like,
        seed=seed,
        rules=rules,
        splits=splits,
        valid=valid,
        test=test,
        tagged=tagged,
        skip_bad=skip_bad,
        counts=counts,
        by=by,
    )
    return Questions(_native.build(options, work(progress, threads)))


def open(
    path: Path,
    *,
    split: Names = None,
    word_class: Names = None,
    skip_bad: bool = False,
    progress: Progress = None,
    threads: int | None = None,
) -> Questions:
    """Opens a question set of any form: compact, JSON lines, Parquet, the released CBT, CNN QA.

    >>> import goldilocks_cbt as gl, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gl.build(seed=1).write(folder + "/tales.parquet")
    ...     len(gl.open(folder + "/tales.parquet", split="valid"))
    1062
    """
    native = _native.open_set(os.fspath(path), which(split, word_class), skip_bad, work(progress, threads))
    questions = Questions(native)
    return questions.filter(word_class=word_class) if word_class is not None else questions
