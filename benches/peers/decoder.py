"""The decoder in PyTorch: the peer that `neural` is timed against.

The same network, loss, clipping and optimisers (Muon for the matrices of the blocks, AdamW for the rest), written as
one would write them, with what PyTorch has to be fast: bf16 products, fused attention, `torch.compile`.

    python3 benches/peers/decoder.py PIECES WIDTH LAYERS HEADS FEED_FORWARD ROWS LENGTH [--seconds 10]

Prints one line of JSON: pieces a second and the loss of the first and the last step.
"""

import argparse
import json
import time

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads, feed_forward):
        super().__init__()
        self.heads, self.dim = heads, width // heads
        linear = lambda n_in, n_out: nn.Linear(n_in, n_out, bias=False)
        self.query, self.key, self.value, self.output = (linear(width, width) for _ in range(4))
        self.gate, self.up, self.down = linear(width, feed_forward), linear(width, feed_forward), linear(feed_forward, width)
        for layer in (self.query, self.key, self.value, self.gate, self.up):
            nn.init.normal_(layer.weight, std=0.5 / width**0.5)
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.down.weight)
        self.before, self.between = nn.RMSNorm(width, 1e-6), nn.RMSNorm(width, 1e-6)
        self.of_queries, self.of_keys = nn.RMSNorm(self.dim, 1e-6), nn.RMSNorm(self.dim, 1e-6)

    def forward(self, stream, cosine, sine):
        rows, length, width = stream.shape
        heads = lambda x: x.view(rows, length, self.heads, self.dim)

        def turned(x):
            first, second = x.chunk(2, -1)
            return torch.cat((first * cosine - second * sine, second * cosine + first * sine), -1).type_as(x)

        x = self.before(stream)
        query = turned(self.of_queries(heads(self.query(x)))).transpose(1, 2)
        key = turned(self.of_keys(heads(self.key(x)))).transpose(1, 2)
        value = heads(self.value(x)).transpose(1, 2)
        read = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        stream = stream + self.output(read.transpose(1, 2).reshape(rows, length, width))
        x = self.between(stream)
        return stream + self.down(F.silu(self.gate(x)) * self.up(x))


class Decoder(nn.Module):
    def __init__(self, pieces, width, layers, heads, feed_forward, length):
        super().__init__()
        self.embedding = nn.Embedding(pieces, width)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(Block(width, heads, feed_forward) for _ in range(layers))
        self.norm = nn.RMSNorm(width, 1e-6)
        dim = width // heads
        angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(0, dim, 2) / dim)
        self.register_buffer("cosine", angles.cos()[:, None, :])
        self.register_buffer("sine", angles.sin()[:, None, :])

    def forward(self, pieces, targets):
        stream = self.embedding(pieces)
        for block in self.blocks:
            stream = block(stream, self.cosine, self.sine)
        scores = F.linear(self.norm(stream), self.embedding.weight)
        return F.cross_entropy(scores.flatten(0, 1).float(), targets.flatten())


@torch.compile
def orthogonal(updates):
    """Five Newton–Schulz steps of several matrices of one shape."""
    x = updates.bfloat16()
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    is_tall = x.size(-2) > x.size(-1)
    if is_tall:
        x = x.mT
    for _ in range(5):
        gram = x @ x.mT
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x.mT if is_tall else x


class Muon:
    def __init__(self, parameters):
        self.groups = {}
        for parameter in parameters:
            self.groups.setdefault(parameter.shape, []).append(parameter)
        self.momenta = {shape: [torch.zeros_like(p) for p in group] for shape, group in self.groups.items()}

    @torch.no_grad()
    def step(self, rate, decay=0.1, beta=0.95):
        for shape, group in self.groups.items():
            momenta, gradients = self.momenta[shape], [parameter.grad for parameter in group]
            torch._foreach_lerp_(momenta, gradients, 1 - beta)
            updates = orthogonal(torch.stack(torch._foreach_lerp(gradients, momenta, beta)))
            torch._foreach_mul_(group, 1 - rate * decay)
            updates = updates.float() * (0.2 * max(shape) ** 0.5)
            torch._foreach_add_(group, list(updates.unbind()), alpha=-rate)


def main():
    parser = argparse.ArgumentParser()
    for name in ["pieces", "width", "layers", "heads", "feed_forward", "rows", "length"]:
        parser.add_argument(name, type=int)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    torch.manual_seed(1)
    shape = (options.pieces, options.width, options.layers, options.heads, options.feed_forward, options.length)
    model = Decoder(*shape).cuda()
    matrices = [p for p in model.blocks.parameters() if p.ndim == 2]
    rest = [p for p in model.parameters() if not any(p is matrix for matrix in matrices)]
    muon = Muon(matrices)
    adam = torch.optim.AdamW(rest, lr=1.5e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    compiled = torch.compile(model)
    draw = lambda: torch.randint(0, options.pieces, (options.rows, options.length + 1), device="cuda")
    batches = [draw() for _ in range(2)]

    def step(batch):
        with torch.autocast("cuda", torch.bfloat16):
            loss = compiled(batch[:, :-1], batch[:, 1:])
        model.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(rest, 1.0)
        adam.step()
        muon.step(2e-3)
        return loss.detach()

    losses, started, n_steps = [], None, 0
    while started is None or time.perf_counter() - started < options.seconds:
        if n_steps == 5:
            started = time.perf_counter()
        # The loss is read each step, as training reads it.
        losses.append(step(batches[n_steps % 2]).item())
        n_steps += 1
    seconds = time.perf_counter() - started
    print(json.dumps({
        "peer": f"PyTorch {torch.__version__}",
        "pieces_per_second": (n_steps - 5) * options.rows * options.length / seconds,
        "milliseconds": 1000 * seconds / (n_steps - 5),
        "gigabytes": torch.cuda.max_memory_allocated() / 1e9,
        "first_loss": losses[0],
        "last_loss": losses[-1],
    }))


main()
