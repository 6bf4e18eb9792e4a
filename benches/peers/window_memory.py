"""A plain PyTorch window memory with self-supervision (§3.3): the peer that `memnn-window-selfsup` is timed against.

Not shipped and not tuned for accuracy: the same model, loss and mini-batches, written as one would write
them, with plain steps (`--set optimiser=sgd`). Reading and padding are left out of the time.

    python3 benches/peers/window_memory.py CBT_FILE... [--dim 300] [--window 5] [--batch 64] [--threads 2]
"""

import argparse
import json
import random
import time

import torch

PAD = 0


def read(path, words, limit):
    """Questions of a CBT file: context and query as word numbers, the place of the blank, candidates, answer."""
    number = lambda word: words.setdefault(word.lower(), len(words) + 1)
    questions, context = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if not line.strip():
                context = []
                continue
            _, text = line.rstrip("\n").split(" ", 1)
            if "\t" not in text:
                context += [number(word) for word in text.split()]
                continue
            query, answer, _, candidates = text.split("\t")
            tokens = query.split()
            blank = tokens.index("XXXXX")
            candidates = {number(word) for word in candidates.split("|") if word}
            questions.append((context, [number(word) for word in tokens], blank, candidates, number(answer)))
            context = []
            if len(questions) == limit:
                break
    return questions


def window(text, centre, size):
    half = size // 2
    return [text[i] if 0 <= i < len(text) else PAD for i in range(centre - half, centre + half + 1)]


def batch_of(questions, size):
    """Windows around the mentions of candidates, padded to the longest list of the batch."""
    memories, holds_answer, queries = [], [], []
    for context, query, blank, candidates, answer in questions:
        mentions = [i for i, word in enumerate(context) if word in candidates]
        memories.append([window(context, i, size) for i in mentions])
        holds_answer.append([context[i] == answer for i in mentions])
        queries.append(window(query, blank, size))
    most = max(map(len, memories))
    windows = torch.full((len(questions), most, size), PAD)
    is_answer = torch.zeros((len(questions), most), dtype=torch.bool)
    is_memory = torch.zeros((len(questions), most), dtype=torch.bool)
    for i, (rows, holds) in enumerate(zip(memories, holds_answer)):
        windows[i, : len(rows)] = torch.tensor(rows)
        is_answer[i, : len(rows)] = torch.tensor(holds)
        is_memory[i, : len(rows)] = True
    return windows, torch.tensor(queries), is_answer, is_memory


class WindowMemory(torch.nn.Module):
    def __init__(self, words, dim, size):
        super().__init__()
        # One dictionary a position: the row of word w at position j is j * words + w.
        self.embedding = torch.nn.Embedding(size * words, dim, sparse=True)
        torch.nn.init.normal_(self.embedding.weight, std=0.1)
        self.register_buffer("offset", torch.arange(size) * words)

    def forward(self, windows, queries, is_memory):
        query = self.embedding(queries + self.offset).sum(1)
        memory = self.embedding(windows + self.offset).sum(2)
        rank = is_memory.cumsum(1) / is_memory.sum(1, keepdim=True)
        scores = (memory @ query.unsqueeze(2)).squeeze(2) + rank
        return scores.masked_fill(~is_memory, -torch.inf)


def self_supervised_loss(scores, is_answer, is_memory):
    supporting = scores.masked_fill(~is_answer, -torch.inf).argmax(1)
    others = is_memory & ~is_answer
    kept = others.scatter(1, supporting.unsqueeze(1), True)
    return torch.nn.functional.cross_entropy(scores.masked_fill(~kept, -torch.inf), supporting, reduction="sum")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--window", type=int, default=5)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--words", type=int, default=54_072, help="size of the dictionary: all of CBT's words")
    parser.add_argument("--limit", type=int, default=5_000, help="questions of each file")
    parser.add_argument("--learning-rate", type=float, default=0.01)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)

    words = {}
    questions = [question for path in options.files for question in read(path, words, options.limit)]
    random.Random(1).shuffle(questions)
    model = WindowMemory(max(options.words, len(words)) + 1, options.dim, options.window)
    step = torch.optim.SGD(model.parameters(), lr=options.learning_rate)
    starts = range(0, len(questions), options.batch)
    batches = [batch_of(questions[i : i + options.batch], options.window) for i in starts]

    losses = []
    for _ in range(2):  # The first epoch warms up.
        started, total = time.perf_counter(), 0.0
        for windows, queries, is_answer, is_memory in batches:
            step.zero_grad()
            loss = self_supervised_loss(model(windows, queries, is_memory), is_answer, is_memory)
            loss.backward()
            step.step()
            total += loss.item()
        seconds = time.perf_counter() - started
        losses.append(total / len(questions))
    print(json.dumps({
        "questions": len(questions), "batch": options.batch, "threads": options.threads,
        "losses": losses, "questions_per_second": len(questions) / seconds,
    }))


if __name__ == "__main__":
    main()
