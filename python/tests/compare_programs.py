"""Runs each program of programs/ with TensorFlow and with Tensorbraid, and compares all numbers that they print.

usage: compare_programs.py [PROGRAM...]

Needs a Python with TensorFlow and NumPy, and the package tensorbraid in PYTHONPATH.
"""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOLERANCE = 1e-5  # relative, and absolute below 1; the sums of a product may be added in another order


def numbers(package, program):
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
    ran = subprocess.run([sys.executable, os.path.join(HERE, "run_program.py"), package, program], env=environment,
                         capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"{program} fails with {package}:\n{ran.stderr[-4000:]}")
    return [float(word) for word in ran.stdout.split()]


def main():
    programs = sys.argv[1:] or sorted(name[:-3] for name in os.listdir(os.path.join(HERE, "programs"))
                                      if name.endswith(".py"))
    if not programs:
        sys.exit("there are no programs to compare")
    for program in programs:
        wanted = numbers("tensorflow", program)
        got = numbers("tensorbraid", program)
        if len(wanted) != len(got) or not wanted:
            sys.exit(f"{program}: TensorFlow prints {len(wanted)} numbers, Tensorbraid {len(got)}")
        worst = max(abs(a - b) / max(1, abs(a)) for a, b in zip(wanted, got))
        print(f"{program}: {len(wanted)} numbers, largest difference {worst:.2g}")
        if not worst <= TOLERANCE:
            sys.exit(f"{program}: the numbers differ: TensorFlow {wanted}, Tensorbraid {got}")


if __name__ == "__main__":
    main()
