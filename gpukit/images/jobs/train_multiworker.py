"""Train a small byte model with TensorFlow's MultiWorkerMirroredStrategy, checkpoints and resume.

    train_multiworker.py --data DIR --checkpoints DIR --epochs N

Each worker is one process; TF_CONFIG names all. A checkpoint is written after each epoch, and a run that starts goes on
from the newest: batches follow from the step alone, so it sees what the first one would have seen.
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
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    policy = gpukit_runtime.set_tensorflow_policy()
    tf.keras.utils.set_random_seed(wish.seed)
    data = tf.constant(read_bytes(Path(wish.data) / "train"))
    starts = data.shape[0] - wish.context - 1
    workers = strategy.num_replicas_in_sync
    task = strategy.cluster_resolver.task_id or 0

    def batch_of(step, place):
        """Return one replica's part of a step's batch, drawn from the step alone: a resumed run sees the same."""
        seed = tf.stack([tf.constant(wish.seed, tf.int64), tf.cast(step, tf.int64)])
        chosen = tf.random.stateless_uniform([wish.batch], seed, maxval=starts, dtype=tf.int64)[place::workers]
        windows = tf.gather(data, chosen[:, None] + tf.range(wish.context + 1, dtype=tf.int64)[None, :])
        windows = tf.cast(windows, tf.int32)
        return windows[:, :-1], windows[:, 1:]

    with strategy.scope():
        model = build(wish.context, wish.width)
        optimizer = tf.keras.optimizers.Adam(1e-3)
        optimizer.build(model.trainable_variables)
        if policy == "mixed_float16":
            optimizer = tf.keras.mixed_precision.LossScaleOptimizer(optimizer)
        epoch = tf.Variable(0, dtype=tf.int64, trainable=False)
    entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    @tf.function
    def step_of(step):
        def replica(number):
            place = tf.distribute.get_replica_context().replica_id_in_sync_group
            inputs, targets = batch_of(number, place)
            with tf.GradientTape() as tape:
                # Summed over workers this is the mean over the whole batch.
                loss = tf.reduce_mean(entropy(targets, model(inputs, training=True))) / workers
                scaled = optimizer.scale_loss(loss) if policy == "mixed_float16" else loss
            gradients = tape.gradient(scaled, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(replica, args=(step,)), axis=None)

    # Every worker writes, because saving has collectives in it; only the chief's files count.
    saved = tf.train.Checkpoint(model=model, optimizer=optimizer, epoch=epoch)
    folder = Path(wish.checkpoints) / ("chief" if task == 0 else f"worker-{task}")
    keeper = tf.train.CheckpointManager(saved, str(folder), max_to_keep=3)
    chief = tf.train.latest_checkpoint(str(Path(wish.checkpoints) / "chief"))
    if chief:
        saved.restore(chief)
    while int(epoch.numpy()) < wish.epochs:
        losses = [
            float(step_of(tf.constant(int(epoch.numpy()) * wish.steps + number, tf.int64)))
            for number in range(wish.steps)
        ]
        epoch.assign_add(1)
        keeper.save(checkpoint_number=int(epoch.numpy()))
        if task == 0:
            told = {"event": "epoch", "epoch": int(epoch.numpy()), "loss": sum(losses) / len(losses), "policy": policy}
            print(json.dumps(told), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
