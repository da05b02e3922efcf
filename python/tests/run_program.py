"""run_program.py tensorflow|tensorbraid PROGRAM [TARGET]: runs a program of programs/ with that package."""

import importlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs"))


def main():
    package, program = sys.argv[1:3]
    if package == "tensorflow":
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # tf.layers and tf.nn.rnn_cell are in the package tf_keras
        import tensorflow.compat.v1 as tf

        tf.disable_v2_behavior()
    else:
        import tensorbraid as tf
    importlib.import_module(program).run(tf, *sys.argv[3:])


main()
