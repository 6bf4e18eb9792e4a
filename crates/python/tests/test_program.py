"""The program inside the package; the same bytes from both."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import goldilocks_cbt as gl
import pytest

# With these every method learns in a moment.
SMALL = {"dim": 8, "epochs": 1, "steps": 20, "max_words": 100, "max_memories": 10}


def goldilocks(*arguments: str, cwd: Path) -> str:
    """Runs the program; returns what it prints."""
    command = [sys.executable, "-m", "goldilocks_cbt", *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_program_is_inside(tmp_path: Path) -> None:
    assert goldilocks("--version", cwd=tmp_path).strip() == f"goldilocks {gl.__version__}"
    script = Path(sys.executable).with_name("goldilocks")
    assert not script.exists() or subprocess.run([script, "models"], capture_output=True).returncode == 0
    wrong = subprocess.run([sys.executable, "-m", "goldilocks_cbt", "bild"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "build" in wrong.stderr


def test_both_build_the_same_bytes(tmp_path: Path) -> None:
    goldilocks("build", "-o", "program", "--seed", "3", "--context", "10", cwd=tmp_path)
    gl.build(seed=3, rules={"context_sentences": 10}).write(tmp_path / "package")
    files = sorted(path.name for path in (tmp_path / "program").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "package").iterdir())
    for name in files:
        assert (tmp_path / "program" / name).read_bytes() == (tmp_path / "package" / name).read_bytes(), name


@pytest.fixture(scope="session")
def folder(few: gl.Questions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    few.write(folder / "few")
    return folder


@pytest.mark.parametrize("method", gl.models())
def test_both_answer_the_same_bytes(method: str, folder: Path) -> None:
    settings: dict[str, Any] = {key: SMALL[key] for key in SMALL if key in gl.models()[method]["settings"]}
    typed = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    goldilocks("train", method, "few", "-o", method, "--device", "cpu", *typed, cwd=folder)
    goldilocks("answer", method, "few", "-o", f"{method}.jsonl", "--device", "cpu", cwd=folder)
    questions = gl.open(folder / "few")
    model = gl.train(method, questions, settings=settings, device="cpu")
    model.answer(questions, split=["valid", "test"], out=folder / f"{method}.own.jsonl")
    expected = (folder / f"{method}.jsonl").read_bytes()
    assert (folder / f"{method}.own.jsonl").read_bytes() == expected
    loaded = gl.load(folder / method, device="cpu").answer(questions, split=["valid", "test"])
    loaded.write(folder / f"{method}.loaded.jsonl")
    assert (folder / f"{method}.loaded.jsonl").read_bytes() == expected
