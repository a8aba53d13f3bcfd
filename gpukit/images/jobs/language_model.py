"""A small language model over bytes, its data, and its loss: what training and evaluation share."""

# mypy: ignore-errors
# (runs inside a framework container, not in this project's environment)

import json
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

VOCABULARY = 256


class Block(nn.Module):
    """Attention and a two-layer network, each on a normalised residual."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before_attention = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width, bias=False)
        self.joined = nn.Linear(width, width, bias=False)
        self.before_network = nn.LayerNorm(width)
        self.network = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, states):
        batch, length, width = states.shape
        parts = self.query_key_value(self.before_attention(states)).view(batch, length, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        states = states + self.joined(attended.transpose(1, 2).reshape(batch, length, width))
        return states + self.network(self.before_network(states))


class LanguageModel(nn.Module):
    """A causal transformer; `forward` returns the logits of the next byte."""

    def __init__(self, width=256, layers=4, heads=4, context=128):
        super().__init__()
        self.context = context
        self.tokens = nn.Embedding(VOCABULARY, width)
        self.places = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.after = nn.LayerNorm(width)
        self.logits = nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        states = self.tokens(tokens) + self.places(places)
        for block in self.blocks:
            states = block(states)
        return self.logits(self.after(states))


class Shards:
    """All shards of a folder as one long row of bytes, read from disk as needed."""

    def __init__(self, folder):
        names = [
            shard["name"]
            for index in sorted(Path(folder).glob("index-*.json"))
            for shard in json.loads(index.read_text())
        ]
        if not names:
            raise SystemExit(f"no shards in {folder}: run the preprocess job first")
        self.parts = [
            torch.from_file(str(Path(folder) / name), size=(Path(folder) / name).stat().st_size, dtype=torch.uint8)
            for name in names
        ]
        self.starts = [0]
        for part in self.parts:
            self.starts.append(self.starts[-1] + len(part))

    def __len__(self):
        return self.starts[-1]

    def window(self, start, length):
        """Return `length` bytes from `start` on, across shards, as int64."""
        pieces = []
        for part, begin in zip(self.parts, self.starts):  # noqa: B905
            first, last = max(start - begin, 0), min(start + length - begin, len(part))
            if first < last:
                pieces.append(part[first:last])
        return torch.cat(pieces).long()


def batch_of(shards, step, rank, ranks, batch, context, seed):
    """
    Return inputs and targets of one step for one rank.

    Drawn from (seed, step, place in the global batch) alone: a run that starts again at a step sees what the first one
    would have seen, with the same or another number of ranks.
    """
    starts = []
    for place in range(rank, batch, ranks):
        generator = torch.Generator().manual_seed(seed * 1_000_003 + step * 4099 + place)
        starts.append(int(torch.randint(0, len(shards) - context - 1, (1,), generator=generator)))
    windows = torch.stack([shards.window(start, context + 1) for start in starts])
    return windows[:, :-1], windows[:, 1:]


def loss_of(model, inputs, targets):
    """Return the mean cross entropy of the next byte, computed in FP32."""
    logits = model(inputs)
    return functional.cross_entropy(logits.float().reshape(-1, VOCABULARY), targets.reshape(-1))
