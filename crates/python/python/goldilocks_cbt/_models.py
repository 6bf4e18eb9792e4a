"""Models: those of the paper, language models on servers, and any Python function."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from goldilocks_cbt import _native
from goldilocks_cbt._native import Question
from goldilocks_cbt._predictions import Predictions
from goldilocks_cbt._questions import Questions
from goldilocks_cbt._work import Controls, Names, Path, Progress, answering, settings_text, work


class Model:
    """A trained model of the paper. Pickled models carry their weights."""

    def __init__(self, native: _native.ModelHandle) -> None:
        if not isinstance(native, _native.ModelHandle):
            raise TypeError("make a model with `train` or `load`")
        self._native = native

    @property
    def name(self) -> str:
        """The name of its method."""
        return self._native.name

    @property
    def settings(self) -> dict[str, str]:
        """All settings, those that were left out included."""
        return self._native.settings

    @property
    def seed(self) -> int:
        """The seed that it was trained with."""
        return self._native.seed

    def answer(
        self,
        questions: Questions,
        *,
        split: Names = None,
        controls: Controls = None,
        sample: int | None = None,
        seed: int = 1,
        name: str | None = None,
        out: Path | None = None,
        overwrite: bool = False,
        progress: Progress = None,
        threads: int | None = None,
    ) -> Predictions:
        """Answers the questions of some splits, or all.

        `out` is written as answers come, and the same call resumes what was interrupted. `controls` takes something
        away first: `query_only`, `context_only`, `shuffle_sentences`, `rename_entities`, `("last_sentences", 3)`.
        `sample` answers at most so many of each split and class.

        >>> import goldilocks_cbt as gl
        >>> questions = gl.build(seed=1)
        >>> model = gl.train("max-frequency-context", questions)
        >>> model.answer(questions, split="test", controls="query_only", sample=50)
        Predictions(200 of max-frequency-context)
        """
        how = answering(split, controls, sample, seed, name or self.name, out, overwrite)
        return Predictions(_native.answer(self._native, _native_of(questions), how, work(progress, threads)))

    def score(self, question: Question) -> Any:
        """The score of each candidate of a question: an array of numpy where that is installed, else a list.

        >>> import goldilocks_cbt as gl
        >>> questions = gl.build(seed=1)
        >>> len(gl.train("word-distance", questions).score(questions[0]))
        10
        """
        scores = self._native.score(question)
        try:
            import numpy
        except ImportError:
            return scores
        return numpy.array(scores, dtype=numpy.float32)

    def explain(self, question: Question, *, seed: int = 1) -> Explanation:
        """What the model looked at in a question; a notebook draws it."""
        return Explanation(*self._native.explain(question, seed))

    def save(self, folder: Path, *, overwrite: bool = False) -> None:
        """Saves the model's folder, which `load` and the program read."""
        self._native.save(os.fspath(folder), overwrite)

    def __repr__(self) -> str:
        settings = "".join(f", {key}={value}" for key, value in self.settings.items())
        return f"Model({self.name}{settings}, seed={self.seed})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _model_of_state, (self._native.state(),)


def _model_of_state(state: dict[str, bytes]) -> Model:
    return Model(_native.ModelHandle.of_state(state))


class Explanation:
    """What a model looked at before it answered: `text`, `svg` and `html`, and `data` as the program's `--json`."""

    def __init__(self, text: str, svg: str, html: str, data: str) -> None:
        self.text, self.svg, self.html = text, svg, html
        self.data: dict[str, Any] = json.loads(data)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        data = self.data
        return f"Explanation({data.get('model')}: {data['candidates'][data['predicted']]})"

    def _repr_html_(self) -> str:
        return self.svg[self.svg.index("<svg") :]


def _native_of(questions: Questions) -> _native.QuestionList:
    if not isinstance(questions, Questions):
        raise TypeError(f"questions: expected Questions, found {type(questions).__name__}")
    return questions._native


