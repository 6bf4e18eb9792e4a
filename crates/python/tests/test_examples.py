"""The examples run from top to bottom."""

import runpy
from pathlib import Path

import goldilocks_cbt as gl
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_the_tour(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    for needed in ("ipykernel", "polars"):
        pytest.importorskip(needed)
    notebook = nbformat.read(EXAMPLES / "tour.ipynb", as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = [output.data for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    pages = [data["text/html"] for data in shown if "text/html" in data]
    assert any(page.startswith("<svg") for page in pages), "the picture of what the model looked at"
    assert sum("<table" in page for page in pages) >= 3, "the table of polars, the evaluation, the comparison"


def test_a_causal_model_of_transformers(few: gl.Questions, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="THE TRANSFORMERS EXAMPLE DID NOT RUN: not installed")
    pytest.importorskip("torch", reason="THE TRANSFORMERS EXAMPLE DID NOT RUN: torch is not installed")
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    # A model of one layer and words of one letter, whose contexts hold the query: only that it runs.
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator([], trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet))
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=1024)
    fast.save_pretrained(tmp_path / "tiny")
    config = transformers.GPT2Config(vocab_size=300, bos_token_id=0, eos_token_id=0, n_positions=1024, n_embd=16, n_layer=1, n_head=2)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "tiny")
    example = runpy.run_path(str(EXAMPLES / "transformers_scorer.py"))
    predictions = gl.answer(example["Scorer"](tmp_path / "tiny"), few[:3], batch_size=2)
    assert len(predictions) == 3 and len(set(predictions[0]["scores"])) > 1
