#!/usr/bin/env python3
"""run.py VERSION [--part=N] [FILE...]: runs the tests of the library Keras on this package, through its runner.

The files are those of Keras's source distribution, and those of the folder library. All run if none is named; with
--part=N one of N parts of them, which the commit chooses. As many run at a time as there are processors. A test fails
the run unless it passes, is skipped, or is in known-VERSION.txt with a reason; a file that is listed there as a whole
only runs if it is named. PYTHONPATH names the package. The virtual environment is made in KERAS_VENV (default:
build/keras_venv-VERSION).
"""

import concurrent.futures
import glob
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(HERE, "library")
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, os.path.join(TOP, "scripts"))
import commit_part  # noqa: E402

# What needs the network, a GPU, another backend, or Keras's documents.
WITHOUT = ("docs/", "datasets", "applications", "cudnn", "multi_gpu", "imagenet_utils", "test_api")


def test_files(folder):
    """All files with tests: those of LIBRARY by their names, and Keras's, relative to `folder`."""
    files = [os.path.relpath(file, folder) for pattern in ("test_*.py", "*_test.py")
             for file in glob.glob(os.path.join(folder, "tests", "**", pattern), recursive=True)]
    own = [os.path.basename(file) for file in glob.glob(os.path.join(LIBRARY, "test_*.py"))]
    return sorted(own + [file for file in files if not any(part in file for part in WITHOUT)])


def known(version):
    """The tests that need not pass, each with a reason."""
    with open(os.path.join(HERE, f"known-{version}.txt"), encoding="utf-8") as file:
        lines = [line.strip().split(" ", 1) for line in file if line.strip() and not line.startswith("#")]
    return dict(lines)


def compiled_files(python):
    """Variables with which Python keeps its compiled files in its virtual environment, and none beside the sources."""
    venv = os.path.dirname(os.path.dirname(python))
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": os.path.join(venv, "pycache")}


def results(python, file, folder):
    """The result of each test of the file, "passed", "skipped" or "failed", and what pytest has printed.

    `folder` has Keras's tests. A file that cannot run is one failed test.
    """
    with tempfile.TemporaryDirectory() as scratch:
        report = os.path.join(scratch, "report.xml")
        settings = {**os.environ, "KERAS_HOME": scratch, "OMP_NUM_THREADS": "1", **compiled_files(python)}
        settings["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, os.environ["PYTHONPATH"].split(os.pathsep)))
        command = [python, "-m", "tensorbraid", "-m", "pytest", "--quiet", "--tb=short", "--rootdir=.", "-p",
                   "no:cacheprovider", "--disable-warnings", f"--junitxml={report}", file]
        try:
            ran = subprocess.run(command, cwd=folder if "/" in file else LIBRARY, env=settings, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, timeout=600)
        except subprocess.TimeoutExpired:
            return {file: "failed"}, "it did not end within 600 s\n"
        if not os.path.exists(report):
            return {file: "failed"}, ran.stdout
        found, module = {}, file.removesuffix(".py").replace("/", ".")
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            kinds = {child.tag for child in case}
            name = "::".join([file, *case.get("classname").removeprefix(module).split(".")[1:], case.get("name")])
            found[name] = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        return found or {file: "failed"}, ran.stdout


def main():
    arguments = sys.argv[1:]
    parts = commit_part.take_option(arguments)
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    version, *files = arguments
    venv = os.environ.get("KERAS_VENV", os.path.join(TOP, "build", f"keras_venv-{version}"))
    subprocess.run([os.path.join(HERE, "make_venv"), venv, version], check=True)
    excused, counts, wrong = known(version), {"passed": 0, "skipped": 0, "failed": 0}, []
    files = files or commit_part.part_of([file for file in test_files(venv) if file not in excused], parts)

    def run(file):
        began = time.monotonic()
        return *results(os.path.join(venv, "bin", "python"), file, venv), time.monotonic() - began

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, (found, output, seconds) in zip(files, pool.map(run, files)):
            own = {kind: list(found.values()).count(kind) for kind in counts}
            listed = ", ".join(f"{count} {kind}" for kind, count in own.items() if count)
            print(f"{file}: {listed}, {seconds:.0f} s", flush=True)
            counts = {kind: counts[kind] + own[kind] for kind in counts}
            unexcused = [name for name, result in found.items() if result == "failed" and name not in excused]
            if unexcused:
                wrong += unexcused
                print(output)
    print(f"Keras {version}: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    for name in wrong:
        print(f"{name} fails and has no reason in known-{version}.txt")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
