"""The contextual LSTM of §4.4 and the lexical memory of §3 in PyTorch: the peers that `neural` is timed against.

The same networks, losses, clipping and optimiser, written as one would write them, with what PyTorch has to be fast:
cuDNN's LSTM, batched products, fused SGD, and on a GPU TF32 and a CUDA graph of the whole step.

    python3 benches/peers/networks.py cpu|cuda contextual|lexical [--batch 128] [--seconds 10]

Prints one line of JSON: tokens a second and the loss of the first and the last step.
"""

import argparse

import torch
from torch import nn

from measure import measure, options_of

WORDS = 53628


def zipf(*shape):
    """Words by Zipf's law: the logarithm of the rank is uniform."""
    return (WORDS ** torch.rand(*shape, dtype=torch.float64)).long().sub(1).clamp(0, WORDS - 1)


class Contextual(nn.Module):
    STREAMS, STEPS, UNITS, CONTEXT, REACH = 64, 35, 256, 768, 2
    RATE, CLIP, SCALE, N = 0.5, 10.0, 1 / 64, 64 * 35

    def __init__(self):
        super().__init__()
        self.embedding, self.context = nn.Embedding(WORDS, self.UNITS), nn.Embedding(WORDS, self.UNITS)
        self.lstm = nn.LSTM(self.UNITS, self.UNITS)
        self.matching = nn.Linear(self.UNITS, self.UNITS, bias=False)
        self.joining = nn.Linear(self.UNITS, self.UNITS, bias=False)
        self.output = nn.Linear(self.UNITS, WORDS)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.08, 0.08)
        shape = (1, self.STREAMS, self.UNITS)
        self.state = nn.ParameterList(nn.Parameter(torch.zeros(shape), requires_grad=False) for _ in range(2))

    def batch(self):
        words = zipf(self.STEPS + 1, self.STREAMS)
        places = torch.arange(self.CONTEXT).view(1, 1, -1)
        first = torch.randint(0, 100, (self.STREAMS, self.STEPS, 1))
        is_seen = (places >= first) & (places < first + 500)
        return words[:-1], words[1:], zipf(self.STREAMS, self.CONTEXT), is_seen

    def end(self):
        """The states go on to the next batch."""
        for old, new in zip(self.state, self.after):
            old.copy_(new.detach())

    def forward(self, words, targets, contexts, is_seen):
        hidden, self.after = self.lstm(self.embedding(words), tuple(self.state))
        embedded = self.context(contexts)
        scores = torch.bmm(self.matching(hidden).transpose(0, 1), embedded.transpose(1, 2))
        attention = torch.softmax(scores.masked_fill(~is_seen, float("-inf")), 2)
        window = 2 * self.REACH + 1
        smoothed = nn.functional.avg_pool1d(attention, window, stride=1, padding=self.REACH) * is_seen
        read = torch.bmm(smoothed, embedded).transpose(0, 1)
        joined = hidden + self.joining(read)
        scores = self.output(joined.flatten(0, 1))
        return nn.functional.cross_entropy(scores, targets.flatten(), reduction="sum")


class Lexical(nn.Module):
    N, DIM, MEMORIES, HOPS = 128, 200, 200, 7
    CLIP, SCALE = 50.0, 1.0

    def __init__(self):
        super().__init__()
        table = lambda rows: nn.Parameter(0.05 * torch.randn(rows, self.DIM))
        self.looked_at, self.read, self.output = table(WORDS), table(WORDS), table(WORDS)
        self.looked_at_time, self.read_time = table(self.MEMORIES), table(self.MEMORIES)
        self.between = table(self.DIM)

    def batch(self):
        return zipf(self.N, self.MEMORIES), zipf(self.N)

    def end(self):
        """Nothing goes on to the next batch."""

    def forward(self, memories, targets):
        embed = nn.functional.embedding
        looked_at = embed(memories, self.looked_at) + self.looked_at_time
        read = embed(memories, self.read) + self.read_time
        state = torch.full((self.N, self.DIM), 0.1, device=memories.device)
        for _ in range(self.HOPS):
            attention = torch.softmax(torch.bmm(looked_at, state.unsqueeze(2)).squeeze(2), 1)
            after = state @ self.between + torch.bmm(attention.unsqueeze(1), read).squeeze(1)
            half = self.DIM // 2
            state = torch.cat([after[:, :half], torch.relu(after[:, half:])], 1)
        return nn.functional.cross_entropy(state @ self.output.T, targets, reduction="sum")


class Trainer:
    def __init__(self, network, device):
        self.model = network().to(device)
        self.learnt = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.optimiser = torch.optim.SGD(self.learnt, lr=network.RATE, fused=device == "cuda" or None)
        self.batches = [[part.to(device) for part in self.model.batch()] for _ in range(2)]
        self.batch = [part.clone() for part in self.batches[0]]

    def step(self):
        self.optimiser.zero_grad(set_to_none=True)
        loss = self.model(*self.batch)
        (loss * self.model.SCALE).backward()
        nn.utils.clip_grad_norm_(self.learnt, self.model.CLIP)
        self.optimiser.step()
        self.model.end()
        return loss.detach()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("device", choices=["cpu", "cuda"])
    parser.add_argument("network", choices=["contextual", "lexical"])
    parser.add_argument("--batch", type=int, default=Lexical.N, help="words a step of the lexical memory")
    options = options_of(parser)
    Lexical.N = options.batch
    Lexical.RATE = 1.28 / options.batch  # 0.01 for 128 words: the loss is summed over them
    network = {"contextual": Contextual, "lexical": Lexical}[options.network]
    trainer = Trainer(network, options.device)
    measure(trainer, trainer.batches, network.N, options)


main()
