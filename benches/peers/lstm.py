"""The LSTM language model of §4.4 in PyTorch: the peer that `neural` is timed against.

The same network, loss, clipping and optimiser, written as one would write them, with what PyTorch has to be fast:
cuDNN's LSTM, fused SGD, and on a GPU TF32 and a CUDA graph of the whole step.

    python3 benches/peers/lstm.py cpu|cuda [--streams 64] [--steps 35] [--words 53628] [--units 512] [--seconds 10]

Prints one line of JSON: tokens a second, milliseconds a step by the clock and of processor time, and the loss of the
first and the last step.
"""

import argparse
import json
import time

import torch
from torch import nn


class LanguageModel(nn.Module):
    def __init__(self, words, units):
        super().__init__()
        self.embedding = nn.Embedding(words, units)
        self.lstm = nn.LSTM(units, units)
        self.output = nn.Linear(units, words)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.08, 0.08)

    def forward(self, words, targets, state):
        hidden, state = self.lstm(self.embedding(words), state)
        scores = self.output(hidden.flatten(0, 1))
        loss = nn.functional.cross_entropy(scores, targets.flatten(), reduction="sum")
        return loss, state


class Trainer:
    def __init__(self, options):
        device = options.device
        self.model = LanguageModel(options.words, options.units).to(device)
        self.optimiser = torch.optim.SGD(self.model.parameters(), lr=0.5, fused=device == "cuda" or None)
        shape = (1, options.streams, options.units)
        self.state = tuple(torch.zeros(shape, device=device) for _ in range(2))
        self.words = torch.zeros(options.steps, options.streams, dtype=torch.long, device=device)
        self.targets = torch.zeros_like(self.words)
        self.streams = options.streams

    def step(self):
        self.optimiser.zero_grad(set_to_none=True)
        loss, state = self.model(self.words, self.targets, self.state)
        (loss / self.streams).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimiser.step()
        for old, new in zip(self.state, state):
            old.copy_(new.detach())
        return loss.detach()

    def recorded(self):
        """The step as a CUDA graph."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = self.step()

        def replay():
            graph.replay()
            return loss

        return replay


def text(options):
    """Words by Zipf's law: the logarithm of the rank is uniform."""
    n = options.steps * options.streams
    drawn = options.words ** torch.rand(n + 1, dtype=torch.float64)
    words = drawn.long().sub(1).clamp(0, options.words - 1)
    shape = (options.steps, options.streams)
    return words[:n].view(shape).to(options.device), words[1:].view(shape).to(options.device)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("device", choices=["cpu", "cuda"])
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--steps", type=int, default=35)
    parser.add_argument("--words", type=int, default=53628)
    parser.add_argument("--units", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.manual_seed(1)
    trainer = Trainer(options)
    windows = [text(options) for _ in range(2)]
    step = trainer.recorded() if options.device == "cuda" else trainer.step
    losses, started, n_steps = [], None, 0
    while started is None or time.perf_counter() - started < options.seconds:
        if n_steps == 2:
            started, busy = time.perf_counter(), time.process_time()
        for target, source in zip((trainer.words, trainer.targets), windows[n_steps % 2]):
            target.copy_(source)
        # The loss is read each step, as training reads it.
        losses.append(step().item())
        n_steps += 1
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    n_tokens = options.steps * options.streams
    print(json.dumps({
        "peer": f"PyTorch {torch.__version__}",
        "tokens_per_second": (n_steps - 2) * n_tokens / seconds,
        "milliseconds": 1000 * seconds / (n_steps - 2),
        "processor_milliseconds": 1000 * busy / (n_steps - 2),
        "first_loss": losses[0] / n_tokens,
        "last_loss": losses[-1] / n_tokens,
    }))


main()
