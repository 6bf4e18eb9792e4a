"""Sets of any size, in shards: a plan, a pure function of a shard, and a merge."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from goldilocks_cbt import _native
from goldilocks_cbt._models import Model, Server, answer
from goldilocks_cbt._questions import Questions, building
from goldilocks_cbt._work import Controls, Names, Path, Progress, answering, names, work


class Shard(NamedTuple):
    """A shard of a plan: its split, its file below the folder of the set, and how many books it has."""

    split: str
    file: str
    books: int


class Plan:
    """A set that is built in shards, by its folder: `len` is how many there are.

    A pickled plan is the path of its folder, which every worker must see.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = os.path.abspath(os.fspath(folder))
        self._native = _native.PlanHandle.open(self.folder)

    @property
    def shards(self) -> list[Shard]:
        """The shards in their order."""
        return [Shard(*shard) for shard in self._native.shards()]

    def __len__(self) -> int:
        return len(self._native.shards())

    def build(
        self, shard: int, *, overwrite: bool = False, progress: Progress = None, threads: int | None = None
    ) -> dict[str, Any]:
        """Builds a shard, unless it is there; returns its receipt.

        The file has a fixed name and the same bytes wherever it is built: to build it twice does no harm.
        """
        receipt, was_there = self._native.build(shard, overwrite, work(progress, threads))
        return {**json.loads(receipt), "was_there": was_there}

    def merge(self, *, progress: Progress = None, threads: int | None = None) -> dict[str, Any]:
        """Completes the set when all shards are built; returns what is in it. `open` opens its folder."""
        merged: dict[str, Any] = json.loads(self._native.merge(work(progress, threads)))
        return merged

    @property
    def buckets(self) -> int:
        """How many parts the text and the questions of all shards are compared in, by their hashes."""
        return self._native.buckets()

    def count(self, shard: int, *, one_of: int = 1, progress: Progress = None, threads: int | None = None) -> None:
        """Counts a shard of the merged set for `stats`, unless that is done. Any worker may count any shard."""
        self._native.count(shard, _sample(one_of), work(progress, threads))

    def compare(self, bucket: int, *, one_of: int = 1, progress: Progress = None, threads: int | None = None) -> None:
        """Compares a bucket for `stats`, unless that is done, when all shards are counted."""
        self._native.compare(bucket, _sample(one_of), work(progress, threads))

    def verify(self, shard: int, *, one_of: int, progress: Progress = None, threads: int | None = None) -> None:
        """Counts all that the books of a shard share with later ones, unless that is done, when all buckets are compared.

        Only of pairs that seem to share half a percent by one in `one_of` of their 8-grams.
        """
        self._native.verify(shard, _sample(one_of), work(progress, threads))

    def stats(self, *, one_of: int = 1, progress: Progress = None, threads: int | None = None) -> dict[str, Any]:
        """What `goldilocks_cbt.stats` says of the same set in memory, with a shard or a bucket in memory at a time.

        What `count` and `compare` have not done on other machines is done here. Of terabytes, books can be compared by
        one in `one_of` of their 8-grams; then `verify` counts what the pairs share that seem to share enough.
        """
        figures: dict[str, Any] = json.loads(self._native.stats(_sample(one_of), work(progress, threads)))
        return figures

    def __repr__(self) -> str:
        return f"Plan({self.folder!r}, {len(self)} shards)"

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan, (self.folder,)


def _sample(one_of: int) -> int:
    if one_of < 1:
        raise ValueError(f"one_of: expected 1 or more, found {one_of}")
    return one_of


class Shards:
    """A set in shards that is whole, one shard at a time: `shards[3]` opens one, `len` is how many there are.

    Pickled shards are the path of their folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = os.path.abspath(os.fspath(folder))
        self._native = _native.ShardsHandle.open(self.folder)

    @property
    def splits(self) -> list[str]:
        """The split of each shard."""
        return self._native.splits()

    def of(self, split: Names) -> list[int]:
        """The numbers of the shards of some splits."""
        wanted = names(split, "split")
        return [number for number, found in enumerate(self.splits) if found in wanted or not wanted]

    def __len__(self) -> int:
        return len(self.splits)

    def __getitem__(self, shard: int) -> Questions:
        if not 0 <= shard < len(self):
            raise IndexError(f"shard {shard}: there are {len(self)}")
        return Questions(self._native.read(shard, work()))

    def answer(
        self,
        model: Any,
        shard: int,
        out: Path,
        *,
        batch_size: int = 64,
        controls: Controls = None,
        seed: int = 1,
        name: str | None = None,
        overwrite: bool = False,
        threads: int | None = None,
    ) -> str:
        """Answers a shard into a file of the folder `out`, unless it is there; returns its path.

        `model` is a `Model`, a `Server` or a function, as for `answer`. All files of the folder are of one model, which
        for a server or a function is known by its name alone. `evaluate` reads them one by one.
        """
        called = name or str(getattr(model, "name", getattr(model, "__name__", type(model).__name__)))
        how = answering(None, controls, None, seed, called, out, overwrite)
        native = model._native if isinstance(model, Model) else None
        path, is_there = self._native.predictions(shard, native, how)
        if is_there:
            return str(path)
        questions = self[shard]
        if not len(questions):
            with open(path, "w"):
                return str(path)
        if isinstance(model, Model):
            model.answer(questions, controls=controls, seed=seed, out=path, threads=threads)
        elif isinstance(model, Server):
            model.answer(questions, controls=controls, seed=seed, out=path)
        else:
            answer(model, questions, batch_size=batch_size, controls=controls, seed=seed, name=called, out=path)
        return str(path)

    def __repr__(self) -> str:
        return f"Shards({self.folder!r}, {len(self)} shards)"

    def __reduce__(self) -> tuple[Any, ...]:
        return Shards, (self.folder,)


def plan(
    books: Any,
    folder: Path,
    *,
    shard_bytes: int = 32 << 20,
    split_by: str = "draw",
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
    overwrite: bool = False,
    progress: Progress = None,
    threads: int | None = None,
) -> Plan:
    """Plans a set in shards in a folder; each has books of at most `shard_bytes`. `None` for books: the tales.

    With `split_by="hash"` a book's split follows from its name and the seed alone; else splits are drawn as `build`
    draws them, which takes a look at each book. `counts="cbt"` keeps as many questions as the released set has, when the
    shards are merged.

    >>> import goldilocks_cbt as gl, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plan = gl.plan(None, folder + "/set", shard_bytes=60_000)
    ...     for shard in range(len(plan)):               # in any order, by any worker
    ...         rows = plan.build(shard)["rows"]
    ...     len(plan), plan.merge()["questions"] == len(gl.open(folder + "/set"))
    (6, True)
    """
    if split_by not in ("draw", "hash"):
        raise ValueError(f"split_by: expected 'draw' or 'hash', found {split_by!r}")
    if shard_bytes < 1:
        raise ValueError(f"shard_bytes: expected 1 or more, found {shard_bytes}")
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
    planning = {
        "folder": os.fspath(folder),
        "splits_by_hash": split_by == "hash",
        "shard_bytes": shard_bytes,
        "overwrite": overwrite,
    }
    _native.plan(options, planning, work(progress, threads))
    return Plan(folder)
