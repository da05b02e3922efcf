"""Examples of Keras run on this package by its runner, and their losses fall. run.py runs this file."""

import json
import os
import subprocess
import sys

import keras
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = ("mnist_mlp mnist_cnn imdb_lstm cifar10_cnn variational_autoencoder lstm_text_generation mnist_siamese "
            "addition_rnn").split()


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, tmp_path):
    ran = subprocess.run([sys.executable, "-W", "ignore", "-m", "tensorbraid", os.path.join(HERE, "run_example.py"),
                          name], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-4000:]
    result = json.loads(ran.stdout.splitlines()[-1])
    assert result["keras"] == keras.__version__
    assert len(result["losses"]) > 1 and result["losses"][-1] < result["losses"][0]
