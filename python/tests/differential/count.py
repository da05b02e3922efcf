"""Counts the callables of tf.compat.v1 that Tensorbraid is tested with. TensorFlow 2.15 is the last that has all.

usage: count.py            runs compare.py, which compares and prints the count
       count.py --names    writes names.txt; needs a Python with TensorFlow 2.15 and Keras 2.15

The names are the public callables of tf.compat.v1 and of the modules in tracing.py, in names.txt. A name counts if
- a case of this folder calls it by this name, with an argument that is not the default, and all that the case returns
  (values in steps, dtypes, static shapes, gradients, names of nodes, structures) is what TensorFlow returns;
- or a program of ../programs calls it so: all numbers that the program prints are compared with those that it prints
  with TensorFlow (../compare_programs.py, which keeps the calls in programs.txt);
- or it is an exception with which a case ends in both packages.
Cases that end with any other error do not count. tracing.py says what is a call with arguments; it traces the calls, so
a case cannot claim a name that it does not call. not_done.txt has the names that are not counted, with the reason.
"""

import collections
import os
import runpy
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True


def lines(file):
    """The lines of a file beside this one, without comments."""
    with open(os.path.join(HERE, file)) as text:
        return [line.rstrip("\n") for line in text if line.strip() and not line.startswith("#")]


def module_of(name):
    return name.partition(".")[0] if "." in name else "tf"


def report(present, called):
    """Prints the count of each module, and the names that are missing or not counted, with the reasons."""
    names = lines("names.txt")
    counted = (set(called) | set(lines("programs.txt"))) & set(names)
    reasons = dict(line.split("\t") for line in lines("not_done.txt"))
    groups = collections.defaultdict(list)
    for name in names:
        groups[module_of(name)].append(name)
    for module, members in groups.items():
        rest = [name for name in members if name not in counted]
        print(f"{module}: {len(members)} callables, {sum(name in present for name in members)} present, "
              f"{len(members) - len(rest)} counted")
        for name in rest:
            state = "present, not counted" if name in present else "missing"
            print(f"  {name}: {state}: {reasons.get(name, 'not done yet')}")
    for name in sorted(counted & set(reasons)):
        print(f"not_done.txt lists {name}, which counts: remove the line")
    print(
        f"{len(counted)} of {len(names)} callables of TensorFlow 2.15 count ({100 * len(counted) / len(names):.1f} %)")


def write_names():
    import tensorflow.compat.v1 as tf

    import tracing

    tf.disable_v2_behavior()
    if not tf.__version__.startswith("2.15."):
        sys.exit(f"this is TensorFlow {tf.__version__}, not 2.15")
    with open(os.path.join(HERE, "names.txt"), "w") as file:
        file.write(f"# The callables of tf.compat.v1 of TensorFlow {tf.__version__}, made by count.py --names.\n")
        file.write("".join(name + "\n" for name in tracing.callables(tf)))


if __name__ == "__main__":
    if sys.argv[1:] == ["--names"]:
        write_names()
    else:
        runpy.run_path(os.path.join(HERE, "compare.py"), run_name="__main__")