def train(
    name: str,
    questions: Questions,
    *,
    settings: Mapping[str, Any] | None = None,
    seed: int = 1,
    device: str = "auto",
    out: Path | None = None,
    overwrite: bool = False,
    progress: Progress = None,
    threads: int | None = None,
) -> Model:
    """Trains a model of the paper on the training split; `models` lists them.

    With `out` the model is saved there, and the same call resumes a training that was stopped. `device` is `auto`,
    `cpu` or `cuda`.

    >>> import goldilocks_cbt as gl
    >>> gl.train("word-distance", gl.build(seed=1), settings={"max_penalty": 5})
    Model(word-distance, max_penalty=5, seed=1)
    """
    teaching = {
        "settings": settings_text(dict(settings or {})),
        "seed": seed,
        "device": device,
        "out": None if out is None else os.fspath(out),
        "overwrite": overwrite,
    }
    return Model(_native.train(name, _native_of(questions), teaching, work(progress, threads)))


def load(folder: Path, *, device: str = "auto") -> Model:
    """Loads a model from the folder that `train`, `save` or the program wrote."""
    return Model(_native.load(os.fspath(folder), device, work()))


def models() -> dict[str, dict[str, Any]]:
    """The methods that can be trained, with their settings.

    >>> import goldilocks_cbt as gl
    >>> gl.models()["word-distance"]["settings"]["max_penalty"]["expected"]
    'a whole number from 1 to 1000 or `auto`'
    """
    return {method.pop("name"): method for method in json.loads(_native.methods())}


class Server:
    """A language model on a server, which was probed."""

    def __init__(self, native: _native.ServerHandle) -> None:
        self._native = native

    @property
    def name(self) -> str:
        """The model, as the server names it."""
        return self._native.name

    def answer(
        self,
        questions: Questions,
        *,
        split: Names = None,
        controls: Controls = None,
        sample: int | None = None,
        seed: int = 1,
        name: str | None = None,
        out: Path | None = None,
        overwrite: bool = False,
        progress: Progress = None,
    ) -> Predictions:
        """As `Model.answer`; with `out`, what the server said is kept next to it and asked once."""
        how = answering(split, controls, sample, seed, name or self.name, out, overwrite)
        return Predictions(self._native.answer(_native_of(questions), how, work(progress)))


def server(
    address: str,
    *,
    settings: Mapping[str, Any] | None = None,
    in_flight: int | None = None,
    budget: int | None = None,
    timeout: int = 120,
) -> Server:
    """Connects to a server with a language model, `http://HOST:PORT`, and probes it.

    A server on another machine needs a `budget` of tokens. Keys come from the environment: `GOLDILOCKS_API_KEY`,
    `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`. `settings` are scoring, method, text, rotations and untrained.
    """
    keys = tuple(os.environ.get(key) or None for key in ("GOLDILOCKS_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"))
    asking = {
        "settings": settings_text(dict(settings or {})),
        "in_flight": in_flight,
        "budget": budget,
        "timeout": timeout,
        "keys": keys,
    }
    return Server(_native.connect(address, asking, work()))


def answer(
    scorer: Callable[[list[Question]], Sequence[Sequence[float]]],
    questions: Questions,
    *,
    batch_size: int = 64,
    split: Names = None,
    controls: Controls = None,
    sample: int | None = None,
    seed: int = 1,
    name: str | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    progress: Progress = None,
) -> Predictions:
    """Answers questions by any Python function: a list of questions in, one list of scores per question out.

    A score is a finite number per candidate, the higher the better; arrays of numpy and torch will do. A scorer sees
    neither the answer of a question nor its class. With `out` predictions are written as they come, and the same call
    resumes: an exception in the scorer, or a kill, loses at most a batch.

    >>> import goldilocks_cbt as gl
    >>> def last_mention(batch):
    ...     places = lambda q: {w: i for i, w in enumerate(" ".join(q.context).split())}
    ...     return [[places(q).get(c, -1) for c in q.candidates] for q in batch]
    >>> gl.answer(last_mention, gl.build(seed=1), split="test")
    Predictions(1,200 of last_mention)
    """
    if not callable(scorer):
        raise TypeError(f"scorer: expected a function, found {type(scorer).__name__}")
    called = name or str(getattr(scorer, "__name__", type(scorer).__name__))
    how = answering(split, controls, sample, seed, called, out, overwrite)
    return Predictions(_native.answer_by(scorer, _native_of(questions), batch_size, how, work(progress)))
