#!/usr/bin/env python3
"""Runs several scripts one after another, each in a copy of this process. Importing TensorFlow takes seconds of
processor time; here it happens once.

    python tests/interop/together.py SCRIPT [ARGUMENT...] [-- SCRIPT [ARGUMENT...]]...

SCRIPT is a file of this folder. All scripts run, even if one fails; the status is then 1.
"""
import os
import runpy
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import tensorflow  # noqa: F401  # pylint: disable=unused-import

HERE = os.path.dirname(os.path.abspath(__file__))


def commands(arguments):
    """The arguments, divided at each "--"."""
    found = [[]]
    for argument in arguments:
        if argument == "--":
            found.append([])
        else:
            found[-1].append(argument)
    return found


def run(script, *arguments):
    """Runs the script in a copy of this process, and returns the status of its end. A copy of TensorFlow works as long
    as TensorFlow has not run anything."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        path = os.path.join(HERE, script)
        sys.argv = [path, *arguments]
        runpy.run_path(path, run_name="__main__")
        sys.exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main():
    failed = []
    for script, *arguments in commands(sys.argv[1:]):
        print(f"=== {script}", flush=True)
        start = time.time()
        status = run(script, *arguments)
        print(f"=== {script}: {time.time() - start:.0f} s, status {status}", flush=True)
        failed += [script] if status != 0 else []
    if failed:
        sys.exit("failed: " + " ".join(failed))


if __name__ == "__main__":
    main()
