"""Evaluate the newest checkpoint on held-out shards with one GPU, or without any.

    evaluate.py --data DIR --checkpoints DIR [--windows N] [--below LOSS]

Prints one line of JSON with loss and perplexity; exits with 1 where the loss is not under --below.
"""

# mypy: ignore-errors
# (runs inside a framework container, not in this project's environment)

import argparse
import json
import math
import sys
from pathlib import Path

import gpukit_runtime
import torch
import torch.distributed.checkpoint as checkpoint
from language_model import LanguageModel, Shards, loss_of


def newest(folder):
    whole = [path for path in Path(folder).glob("step-*") if path.is_dir() and not path.name.endswith(".new")]
    if not whole:
        raise SystemExit(f"no checkpoint in {folder}")
    return max(whole, key=lambda path: int(path.name.partition("-")[2]))


def evaluate(wish):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = LanguageModel(wish.width, wish.layers, wish.heads, wish.context)
    path = newest(wish.checkpoints)
    state = {"model": model.state_dict()}
    checkpoint.load(state, checkpoint_id=path, no_dist=True)
    model.load_state_dict(state["model"])
    model.to(device).eval()
    shards = Shards(Path(wish.data) / "validation")
    span = wish.context + 1
    windows = min(wish.windows, len(shards) // span)
    if windows < 1:
        raise SystemExit("the held-out data is shorter than one window")
    total = 0.0
    with torch.no_grad(), gpukit_runtime.autocast():
        for number in range(windows):
            window = shards.window(number * span, span).unsqueeze(0).to(device)
            total += loss_of(model, window[:, :-1], window[:, 1:]).item()
    loss = total / windows
    print(json.dumps({"checkpoint": path.name, "windows": windows, "loss": loss, "perplexity": math.exp(loss)}))
    return 0 if wish.below is None or loss < wish.below else 1


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--checkpoints", required=True)
    parser.add_argument("--windows", type=int, default=1024)
    parser.add_argument("--below", type=float)
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--heads", type=int, default=4)
    return evaluate(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
