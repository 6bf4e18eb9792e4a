"""Examples of docstrings and documents run."""

import doctest
import importlib
import inspect
from pathlib import Path

import goldilocks_cbt as gl
import pytest

MODULES = ["", "._figures", "._models", "._predictions", "._questions", "._shards", "._texts"]
REPOSITORY = Path(__file__).parents[3]
DOCS = REPOSITORY / "docs" / "python.md"


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name: str) -> None:
    module = importlib.import_module(f"goldilocks_cbt{name}")
    failed, tried = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert tried > 0 and failed == 0


def test_everything_is_documented() -> None:
    for name in gl.__all__:
        thing = getattr(gl, name)
        assert inspect.getdoc(thing), name
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            if not member.startswith("_") and callable(value):
                assert inspect.getdoc(value), f"{name}.{member}"


@pytest.mark.skipif(not DOCS.exists(), reason="the tests are not in a clone of the repository")
def test_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(DOCS), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried > 15 and failed == 0
    text = DOCS.read_text(encoding="utf-8")
    missing = [name for name in gl.__all__ if f"`{name}" not in text and f"gl.{name}" not in text]
    assert not missing


@pytest.mark.skipif(not DOCS.exists(), reason="the tests are not in a clone of the repository")
def test_the_first_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = (REPOSITORY / "README.md").read_text(encoding="utf-8").split("```python\n")[1:]
    for block in blocks:
        exec(block.split("```")[0], {})
    assert "mine.jsonl, valid" in capsys.readouterr().out and len(blocks) == 1
