"""Runs each program of programs/ with TensorFlow and with Tensorbraid, and compares all numbers that they print.

usage: compare_programs.py [PROGRAM...]
       compare_programs.py --write-calls    also writes differential/programs.txt, the callables that the programs call

Needs a Python with TensorFlow and NumPy, and the package tensorbraid in PYTHONPATH.
"""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = os.path.join(HERE, "differential", "programs.txt")
HEADER = "# The callables that the programs of ../programs call; compare_programs.py --write-calls writes this file.\n"
TOLERANCE = 1e-5  # relative, and absolute below 1; the sums of a product may be added in another order


def numbers(package, program, calls=""):
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TENSORBRAID_CALLS=calls)
    ran = subprocess.run([sys.executable, os.path.join(HERE, "run_program.py"), package, program], env=environment,
                         capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"{program} fails with {package}:\n{ran.stderr[-4000:]}")
    return [float(word) for word in ran.stdout.split()]


def compare(program, calls):
    """Ends the process if the numbers of the two packages differ. Appends the traced calls to the file `calls`."""
    wanted = numbers("tensorflow", program)
    got = numbers("tensorbraid", program, calls)
    if len(wanted) != len(got) or not wanted:
        sys.exit(f"{program}: TensorFlow prints {len(wanted)} numbers, Tensorbraid {len(got)}")
    worst = max(abs(a - b) / max(1, abs(a)) for a, b in zip(wanted, got))
    print(f"{program}: {len(wanted)} numbers, largest difference {worst:.2g}")
    if not worst <= TOLERANCE:
        sys.exit(f"{program}: the numbers differ: TensorFlow {wanted}, Tensorbraid {got}")


def main():
    write = sys.argv[1:] == ["--write-calls"]
    given = [] if write else sys.argv[1:]
    programs = given or sorted(name[:-3] for name in os.listdir(os.path.join(HERE, "programs")) if name.endswith(".py"))
    if not programs:
        sys.exit("there are no programs to compare")
    with tempfile.TemporaryDirectory() as folder:
        calls = os.path.join(folder, "calls")
        for program in programs:
            compare(program, calls)
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
