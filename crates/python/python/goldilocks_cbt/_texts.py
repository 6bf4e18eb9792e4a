"""Texts, files and whole tables of the paper."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from goldilocks_cbt import _native
from goldilocks_cbt._work import Names, Path, Progress, names, which, work


class Word(NamedTuple):
    """A word with its part of speech, a tag of the Penn Treebank, and its entity class, `O` for none."""

    text: str
    pos: str
    entity: str


def tag(text: str, *, like: str | None = None) -> list[list[Word]]:
    """Splits a text into sentences and words, and tags these.

    >>> import goldilocks_cbt as gl
    >>> gl.tag("The little hen saw Tom in London.")[0][4]
    Word(text='Tom', pos='NNP', entity='PERSON')
    """
    if like not in (None, "cbt"):
        raise ValueError(f"like: expected 'cbt', found {like!r}")
    return [[Word(*word) for word in sentence] for sentence in _native.tag(text, like is not None)]


def convert(
    input: Path,
    output: Path,
    *,
    to: str | None = None,
    split: Names = None,
    word_class: str | None = None,
    anonymise: int | None = None,
    skip_bad: bool = False,
    overwrite: bool = False,
    progress: Progress = None,
    threads: int | None = None,
) -> int:
    """Reads one form of question sets and writes another; returns how many questions there were.

    `to` is `cbt`, `jsonl`, `parquet`, `compact` or `lm-eval`; without it the output's ending says. `anonymise` is the
    seed of placeholders for candidates (Appendix D of the paper).
    """
    converting = {"to": to, "anonymise": anonymise, "skip_bad": skip_bad, "overwrite": overwrite}
    paths = (os.fspath(input), os.fspath(output))
    return _native.convert(paths, which(split, word_class), converting, work(progress, threads))


def reproduce(
    table: str = "table-2",
    folder: Path | None = None,
    *,
    experiment: Path | None = None,
    questions: Path | None = None,
    train_on: Path | None = None,
    only: Names = None,
    skip: Names = None,
    seed: int = 1,
    device: str = "auto",
    any_version: bool = False,
    progress: Progress = None,
    threads: int | None = None,
) -> str:
    """Builds, trains, answers and reports for a table of the paper, in a folder; returns the table as text.

    What is there already is not made again. `questions` is the path of a set; without it, the tales. `only` and `skip`
    are names of rows; `experiment` is the file of a table of one's own.
    """
    options: dict[str, Any] = {
        "experiment": None if experiment is None else os.fspath(experiment),
        "questions": None if questions is None else os.fspath(questions),
        "train_on": None if train_on is None else os.fspath(train_on),
        "only": names(only, "only"),
        "skip": names(skip, "skip"),
        "seed": seed,
        "device": device,
        "any_version": any_version,
    }
    place = os.path.join("reproduction", table) if folder is None else os.fspath(folder)
    return _native.reproduce(table, place, options, work(progress, threads))
