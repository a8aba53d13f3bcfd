"""Train a small language model with fully sharded data parallelism, checkpoints and resume.

    torchrun --nproc-per-node=gpu train_fsdp.py --data DIR --checkpoints DIR --steps N

Each checkpoint is a folder that is renamed into place when all ranks have written it, so that a kill at any moment
leaves the one before. A run that starts finds the newest whole checkpoint and goes on from it, on the same or another
number of ranks. SIGTERM (spot, drain, end of a Capacity Block) makes one more checkpoint and ends with code 0.
"""

# mypy: ignore-errors
# (runs inside a framework container, not in this project's environment)

import argparse
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import gpukit_runtime
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoint
from language_model import LanguageModel, Shards, batch_of, loss_of
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard


def newest_checkpoint(folder):
    """Return the newest whole checkpoint, or None. Whole ones are named step-N; half ones still end in .new."""
    whole = [path for path in Path(folder).glob("step-*") if path.is_dir() and not path.name.endswith(".new")]
    return max(whole, key=lambda path: int(path.name.partition("-")[2]), default=None)


def save(folder, step, model, optimizer, keep):
    """Write a checkpoint by all ranks; rank 0 renames it into place and drops the oldest ones."""
    final = Path(folder) / f"step-{step:08d}"
    half = final.with_name(final.name + ".new")
    if dist.get_rank() == 0:
        shutil.rmtree(half, ignore_errors=True)
    dist.barrier()
    weights, moments = get_state_dict(model, optimizer)
    checkpoint.save({"model": weights, "optimizer": moments}, checkpoint_id=half)
    dist.barrier()
    if dist.get_rank() == 0:
        if final.exists():
            shutil.rmtree(final)
        os.replace(half, final)
        whole = sorted(path for path in Path(folder).glob("step-*") if not path.name.endswith(".new"))
        for old in whole[:-keep]:
            shutil.rmtree(old, ignore_errors=True)
    dist.barrier()


def load(path, model, optimizer):
    """Read a checkpoint into model and optimizer; return its step."""
    weights, moments = get_state_dict(model, optimizer)
    state = {"model": weights, "optimizer": moments}
    checkpoint.load(state, checkpoint_id=path)
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
    return int(path.name.partition("-")[2])


class Stop:
    """Whether any rank was asked to end."""

    def __init__(self):
        self.asked = False
        signal.signal(signal.SIGTERM, self._ask)

    def _ask(self, *_):
        self.asked = True

    def agreed(self, device):
        """Tell whether one rank was asked: all must leave the loop at the same step."""
        flag = torch.tensor([float(self.asked)], device=device)
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        return bool(flag.item())


def shard(model, mesh, chosen):
    """Shard every block and the whole; weights travel in the training precision, sums stay in FP32."""
    policy = MixedPrecisionPolicy()
    if chosen.training_precision == "bf16" and mesh.device_type == "cuda":
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for block in model.blocks:
        fully_shard(block, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return model


def train(wish):
    device_type = "cuda" if torch.cuda.is_available() else "cpu"
    dist.init_process_group("nccl" if device_type == "cuda" else "gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    if device_type == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    device = torch.device(device_type, torch.cuda.current_device()) if device_type == "cuda" else torch.device("cpu")
    chosen = gpukit_runtime.settings()
    torch.manual_seed(wish.seed)
    model = LanguageModel(wish.width, wish.layers, wish.heads, wish.context).to(device)
    model = shard(model, init_device_mesh(device_type, (ranks,)), chosen)
    optimizer = torch.optim.AdamW(model.parameters(), lr=wish.learning_rate)
    # With FP16 the weights stay FP32 and autocast does the rest; a scaler keeps small gradients alive.
    scaler = gpukit_runtime.grad_scaler(chosen)
    shards, stop = Shards(Path(wish.data) / "train"), Stop()
    Path(wish.checkpoints).mkdir(parents=True, exist_ok=True)
    found, step = newest_checkpoint(wish.checkpoints), 0
    if found is not None:
        step = load(found, model, optimizer)
    tell(rank, event="start", step=step, ranks=ranks, device=device_type, precision=chosen.training_precision)
    while step < wish.steps:
        begun = time.monotonic()
        inputs, targets = batch_of(shards, step, rank, ranks, wish.batch, wish.context, wish.seed)
        with gpukit_runtime.autocast(chosen) if chosen.loss_scaling else _nothing():
            loss = loss_of(model, inputs.to(device), targets.to(device))
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        step += 1
        total = loss.detach().double()
        dist.all_reduce(total)
        tell(rank, event="step", step=step, loss=total.item() / ranks, seconds=round(time.monotonic() - begun, 3))
        stopping = stop.agreed(device)
        if step % wish.checkpoint_steps == 0 or step == wish.steps or stopping:
            save(wish.checkpoints, step, model, optimizer, wish.keep)
            tell(rank, event="checkpoint", step=step)
        if stopping:
            tell(rank, event="stopped", step=step)
            break
        if wish.pause:
            time.sleep(wish.pause)
    dist.destroy_process_group()
    return 0


def tell(rank, **what):
    """Print one line of JSON from rank 0: logs and tests read it."""
    if rank == 0:
        print(json.dumps(what), flush=True)


def _nothing():
    import contextlib

    return contextlib.nullcontext()


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--checkpoints", required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--batch", type=int, default=64, help="windows in one step over all ranks")
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=3e-4)
    parser.add_argument("--checkpoint-steps", type=int, default=100)
    parser.add_argument("--keep", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between steps, for tests")
    wish = parser.parse_args(arguments)
    return train(wish)


if __name__ == "__main__":
    sys.exit(main())
