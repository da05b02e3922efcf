"""Runs each program of programs/ with Tensorbraid, and compares all numbers that it prints with those of TensorFlow.

usage: compare_programs.py [PROGRAM...]
       compare_programs.py --record         runs TensorFlow for the programs whose numbers in references/programs are
                                            missing or no longer current
       compare_programs.py --write-calls    also writes differential/programs.txt, the callables that the programs call

TensorFlow's numbers are recorded. Some of the programs also run with TensorFlow itself, whose numbers must be the recorded
ones. Needs a Python with TensorFlow and NumPy, and the package tensorbraid in PYTHONPATH.
"""

import importlib.metadata
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "tests", "interop"))
sys.dont_write_bytecode = True
import recorded  # noqa: E402

PROGRAMS = os.path.join(HERE, "programs")
CALLS = os.path.join(HERE, "differential", "programs.txt")
HEADER = "# The callables that the programs of ../programs call; compare_programs.py --write-calls writes this file.\n"
LIVE_EVERY = 6  # every so manieth program also runs with TensorFlow itself
TOLERANCE = 1e-5  # relative, and absolute below 1; the sums of a product may be added in another order


def numbers(package, program, calls=""):
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TENSORBRAID_CALLS=calls)
    ran = subprocess.run([sys.executable, os.path.join(HERE, "run_program.py"), package, program], env=environment,
                         capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"{program} fails with {package}:\n{ran.stderr[-4000:]}")
    return [float(word) for word in ran.stdout.split()]


def reference(program):
    """Where the numbers of a program are recorded, and the files from which they follow."""
    files = recorded.sources(os.path.join(PROGRAMS, program + ".py"), PROGRAMS, os.path.join(HERE, "run_program.py"))
    return {"path": os.path.join(HERE, "references", "programs", program + ".json.xz"), "files": files}


def record(programs):
    for program in programs:
        if not recorded.is_current(**reference(program)):
            version = importlib.metadata.version("tensorflow-cpu")
            recorded.write(**reference(program), version=version, values=numbers("tensorflow", program))
            print(f"recorded {program}")


def compare(program, wanted, got, of):
    """Ends the process if the numbers of a package differ from those that are wanted."""
    if len(wanted) != len(got) or not wanted:
        sys.exit(f"{program}: TensorFlow prints {len(wanted)} numbers, {of} {len(got)}")
    worst = max(abs(a - b) / max(1, abs(a)) for a, b in zip(wanted, got))
    print(f"{program}: {len(wanted)} numbers, largest difference of {of} {worst:.2g}")
    if not worst <= TOLERANCE:
        sys.exit(f"{program}: the numbers differ: recorded {wanted}, {of} {got}")


def main():
    write = sys.argv[1:] == ["--write-calls"]
    options = write or sys.argv[1:] == ["--record"]
    given = [] if options else sys.argv[1:]
    programs = given or sorted(name[:-3] for name in os.listdir(PROGRAMS) if name.endswith(".py"))
    if not programs:
        sys.exit("there are no programs to compare")
    if options and not write:
        return record(programs)
    with tempfile.TemporaryDirectory() as folder:
        calls = os.path.join(folder, "calls")
        for i, program in enumerate(programs):
            wanted = recorded.read(**reference(program), command="python/tests/compare_programs.py --record")
            compare(program, wanted, numbers("tensorbraid", program, calls), "Tensorbraid")
            if i % LIVE_EVERY == 0:
                compare(program, wanted, numbers("tensorflow", program), "TensorFlow")
        with open(calls) as file:
            text = HEADER + "".join(sorted(set(file)))
    if write:
        with open(CALLS, "w") as file:
            file.write(text)
    elif not given:
        with open(CALLS) as file:
            if file.read() != text:
                sys.exit(f"the programs call other names than {CALLS} has: run compare_programs.py --write-calls")


if __name__ == "__main__":
    main()
