"""Serve the cloud: `python -m gpukit_sandbox.cloud --state-dir DIR [--port N]`. Writes `DIR/cloud.json` when it is ready."""

import argparse
import json
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

from gpukit_sandbox.state import write_json


def main(arguments: list[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT, then save the world. Exit code 0, or 3 when the port is taken or the saved world cannot be read."""
    parser = argparse.ArgumentParser(prog="gpukit_sandbox.cloud", description=__doc__)
    parser.add_argument(
        "--state-dir", type=Path, required=True, help="where the world, cloud.json, faults.json and seed.json lie"
    )
    parser.add_argument("--port", type=int, default=0, help="TCP port of 127.0.0.1; 0 takes a free one")
    options = parser.parse_args(arguments)
    directory: Path = options.state_dir
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)

    # Threads that end mid-answer and real credentials have no place here.
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        os.environ.pop(name, None)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)

    from werkzeug.serving import make_server

    from gpukit_sandbox.cloud import persistence, seeds
    from gpukit_sandbox.cloud.faults import Faults
    from gpukit_sandbox.cloud.server import Cloud
    from gpukit_sandbox.cloud.state import ACCOUNT_ID, DEFAULT_REGION

    persistence.forget_instance_tracking()
    saved = directory / "world.pickle"
    try:
        world = persistence.load_world(saved)
    except Exception as problem:
        print(f"{saved} cannot be read: {problem}\n  fix:  move it away to start with an empty cloud", file=sys.stderr)
        return 3
    cloud = Cloud(world, Faults(directory / "faults.json"))
    seed_file = directory / "seed.json"
    if seed_file.is_file():
        seeds.apply(json.loads(seed_file.read_text(encoding="utf-8")), world)
    try:
        server = make_server("127.0.0.1", options.port, cloud, threaded=True)
    except OSError as problem:
        print(f"port {options.port} of 127.0.0.1 cannot be used: {problem.strerror}", file=sys.stderr)
        return 3
    saver = persistence.Saver(world, saved)
    saver.start()

    def end(_signal: int, _frame: FrameType | None) -> None:
        # shutdown() waits for the loop that this handler interrupts, so it needs a thread of its own.
        threading.Thread(target=server.shutdown, daemon=True).start()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    write_json(
        directory / "cloud.json",
        {
            "endpoint": f"http://127.0.0.1:{server.server_port}",
            "port": server.server_port,
            "pid": os.getpid(),
            "account": ACCOUNT_ID,
            "region": DEFAULT_REGION,
        },
    )
    try:
        server.serve_forever(poll_interval=0.1)
    finally:
        server.server_close()
        with world.lock:
            saver.end()
        (directory / "cloud.json").unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
