"""Questions and a model that many tests share."""

import goldilocks_cbt as gl
import pytest


@pytest.fixture(scope="session")
def tales() -> gl.Questions:
    return gl.build(seed=1)


@pytest.fixture(scope="session")
def few(tales: gl.Questions) -> gl.Questions:
    """Every fortieth question: all splits and classes."""
    return tales.select(range(0, len(tales), 40))


@pytest.fixture(scope="session")
def model(few: gl.Questions) -> gl.Model:
    return gl.train("word-distance", few)


def longest(batch: list[gl.Question]) -> list[list[int]]:
    """A scorer: long candidates are good."""
    return [[len(candidate) for candidate in question.candidates] for question in batch]
