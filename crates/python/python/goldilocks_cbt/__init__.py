"""The Children's Book Test: build it from any books, answer it with any model, see who reads well.

>>> import goldilocks_cbt as gl
>>> questions = gl.build(seed=1)                      # from the tales that the package carries
>>> model = gl.train("word-distance", questions)
>>> predictions = model.answer(questions, split="valid")
>>> print(gl.evaluate(predictions))
word-distance, valid
  Named Entities  0.266  0.210–0.330  n = 207
  Common Nouns    0.251  0.188–0.327  n = 146
  Verbs           0.517  0.451–0.581  n = 222
  Prepositions    0.190  0.158–0.227  n = 487
  All             0.282  0.255–0.309  n = 1,062
"""

from goldilocks_cbt import _native
from goldilocks_cbt._errors import DeviceError, Error, ExistsError, InputError, IoError, NotFoundError
from goldilocks_cbt._figures import (
    Accuracy,
    Comparison,
    Difference,
    Evaluation,
    combine,
    compare,
    evaluate,
    report,
    stats,
)
from goldilocks_cbt._models import Explanation, Model, Server, answer, load, models, server, train
from goldilocks_cbt._native import Question
from goldilocks_cbt._predictions import Predictions, read_predictions
from goldilocks_cbt._questions import Books, Questions, build, open, read_books
from goldilocks_cbt._shards import Plan, Shard, Shards, plan
from goldilocks_cbt._texts import Word, convert, reproduce, tag

__version__: str = _native.version

__all__ = [
    "Accuracy",
    "Books",
    "Comparison",
    "DeviceError",
    "Difference",
    "Error",
    "Evaluation",
    "ExistsError",
    "Explanation",
    "InputError",
    "IoError",
    "Model",
    "NotFoundError",
    "Plan",
    "Predictions",
    "Question",
    "Questions",
    "Server",
    "Shard",
    "Shards",
    "Word",
    "answer",
    "build",
    "combine",
    "compare",
    "convert",
    "evaluate",
    "load",
    "models",
    "open",
    "plan",
    "read_books",
    "read_predictions",
    "report",
    "reproduce",
    "server",
    "stats",
    "tag",
    "train",
]
