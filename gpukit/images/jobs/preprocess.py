"""Turn text into training shards: bytes as tokens, in files of equal size with an index. No GPU, no framework.

    preprocess.py --input DIR --output DIR [--shard-tokens N] [--validation-pct P]

Runs as an indexed job: each of JOB_COMPLETIONS workers takes its part of the files, by name: a restart makes the
same shards. Each shard is written whole or not at all.
"""

# mypy: ignore-errors
# (runs inside a framework container, not in this project's environment)

import argparse
import json
import os
import sys
from hashlib import sha256
from pathlib import Path


def list_files(folder, index, count):
    """Return this worker's files: every count-th by name."""
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())[index::count]


def is_validation(path, percent):
    """Tell whether a file is held out; decided by its name, so that it is the same on every worker and run."""
    return int(sha256(path.name.encode()).hexdigest()[:8], 16) % 100 < percent


def write_whole(path, data):
    """Write a file under another name and rename it: nobody ever reads a half."""
    new = path.with_name(path.name + ".new")
    new.write_bytes(data)
    os.replace(new, path)


def write_shards(files, folder, prefix, shard_tokens):
    """Write the files' bytes as shards; return name and length of each."""
    folder.mkdir(parents=True, exist_ok=True)
    shards, buffer = [], bytearray()

    def flush(final):
        while len(buffer) >= shard_tokens or (final and buffer):
            name = f"{prefix}-{len(shards):05d}.bin"
            chunk = bytes(buffer[:shard_tokens])
            del buffer[:shard_tokens]
            write_whole(folder / name, chunk)
            shards.append({"name": name, "tokens": len(chunk), "sha256": sha256(chunk).hexdigest()})

    for path in files:
        buffer.extend(path.read_bytes())
        buffer.append(0)
        flush(final=False)
    flush(final=True)
    return shards


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--input", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--shard-tokens", type=int, default=1 << 26)
    parser.add_argument("--validation-pct", type=int, default=5)
    chosen = parser.parse_args(arguments)
    index = int(os.environ.get("JOB_COMPLETION_INDEX", "0"))
    count = int(os.environ.get("JOB_COMPLETIONS", "1"))
    files = list_files(chosen.input, index, count)
    output = Path(chosen.output)
    for part in ("train", "validation"):
        mine = [path for path in files if is_validation(path, chosen.validation_pct) == (part == "validation")]
        shards = write_shards(mine, output / part, f"{index:04d}", chosen.shard_tokens)
        write_whole(output / part / f"index-{index:04d}.json", json.dumps(shards, indent=1).encode())
        print(f"{part}: {len(mine)} files, {len(shards)} shards, {sum(s['tokens'] for s in shards)} tokens", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
