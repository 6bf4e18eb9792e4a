"""Sets in shards."""

import pickle
from pathlib import Path

import goldilocks_cbt as gl
import pytest
from conftest import longest


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


def test_shards_are_answered_and_counted_one_by_one(plan: gl.Plan, tales: gl.Questions, tmp_path: Path) -> None:
    shards = pickle.loads(pickle.dumps(gl.Shards(plan.folder)))
    assert shards.splits == [shard.split for shard in plan.shards]
    assert [q.id for number in range(len(shards)) for q in shards[number]] == [q.id for q in tales]
    model = gl.train("word-distance", tales)
    files = [shards.answer(model, number, tmp_path / "answers") for number in shards.of(["valid", "test"])]
    whole = model.answer(tales, split=["valid", "test"], out=tmp_path / "whole.jsonl")
    assert b"".join(Path(file).read_bytes() for file in files) == (tmp_path / "whole.jsonl").read_bytes()
    evaluation = gl.evaluate(tmp_path / "answers", plan.folder, split="test")
    assert evaluation["all"] == gl.evaluate(whole, tales, split="test")["all"]
    # One folder is of one model.
    with pytest.raises(FileExistsError):
        shards.answer(longest, 0, tmp_path / "answers")
    assert shards.answer(longest, 0, tmp_path / "answers", overwrite=True).endswith("train-00000-of-00004.jsonl")
    assert not Path(files[0]).exists()
    in_memory, by_shard = gl.stats(tales), plan.stats()
    assert by_shard["statistics"] == in_memory["statistics"] and by_shard["leaks"] == in_memory["leaks"]
    assert plan.stats(one_of=4) == by_shard


def test_what_is_no_set_in_shards_is_refused(plan: gl.Plan, tales: gl.Questions, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected a set in shards"):
        gl.Shards(tmp_path)
    unmerged = gl.plan(None, tmp_path / "set")
    for fails in (lambda: gl.Shards(unmerged.folder), unmerged.stats):
        with pytest.raises(ValueError, match="its shards are not merged"):
            fails()
    shards = gl.Shards(plan.folder)
    with pytest.raises(IndexError, match="shard 99"):
        shards[99]
    with pytest.raises(ValueError, match="expected 0 to"):
        plan.compare(plan.buckets)
    with pytest.raises(ValueError, match="one_of: expected 1 or more"):
        plan.stats(one_of=0)
    with pytest.raises(ValueError, match="no predictions of shards"):
        gl.evaluate(tmp_path)
    with pytest.raises(TypeError, match="expected a path"):
        gl.evaluate(tmp_path, tales)
    with pytest.raises(TypeError, match="expected Questions"):
        gl.evaluate(gl.answer(longest, tales[:9]), plan.folder)


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
