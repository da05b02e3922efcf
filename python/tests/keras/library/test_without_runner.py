"""Keras on this package in processes that the runner does not start. run.py runs this file."""

import subprocess
import sys

PROGRAM = """
import tensorbraid.as_tensorflow
import keras
import numpy as np
import tensorflow as tf

def test_a_model_is_trained_saved_and_restored(tmp_path):
    model = keras.models.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    x = np.eye(2)
    losses = model.fit(x, x[:, :1], epochs=20, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    model.save(str(tmp_path / "model.h5"))
    restored = keras.models.load_model(str(tmp_path / "model.h5"))
    assert np.array_equal(restored.predict(x), model.predict(x))
    assert isinstance(model.output, tf.Tensor)
"""
MAIN = """
import pathlib
test_a_model_is_trained_saved_and_restored(pathlib.Path("."))
"""


def ran(arguments, folder):
    done = subprocess.run([sys.executable, "-W", "ignore", *arguments], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_a_program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM + MAIN)
    ran(["program.py"], tmp_path)


def test_pytest_with_a_plugin(tmp_path):
    (tmp_path / "test_it.py").write_text(PROGRAM.replace("import tensorbraid.as_tensorflow\n", ""))
    assert "1 passed" in ran(["-m", "pytest", "-p", "tensorbraid.as_tensorflow", "test_it.py"], tmp_path)
