"""Ctrl-C, threads, forks and pickles."""

import os
import pickle
import random
import signal
import sys
import threading
import time
from typing import Any

import goldilocks_cbt as gl
import pytest
from conftest import longest

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks of POSIX")


def library(n_books: int) -> dict[str, str]:
    """Books long enough to work on for seconds."""
    draw = random.Random(1)
    nouns = "hen fox garden cup kettle river miller tower goose lamp basket king".split()
    verbs = "saw gave found carried lost asked followed".split()

    def sentence() -> str:
        return f"{draw.choice(['Tom', 'Anna', 'Robin'])} {draw.choice(verbs)} the {draw.choice(nouns)} in the {draw.choice(nouns)} ."

    return {f"book {i}": " ".join(sentence() for _ in range(20_000)) for i in range(n_books)}


def interrupted(work: Any) -> float:
    """Sends SIGINT while some work is done; returns how long it took to stop."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        timer.cancel()
    return time.monotonic() - sent[0]


@POSIX
def test_ctrl_c_stops_a_build_a_training_and_a_scorer(tales: gl.Questions) -> None:
    books = library(30)
    # It takes about 0.2 s; each of these would take minutes, so that a busy machine is no reason to fail.
    limit = 10
    assert interrupted(lambda: gl.build(books)) < limit
    settings = {"dim": 300, "epochs": 1000, "patience": 1000}
    assert interrupted(lambda: gl.train("memnn-window-selfsup", tales, settings=settings)) < limit

    def slow(batch: list[gl.Question]) -> list[list[int]]:
        time.sleep(0.02)
        return longest(batch)

    assert interrupted(lambda: gl.answer(slow, tales, batch_size=1)) < limit
    # What was interrupted leaves nothing behind that is in the way.
    assert len(gl.build(seed=1)) == 8064


def test_other_threads_run_meanwhile(tales: gl.Questions) -> None:
    ticks, is_done = [0], threading.Event()

    def tick() -> None:
        while not is_done.wait(0.005):
            ticks[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    started = time.monotonic()
    gl.stats(tales)
    gl.build(seed=2)
    seconds = time.monotonic() - started
    is_done.set()
    thread.join()
    assert ticks[0] > 20 * seconds, (ticks, seconds)


def test_work_is_done_on_another_thread_too() -> None:
    built: list[gl.Questions] = []
    thread = threading.Thread(target=lambda: built.append(gl.build(seed=1)))
    thread.start()
    thread.join()
    assert len(built[0]) == 8064


def test_progress_is_told_on_the_calling_thread() -> None:
    told: list[tuple[Any, ...]] = []
    gl.build(library(3), progress=lambda *how: told.append((threading.get_ident(), *how)), threads=1)
    assert told and {one[0] for one in told} == {threading.get_ident()}
    # Looking for near-copies has no steps.
    assert {one[2] for one in told} - {None} == {3} and told[-1][1] <= 3 and told[0][3].startswith("build")

    def fails(*_: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        gl.build(library(3), progress=fails, threads=1)


@POSIX
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_works(few: gl.Questions) -> None:
    # The threads of the parent are at work before the fork, and not in the child.
    network = gl.train("lstm-query", few, settings={"dim": 4, "epochs": 1})
    expected = [row["scores"] for row in network.answer(few, split="test")]
    child = os.fork()
    if child == 0:
        code = 1
        try:
            answers = [row["scores"] for row in network.answer(few, split="test", threads=2)]
            same = answers == expected and len(gl.build(seed=1)) == 8064
            same = same and len(gl.answer(longest, few)) == len(few) and gl.stats(few) is not None
            gl.train("memnn-window", few, settings={"dim": 4, "epochs": 1})
            code = 0 if same else 2
        finally:
            os._exit(code)
    deadline = time.monotonic() + 60
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the child hangs")
        time.sleep(0.02)
    assert os.waitstatus_to_exitcode(ended[1]) == 0


def test_pickles(tales: gl.Questions, few: gl.Questions, model: gl.Model) -> None:
    copy = pickle.loads(pickle.dumps(tales))
    assert copy.fingerprint == tales.fingerprint and copy[9].id == tales[9].id
    some = pickle.loads(pickle.dumps(few))
    assert [q.id for q in some] == [q.id for q in few] and some.counts == few.counts
    question = pickle.loads(pickle.dumps(few[5]))
    for what in ("id", "context", "query", "candidates", "answer", "word_class", "split", "book"):
        assert getattr(question, what) == getattr(few[5], what), what
    predictions = model.answer(few, split="test")
    again = pickle.loads(pickle.dumps(predictions))
    assert list(again) == list(predictions) and again.name == predictions.name
    network = gl.train("memnn-window", few, settings={"dim": 4, "epochs": 1})
    for trained in (model, network):
        carried = pickle.loads(pickle.dumps(trained))
        assert carried.settings == trained.settings
        assert list(carried.answer(few)) == list(trained.answer(few))
    error = pickle.loads(pickle.dumps(gl.InputError("what", "do")))
    assert (str(error), error.hint) == ("what\nhint: do", "do")


def test_a_pool_of_processes(few: gl.Questions, model: gl.Model) -> None:
    import concurrent.futures
    import multiprocessing

    parts = [few[:100], few[100:]]
    # The program that spawns must be a file: a child imports it.
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        answered = list(pool.map(model.answer, parts))
    assert sum(map(len, answered)) == len(few)
