"""The LSTM language model of §4.4 in PyTorch: the peer that `neural` is timed against.

The same network, loss, clipping and optimiser, written as one would write them, with what PyTorch has to be fast:
cuDNN's LSTM, fused SGD, and on a GPU TF32 and a CUDA graph of the whole step.

    python3 benches/peers/lstm.py cpu|cuda [--streams 64] [--steps 35] [--words 53628] [--units 512] [--seconds 10]

Prints one line of JSON: tokens a second, milliseconds a step by the clock and of processor time, and the loss of the
first and the last step.
"""

import argparse

import torch
from torch import nn

from measure import measure, options_of


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
        words = torch.zeros(options.steps, options.streams, dtype=torch.long, device=device)
        self.batch = (words, torch.zeros_like(words))
        self.streams = options.streams

    def step(self):
        self.optimiser.zero_grad(set_to_none=True)
        loss, state = self.model(*self.batch, self.state)
        (loss / self.streams).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimiser.step()
        for old, new in zip(self.state, state):
            old.copy_(new.detach())
        return loss.detach()


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
    options = options_of(parser)
    measure(Trainer(options), [text(options) for _ in range(2)], options.steps * options.streams, options)


main()
