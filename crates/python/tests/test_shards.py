"""Sets in shards."""

import pickle
from pathlib import Path

import goldilocks_cbt as gl
import pytest


@pytest.fixture(scope="session")
def plan(tmp_path_factory: pytest.TempPathFactory) -> gl.Plan:
    """The tales in a few shards, all built and merged."""
    plan = gl.plan(None, tmp_path_factory.mktemp("shards") / "set", shard_bytes=60_000)
    for shard in range(len(plan)):
        plan.build(shard)
    plan.merge()
    return plan


def test_shards_are_the_set_of_one_machine(plan: gl.Plan, tales: gl.Questions) -> None:
    whole = gl.open(plan.folder)
    assert len(whole) == len(tales)
    assert [(q.id, q.split, q.book) for q in whole] == [(q.id, q.split, q.book) for q in tales]
    assert [shard.file for shard in plan.shards if shard.split == "test"] == ["data/test-00000-of-00001.parquet"]


def test_a_shard_is_built_once(plan: gl.Plan, tmp_path: Path) -> None:
    other = pickle.loads(pickle.dumps(plan))
    assert other.folder == plan.folder and other.shards == plan.shards
    first, again = plan.build(1), other.build(1)
    assert first["was_there"] and again == first
    replaced = other.build(1, overwrite=True)
    assert not replaced["was_there"] and replaced["sha256"] == first["sha256"]
    plan.merge()


def test_wrong_plans_are_refused(plan: gl.Plan, tmp_path: Path) -> None:
    with pytest.raises(gl.Error, match="nowhere"):
        gl.Plan(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="expected 0 to"):
        plan.build(99)
    with pytest.raises(ValueError, match="expected 'draw' or 'hash'"):
        gl.plan(None, tmp_path / "set", split_by="name")
    with pytest.raises(ValueError, match="shard_bytes: expected 1 or more"):
        gl.plan(None, tmp_path / "set", shard_bytes=0)
    with pytest.raises(ValueError, match="books in files"):
        gl.plan({"a tale": "Once upon a time."}, tmp_path / "set")
    unbuilt = gl.plan(None, tmp_path / "set")
    with pytest.raises(gl.Error, match="shard"):
        unbuilt.merge()
    with pytest.raises(FileExistsError):
        gl.plan(None, tmp_path / "set", seed=2)
