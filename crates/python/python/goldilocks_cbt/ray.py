"""Sets in shards on Ray: `build`, `answer`, `stats`, each a task for every shard.

Ray schedules and tries again; what a task does is a function of a shard's number and writes a file of a fixed name with
the same bytes wherever it runs. So a worker that is lost costs its shard, and a second run does only what is missing. No
row passes through Ray: workers get the path of the set, which all of them must see.

    import goldilocks_cbt as gl, goldilocks_cbt.ray as glr, ray

    ray.init("auto")
    plan = gl.plan("books/", "/shared/set", skip_bad=True)
    glr.build(plan)
    glr.answer("/shared/model", plan.folder, "/shared/answers")
    print(gl.evaluate("/shared/answers"), glr.stats(plan.folder))
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from typing import Any

import ray

from goldilocks_cbt._models import load, server
from goldilocks_cbt._shards import Plan, Shards
from goldilocks_cbt._work import Names, Path

#: How often a task is tried again whose worker was lost.
RETRIES = 5


def build(plan: Plan | Path, *, num_cpus: float = 1) -> dict[str, Any]:
    """Builds the shards of a plan that are not there, and merges them; returns what is in the set."""
    plan = plan if isinstance(plan, Plan) else Plan(plan)
    _each(_build, range(len(plan)), (plan.folder,), num_cpus)
    return plan.merge()


def answer(
    model: Any,
    questions: Path,
    out: Path,
    *,
    split: Names = ("valid", "test"),
    num_cpus: float = 1,
    num_gpus: float = 0,
    **how: Any,
) -> list[str]:
    """Answers the shards of a set into files of the folder `out`; returns their paths.

    `model` is the folder of a model or the address of a server, opened once in each worker, or a function that scores.
    `how` is as for `Shards.answer`.
    """
    shards = Shards(questions)
    asked = model if callable(model) else os.fspath(model)
    if isinstance(asked, str) and "://" not in asked:
        asked = os.path.abspath(asked)
    given = (shards.folder, asked, os.path.abspath(os.fspath(out)), {"threads": 1, **how})
    paths: list[str] = _each(_answer, shards.of(split), given, num_cpus, num_gpus)
    return paths


def stats(questions: Path, *, one_of: int = 1, num_cpus: float = 1) -> dict[str, Any]:
    """The figures of a set and its leak report, as `goldilocks_cbt.stats` has them; `one_of` is as for `Plan.stats`."""
    plan = Plan(questions)
    _each(_count, range(len(plan)), (plan.folder, one_of), num_cpus)
    _each(_compare, range(plan.buckets), (plan.folder, one_of), num_cpus)
    if one_of > 1:
        _each(_verify, range(len(plan)), (plan.folder, one_of), num_cpus)
    return plan.stats(one_of=one_of)


def _each(
    do: Callable[..., Any], numbers: Iterable[int], given: tuple[Any, ...], num_cpus: float, num_gpus: float = 0
) -> Any:
    """Does something for each number, on whatever workers there are."""
    task = ray.remote(num_cpus=num_cpus, num_gpus=num_gpus, max_retries=RETRIES)(do)
    given = tuple(map(ray.put, given))
    tasks = [task.remote(number, *given) for number in numbers]
    # A shard that fails, for a book that is damaged, does not stop the others.
    if tasks:
        ray.wait(tasks, num_returns=len(tasks), fetch_local=False)
    return ray.get(tasks)


def _build(shard: int, folder: str) -> None:
    Plan(folder).build(shard, threads=1)


def _count(shard: int, folder: str, one_of: int) -> None:
    Plan(folder).count(shard, one_of=one_of, threads=1)


def _compare(bucket: int, folder: str, one_of: int) -> None:
    Plan(folder).compare(bucket, one_of=one_of, threads=1)


def _verify(shard: int, folder: str, one_of: int) -> None:
    Plan(folder).verify(shard, one_of=one_of, threads=1)


def _answer(shard: int, folder: str, model: Any, out: str, how: dict[str, Any]) -> str:
    return Shards(folder).answer(opened(model), shard, out, **how)


def opened(model: Any) -> Any:
    """A model by its folder or address, once in each process; a function as it is."""
    return _opened(model) if isinstance(model, str) else model


@functools.lru_cache(maxsize=1)
def _opened(model: str) -> Any:
    return server(model) if "://" in model else load(model)
