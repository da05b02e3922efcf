"""run_program.py tensorflow|tensorbraid PROGRAM [TARGET]: runs a program of programs/ with that package.

With TENSORBRAID_CALLS=FILE in the environment, the names of the callables that the program calls are added to FILE.
"""

import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "programs"), os.path.join(HERE, "differential")]


def main():
    package, program = sys.argv[1:3]
    if package == "tensorflow":
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # tf.layers and tf.nn.rnn_cell are in the package tf_keras
        import tensorflow.compat.v1 as tf

        tf.disable_v2_behavior()
    else:
        import tensorbraid as tf
    calls, noted = os.environ.get("TENSORBRAID_CALLS"), set()
    if calls:
        import tracing

        tf = tracing.TracedModule(tf, noted)
    importlib.import_module(program).run(tf, *sys.argv[3:])
    if calls:
        with open(calls, "a") as file:
            file.write("".join(name + "\n" for name in noted))


main()
