"""Runs the type checker that editors use over the examples, and over calls of the functions that programs use most.

It must report no error in the examples, and must infer the types that editors/typed_calls.py states. Needs a Python
with basedpyright, and the package tensorbraid in PYTHONPATH.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    examples, calls = str(ROOT / "examples" / "python"), str(ROOT / "python" / "tests" / "editors")
    paths = os.environ["PYTHONPATH"].split(os.pathsep)
    config = {"include": [examples, calls], "typeCheckingMode": "basic", "reportPrivateImportUsage": True,
              "executionEnvironments": [{"root": folder, "extraPaths": paths} for folder in (examples, calls)]}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(config, file)
        file.flush()
        checker = [sys.executable, "-m", "basedpyright", "-p", file.name, "--pythonpath", sys.executable]
        ran = subprocess.run(checker, capture_output=True, text=True)
    print(ran.stdout)
    sys.exit(ran.returncode)


if __name__ == "__main__":
    main()
