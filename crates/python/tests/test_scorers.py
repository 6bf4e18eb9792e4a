"""Python functions as models."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import goldilocks_cbt as gl
import pytest
from conftest import longest


def test_any_function_answers(few: gl.Questions) -> None:
    predictions = gl.answer(longest, few, split="test", batch_size=7)
    test = few.filter(split="test")
    assert predictions.name == "longest" and len(predictions) == len(test)
    for question, prediction in zip(test, predictions):
        assert prediction["id"] == question.id and prediction["answer"] == question.answer
        assert len(prediction["predicted"]) == max(map(len, question.candidates))


def test_a_scorer_sees_no_answer_and_the_controls(few: gl.Questions) -> None:
    seen: list[gl.Question] = []

    def scorer(batch: list[gl.Question]) -> list[list[int]]:
        seen.extend(batch)
        return longest(batch)

    gl.answer(scorer, few[:3], controls=["query_only"])
    assert [question.context for question in seen] == [[], [], []]
    for what in ("answer", "word_class"):
        with pytest.raises(AttributeError, match="a scorer does not see"):
            getattr(seen[0], what)
    gl.answer(scorer, few[:1], controls=[("last_sentences", 2)])
    assert seen[-1].context == few[0].context[-2:]
    with pytest.raises(ValueError, match="expected one of `query_only`"):
        gl.answer(scorer, few, controls="querry_only")


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        (lambda batch: [[1.0] * 9 for _ in batch], ValueError, "10"),
        (lambda batch: [[float("nan")] * 10 for _ in batch], ValueError, "finite"),
        (lambda batch: [[1.0] * 10], ValueError, "expected 64 lists of scores"),
        (lambda batch: None, TypeError, "a list with a list per question"),
        (lambda batch: [["a"] * 10 for _ in batch], TypeError, "scores of question 1 of the batch: expected a list"),
        (lambda batch: [3.0 for _ in batch], TypeError, "scores of question 1 of the batch"),
    ],
)
def test_wrong_scores_are_refused(few: gl.Questions, scores: object, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        gl.answer(scores, few)


def test_what_was_answered_before_an_exception_is_kept(few: gl.Questions, tmp_path: Path) -> None:
    out, calls = tmp_path / "mine.jsonl", []

    def fails(batch: list[gl.Question]) -> list[list[int]]:
        calls.append(len(batch))
        if len(calls) == 3:
            raise ZeroDivisionError("the model is tired")
        return longest(batch)

    with pytest.raises(ZeroDivisionError, match="the model is tired"):
        gl.answer(fails, few, batch_size=50, out=out, name="mine")
    assert not out.exists()
    predictions = gl.answer(fails, few, batch_size=50, out=out, name="mine")
    assert calls == [50, 50, 50, 50, 50, 2], "the two batches that were answered are not asked for again"
    plain = gl.answer(longest, few)
    assert [dict(row) for row in predictions] == [dict(row) for row in plain]
    with pytest.raises(FileExistsError):
        gl.answer(longest, few, out=out)


def test_a_killed_scorer_resumes(few: gl.Questions, tmp_path: Path) -> None:
    few.write(tmp_path / "few")
    program = textwrap.dedent(
        """
        import os, sys, goldilocks_cbt as gl
        done = 0
        def mine(batch):
            global done
            done += len(batch)
            if sys.argv[1] == "die" and done > 100:
                os.kill(os.getpid(), 9)
            return [[len(c) for c in q.candidates] for q in batch]
        gl.answer(mine, gl.open("few"), batch_size=20, out="mine.jsonl")
        print(done)
        """
    )
    run = lambda how: subprocess.run(  # noqa: E731
        [sys.executable, "-c", program, how], cwd=tmp_path, capture_output=True, text=True
    )
    assert run("die").returncode == -signal.SIGKILL
    assert run("live").stdout == "102\n"
    assert len(gl.read_predictions(tmp_path / "mine.jsonl")) == 202


def test_arrays_are_scores(few: gl.Questions) -> None:
    numpy = pytest.importorskip("numpy")
    as_lists = gl.answer(longest, few)
    as_array = gl.answer(lambda batch: numpy.array(longest(batch), dtype="float32"), few)
    of_arrays = gl.answer(lambda batch: [numpy.array(scores) for scores in longest(batch)], few)
    assert list(as_lists) == list(as_array) == list(of_arrays)


def test_a_question_costs_a_scorer_little(tales: gl.Questions) -> None:
    scores = [[0.0] * 9 + [1.0]] * 64
    tales[0].id
    started = time.process_time()
    predictions = gl.answer(lambda batch: scores[: len(batch)], tales)
    microseconds = 1e6 * (time.process_time() - started) / len(predictions)
    # 20 µs in a release build; a wheel that is built for tests is slower.
    assert microseconds < 100, microseconds
    print(f"{microseconds:.1f} µs a question")


def test_figures_of_predictions(tales: gl.Questions, few: gl.Questions, model: gl.Model, tmp_path: Path) -> None:
    ours = model.answer(few, split="test", progress=lambda *_: None)
    mine = gl.answer(longest, few, split="test")
    evaluation = gl.evaluate(ours, few.filter(split="test"))
    assert evaluation["all"].n == len(ours) and "<table>" in evaluation._repr_html_()
    assert len(gl.evaluate([ours, mine]).tables) == 2
    with pytest.raises(ValueError):
        gl.evaluate(ours, few.filter(split="valid"))
    comparison = gl.compare(ours, mine)
    assert comparison["all"].n == len(ours) and "p = " in str(comparison)
    both, weights = gl.combine([ours, mine], name="both")
    assert weights is None and (both.name, len(both)) == ("both", len(ours))
    valid = [model.answer(few, split="valid"), gl.answer(longest, few, split="valid")]
    fitted, weights = gl.combine([ours, mine], fit=valid)
    assert weights is not None and (len(weights), len(fitted)) == (2, len(ours))
    _, weights = gl.combine([ours, mine], fit=valid, by_class=True)
    assert {name: len(of_class) for name, of_class in weights.items()} == {"NE": 2, "CN": 2, "V": 2, "P": 2}
    with pytest.raises(ValueError, match="expected predictions to fit on"):
        gl.combine([ours, mine], by_class=True)
    table = gl.report([ours, mine], few, tmp_path / "report", title="a few questions")
    assert "longest" in table and (tmp_path / "report" / "index.html").exists()
    assert gl.stats(few)["statistics"]["splits"][0]["split"] == "train"
    ours.write(tmp_path / "ours.jsonl")
    assert list(gl.read_predictions(tmp_path / "ours.jsonl")) == list(ours)
    assert ours.filter(word_class="V")[0]["class"] == "V" and ours[-1] == ours[len(ours) - 1]


def test_a_model_explains_itself(few: gl.Questions) -> None:
    model = gl.train("memnn-window", few, settings={"dim": 4, "epochs": 1})
    explanation = model.explain(few[0])
    assert explanation._repr_html_().startswith("<svg") and "XXXXX" not in str(explanation)
    assert explanation.data["id"] == few[0].id and len(list(model.score(few[0]))) == 10


def test_a_table_is_reproduced(tmp_path: Path) -> None:
    told: list[tuple[int, int | None, str]] = []
    text = gl.reproduce("table-2", tmp_path / "table", only="word-distance", progress=lambda *how: told.append(how))
    assert "Word distance model" in text and (tmp_path / "table" / "report" / "index.html").exists()
    with pytest.raises(ValueError, match="the tables are"):
        gl.reproduce("table-9")


def test_a_server_that_is_not_there(few: gl.Questions) -> None:
    with pytest.raises(gl.Error, match="127.0.0.1:9"):
        gl.server("http://127.0.0.1:9")
    with pytest.raises(ValueError, match="budget"):
        gl.server("https://example.com")
    assert os.environ.get("GOLDILOCKS_API_KEY") is None or few
