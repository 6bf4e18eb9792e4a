"""A causal language model of Hugging Face takes the test: log-probabilities of the query with each candidate in its blank.

    python transformers_scorer.py MODEL [QUESTIONS]
"""

import sys

import goldilocks_cbt as gl
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


class Scorer:
    """Reads the tokens that the ten texts share once, then the ten endings beside each other."""

    def __init__(self, name: str) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32).eval()

    @torch.inference_mode()
    def score(self, question: gl.Question) -> list[float]:
        texts = self.tokenizer([question.fill(c) for c in question.candidates]).input_ids
        end = next(n for n, tokens in enumerate(zip(*texts)) if len(set(tokens)) > 1)
        start = max(0, max(map(len, texts)) - self.model.config.max_position_embeddings)
        begun = self.model(torch.tensor([texts[0][start:end]]), logits_to_keep=1)
        begun.past_key_values.batch_repeat_interleave(len(texts))
        rest = torch.nn.utils.rnn.pad_sequence([torch.tensor(text[end:]) for text in texts], True, -1)
        logits = self.model(rest.clamp(0), past_key_values=begun.past_key_values).logits[:, :-1]
        log_probs = torch.cat([begun.logits.expand(len(texts), 1, -1), logits], 1).log_softmax(-1)
        return (log_probs.gather(2, rest.clamp(0)[..., None])[..., 0] * (rest >= 0)).sum(1).tolist()

    def __call__(self, batch: list[gl.Question]) -> list[list[float]]:
        return [self.score(question) for question in batch]


if __name__ == "__main__":
    asked, name = gl.open(sys.argv[2]) if len(sys.argv) > 2 else gl.build(), sys.argv[1].rstrip("/").split("/")[-1]
    answers = gl.answer(Scorer(sys.argv[1]), asked, split="valid", sample=5, batch_size=1, name=name, out=f"{name}.jsonl")
    print(gl.evaluate(answers))
