"""A causal language model of Hugging Face takes the test: the sum of its log-probabilities of each filled-in text.

    python transformers_scorer.py MODEL [QUESTIONS]
"""

import sys

import goldilocks_cbt as gl
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


class Scorer:
    """Scores candidates by the log-probability of the query, given the passage."""

    def __init__(self, name: str) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(name, truncation_side="left")
        self.model = AutoModelForCausalLM.from_pretrained(name).eval()

    def log_probability(self, text: str) -> float:
        tokens = self.tokenizer(text, return_tensors="pt", truncation=True).input_ids
        with torch.no_grad():
            logits = self.model(tokens).logits[0, :-1].log_softmax(-1)
        return logits.gather(1, tokens[0, 1:, None]).sum().item()

    def __call__(self, batch: list[gl.Question]) -> list[list[float]]:
        return [[self.log_probability(q.fill(c)) for c in q.candidates] for q in batch]


if __name__ == "__main__":
    questions = gl.open(sys.argv[2]) if len(sys.argv) > 2 else gl.build()
    name = sys.argv[1].rstrip("/").split("/")[-1]
    answers = gl.answer(
        Scorer(sys.argv[1]), questions, split="valid", sample=5, batch_size=1, name=name, out=f"{name}.jsonl"
    )
    print(gl.evaluate(answers))
