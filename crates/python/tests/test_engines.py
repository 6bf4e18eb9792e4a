"""Ray, and Spark's API on Sail: the bytes of one machine, though a worker is killed in mid-job."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import goldilocks_cbt as gl
import pytest

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="kills a worker")
METHODS = {"kneser-ney": {}, "memnn-window-selfsup": {"dim": 4, "epochs": 1}}


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of the files of a folder."""
    files = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def planned(folder: Path) -> gl.Plan:
    return gl.plan(None, folder, shard_bytes=20_000)


@pytest.fixture(scope="session")
def one_machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set, two models, their answers and the report of the set, without an engine."""
    folder = tmp_path_factory.mktemp("machine")
    plan = planned(folder / "set")
    for shard in range(len(plan)):
        plan.build(shard)
    plan.merge()
    (folder / "stats.json").write_text(json.dumps(plan.stats()))
    questions = gl.open(plan.folder)
    for method, settings in METHODS.items():
        gl.train(method, questions, settings=settings, device="cpu", out=folder / method)
        model, shards = gl.load(folder / method, device="cpu"), gl.Shards(plan.folder)
        for shard in shards.of(["valid", "test"]):
            shards.answer(model, shard, folder / f"{method}.answers")
    return folder


def check(found: Path, expected: Path) -> None:
    """All files are those of one machine."""
    assert hashes(found / "set" / "data") == hashes(expected / "set" / "data")
    assert json.loads((found / "stats.json").read_text()) == json.loads((expected / "stats.json").read_text())
    for method in METHODS:
        answers = f"{method}.answers"
        assert hashes(found / answers) == hashes(expected / answers), method


def at_work(of: int) -> list[int]:
    """The workers of Ray that have a task, below a process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            title = (folder / "cmdline").read_bytes()
            if not title.startswith(b"ray::_build"):
                continue
            pid, ancestors = int(folder.name), []
            while pid > 1:
                ancestors.append(pid)
                pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
            found += [ancestors[0]] if of in ancestors else []
        except OSError:
            continue
    return found


@POSIX
def test_ray(one_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray", reason="RAY WAS NOT TRIED: it is not installed")
    glr = pytest.importorskip("goldilocks_cbt.ray")
    # A token would be written into the home folder.
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    killed: list[int] = []

    def longest(batch: list[gl.Question]) -> list[list[int]]:
        return [[len(candidate) for candidate in question.candidates] for question in batch]

    def kill() -> None:
        end = time.monotonic() + 60
        while not killed and time.monotonic() < end:
            for worker in at_work(os.getpid())[:1]:
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=80 << 20)
    try:
        plan = planned(tmp_path / "set")
        killer = threading.Thread(target=kill)
        killer.start()
        merged = glr.build(plan)
        killer.join()
        assert killed, "no worker was found at its work"
        assert merged["questions"] == 8064
        (tmp_path / "stats.json").write_text(json.dumps(glr.stats(plan.folder)))
        for method in METHODS:
            paths = glr.answer(one_machine / method, plan.folder, tmp_path / f"{method}.answers", name=method)
            assert paths == glr.answer(one_machine / method, plan.folder, tmp_path / f"{method}.answers")
        glr.answer(longest, plan.folder, tmp_path / "longest", split="test", batch_size=100)
    finally:
        ray.shutdown()
    check(tmp_path, one_machine)
    assert gl.evaluate(tmp_path / "longest", plan.folder)["all"].n == 1200


# The tasks of Sail without a cluster of Kubernetes are threads of one process: a kill takes all of them, and the driver.
ON_SAIL = textwrap.dedent(
    """
    import json, pathlib, sys, warnings
    warnings.simplefilter("ignore")
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession
    import goldilocks_cbt.spark as gls

    place, models, methods = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    server = SparkConnectServer()
    server.start()
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate()
    print(gls.build(spark, place / "set")["questions"])
    (place / "stats.json").write_text(json.dumps(gls.stats(spark, place / "set")))
    for method in methods:
        gls.answer(spark, models / method, place / "set", place / f"{method}.answers")
    """
)


@POSIX
def test_spark_on_sail(one_machine: Path, tmp_path: Path) -> None:
    pytest.importorskip("pysail", reason="SPARK WAS NOT TRIED: pysail is not installed")
    pytest.importorskip("pyspark", reason="SPARK WAS NOT TRIED: pyspark is not installed")
    plan = planned(tmp_path / "set")
    # PySpark wants a program in a file.
    (tmp_path / "job.py").write_text(ON_SAIL)
    command = [sys.executable, tmp_path / "job.py", tmp_path, one_machine, *METHODS]
    receipts = tmp_path / "set" / "receipts"
    job = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not any(receipts.glob("*.toml")) and job.poll() is None and time.monotonic() < end:
        time.sleep(0.002)
    job.kill()
    assert job.wait() == -signal.SIGKILL, "the job was killed before its end"
    built = {path.name: path.stat().st_mtime_ns for path in receipts.glob("[0-9]*.toml")}
    assert 0 < len(built) < len(plan), "the job was killed in its midst"
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "8064\n", done.stderr
    check(tmp_path, one_machine)
