"""
Run one Pulumi program, as the language host's child.

Runs under the project's own interpreter, so it imports the Pulumi SDK and nothing of gpukit. Exit code 32 says that the error was
shown already; 130 that somebody pressed Ctrl-C.
"""

import argparse
import asyncio
import logging
import os
import runpy
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor

ALREADY_SHOWN = 32


def main() -> int:
    """Run the program and return the exit code of the process."""
    parser = argparse.ArgumentParser()
    for option in (
        "monitor",
        "engine",
        "project",
        "stack",
        "organization",
        "parallel",
        "dry-run",
        "program",
        "pwd",
        "root",
    ):
        parser.add_argument(f"--{option}", default="")
    options, rest = parser.parse_known_args()

    import pulumi
    import pulumi.runtime

    pulumi.runtime.set_all_config(pulumi.runtime.get_config_env(), pulumi.runtime.get_config_secret_keys_env())

    pulumi.runtime.configure(
        pulumi.runtime.Settings(
            monitor=options.monitor,
            engine=options.engine,
            project=options.project,
            stack=options.stack,
            parallel=int(options.parallel or 0),
            dry_run=options.dry_run == "true",
            organization=options.organization or "organization",
            root_directory=options.root or None,
        )
    )
    os.chdir(options.pwd)
    sys.argv = [options.program, *(rest[1:] if rest[:1] == ["--"] else rest)]
    # A folder with __main__.py brings its own sys.path entry; a single file needs it as `python FILE` would give it.
    sys.path.insert(0, options.program if os.path.isdir(options.program) else os.path.dirname(options.program))
    # asyncio tells of tasks left pending after the program's own error; that error is what people need to see.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # Each registration waits in a thread until its resource stands: the default of a few threads would make `up` nearly serial.
    loop.set_default_executor(ThreadPoolExecutor(max_workers=min(256, max(1, int(options.parallel or 1)) * 4)))
    shown = False
    try:
        loop.run_until_complete(
            pulumi.runtime.run_in_stack(lambda: runpy.run_path(options.program, run_name="__main__") and None)
        )
    except KeyboardInterrupt:
        return 130
    except pulumi.RunError as problem:
        pulumi.log.error(str(problem))
        shown = True
    except Exception as problem:
        pulumi.log.error("Program failed with an unhandled exception:\n" + _own_traceback(problem, options.program))
        shown = True
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return ALREADY_SHOWN if shown else 0


def _own_traceback(problem: BaseException, program: str) -> str:
    frames = traceback.extract_tb(problem.__traceback__)
    own = [i for i, frame in enumerate(frames) if frame.filename.startswith(program)]
    if own:
        frames = traceback.StackSummary.from_list(frames[own[0] :])
    return "".join(frames.format()) + "".join(traceback.format_exception_only(type(problem), problem))


if __name__ == "__main__":
    sys.exit(main())
