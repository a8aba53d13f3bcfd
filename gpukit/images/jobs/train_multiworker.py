"""Train a small byte model with TensorFlow's MultiWorkerMirroredStrategy, checkpoints and resume.

    train_multiworker.py --data DIR --checkpoints DIR --epochs N

Each worker is one process; TF_CONFIG names all. BackupAndRestore writes after each epoch and reads at the start,
so that a worker that comes back finds the epoch where it was.
"""

# mypy: ignore-errors
# (runs inside a framework container, not in this project's environment)

import argparse
import json
import os
import sys
from pathlib import Path

VOCABULARY = 256


def cluster_from_job():
    """Return TF_CONFIG made of an indexed job's variables, or None for a single worker."""
    hosts = os.environ.get("GPUKIT_HOSTS", "")
    if not hosts:
        return None
    index = int(os.environ["JOB_COMPLETION_INDEX"])
    return json.dumps({"cluster": {"worker": hosts.split(",")}, "task": {"type": "worker", "index": index}})


def read_bytes(folder):
    import numpy as np

    names = [
        shard["name"] for index in sorted(Path(folder).glob("index-*.json")) for shard in json.loads(index.read_text())
    ]
    if not names:
        raise SystemExit(f"no shards in {folder}: run the preprocess job first")
    return np.concatenate([np.fromfile(Path(folder) / name, dtype=np.uint8) for name in names])


def build(context, width):
    import tensorflow as tf

    return tf.keras.Sequential(
        [
            tf.keras.Input((context,), dtype="int32"),
            tf.keras.layers.Embedding(VOCABULARY, width),
            tf.keras.layers.Conv1D(width, 5, padding="causal", activation="gelu"),
            tf.keras.layers.Conv1D(width, 5, padding="causal", activation="gelu"),
            # Logits and loss stay in FP32 whatever the policy says.
            tf.keras.layers.Dense(VOCABULARY, dtype="float32"),
        ]
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--checkpoints", required=True)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--steps", type=int, default=100, help="steps in an epoch")
    parser.add_argument("--batch", type=int, default=64, help="windows in one step over all workers")
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    wish = parser.parse_args(arguments)
    config = cluster_from_job()
    if config and "TF_CONFIG" not in os.environ:
        os.environ["TF_CONFIG"] = config

    import gpukit_runtime
    import tensorflow as tf

    # Before anything else touches TensorFlow: collectives must exist when the first operation runs.
    communication = tf.distribute.experimental.CommunicationOptions(
        implementation=tf.distribute.experimental.CommunicationImplementation.AUTO
    )
    strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=communication)
    policy = gpukit_runtime.set_tensorflow_policy()
    tf.keras.utils.set_random_seed(wish.seed)
    data = read_bytes(Path(wish.data) / "train")
    starts = len(data) - wish.context - 1

    def window(start):
        piece = tf.cast(tf.slice(tf.constant(data), [start], [wish.context + 1]), tf.int32)
        return piece[:-1], piece[1:]

    dataset = (
        tf.data.Dataset.random(seed=wish.seed)
        .map(lambda number: window(tf.cast(number % starts, tf.int32)))
        .batch(wish.batch, drop_remainder=True)
    )
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    dataset = dataset.with_options(options)
    with strategy.scope():
        model = build(wish.context, wish.width)
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss=loss)
    task = strategy.cluster_resolver.task_id or 0
    # Every worker writes, each to a place of its own; the chief's is the one that counts.
    folder = Path(wish.checkpoints) / ("chief" if task == 0 else f"worker-{task}")
    told = []

    def tell(epoch, logs):
        told.append(logs["loss"])
        print(json.dumps({"event": "epoch", "epoch": epoch + 1, "loss": logs["loss"], "policy": policy}), flush=True)

    model.fit(
        dataset,
        epochs=wish.epochs,
        steps_per_epoch=wish.steps,
        verbose=0,
        callbacks=[
            tf.keras.callbacks.BackupAndRestore(str(folder), delete_checkpoint=False),
            tf.keras.callbacks.LambdaCallback(on_epoch_end=tell),
        ],
    )
    print(json.dumps({"event": "done", "epochs_run": len(told)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
