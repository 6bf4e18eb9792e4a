"""Sets in shards on Spark: `build`, `answer`, `stats`, each a task for every shard, by the DataFrame API alone.

So the same file runs on what speaks Spark Connect, such as Sail. What a task does is a function of a shard's number and
writes a file of a fixed name with the same bytes wherever it runs: a task that is tried again does no harm, and a second
run does only what is missing. No row passes through Spark: workers get the path of the set, which all of them must see.

    import goldilocks_cbt as gl, goldilocks_cbt.spark as gls
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote("sc://HOST:15002").getOrCreate()
    plan = gl.plan("books/", "/shared/set", skip_bad=True)
    gls.build(spark, plan)
    gls.answer(spark, "/shared/model", plan.folder, "/shared/answers")
    print(gl.evaluate("/shared/answers"), gls.stats(spark, plan.folder))
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from goldilocks_cbt._models import load, server
from goldilocks_cbt._shards import Plan, Shards
from goldilocks_cbt._work import Names, Path


def build(spark: Any, plan: Plan | Path) -> dict[str, Any]:
    """Builds the shards of a plan that are not there, and merges them; returns what is in the set."""
    plan = plan if isinstance(plan, Plan) else Plan(plan)
    folder = plan.folder

    def task(shard: int) -> None:
        Plan(folder).build(shard, threads=1)

    _each(spark, task, range(len(plan)))
    return plan.merge()


def answer(
    spark: Any, model: Any, questions: Path, out: Path, *, split: Names = ("valid", "test"), **how: Any
) -> list[str]:
    """Answers the shards of a set into files of the folder `out`; returns their paths.

    `model` is the folder of a model or the address of a server, opened once in each worker, or a function that scores.
    `how` is as for `Shards.answer`.
    """
    shards = Shards(questions)
    asked = model if callable(model) else os.fspath(model)
    if isinstance(asked, str) and "://" not in asked:
        asked = os.path.abspath(asked)
    folder, place, how = shards.folder, os.path.abspath(os.fspath(out)), {"threads": 1, **how}

    def task(shard: int) -> str:
        found = _opened(asked) if isinstance(asked, str) else asked
        return Shards(folder).answer(found, shard, place, **how)

    return _each(spark, task, shards.of(split))


def stats(spark: Any, questions: Path, *, one_of: int = 1) -> dict[str, Any]:
    """The figures of a set and its leak report, as `goldilocks_cbt.stats` has them; `one_of` is as for `Plan.stats`."""
    plan = Plan(questions)
    folder = plan.folder
    _each(spark, lambda shard: Plan(folder).count(shard, one_of=one_of, threads=1), range(len(plan)))
    _each(spark, lambda bucket: Plan(folder).compare(bucket, one_of=one_of, threads=1), range(plan.buckets))
    if one_of > 1:
        _each(spark, lambda shard: Plan(folder).verify(shard, one_of=one_of, threads=1), range(len(plan)))
    return plan.stats(one_of=one_of)


def _each(spark: Any, do: Callable[[int], Any], numbers: Iterable[int]) -> list[str]:
    """Does something for each number, in a partition of its own; returns what was returned, as text, in order."""
    numbers = list(numbers)

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            places = batch.column(0).to_pylist()
            done = [str(do(numbers[place])) for place in places]
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array(places), pyarrow.array(done)], ["id", "done"])

    if not numbers:
        return []
    frame = spark.range(0, len(numbers), 1, len(numbers)).mapInArrow(run, "id long, done string")
    return [row.done for row in sorted(frame.collect(), key=lambda row: row.id)]


@functools.lru_cache(maxsize=1)
def _opened(model: str) -> Any:
    return server(model) if "://" in model else load(model)
