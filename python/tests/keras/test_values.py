"""tf.keras computes what tf_keras on TensorFlow 2.21 computes in graph mode, and reads its files."""

import json
import os
import tempfile
import unittest
import warnings

import h5py
import numpy as np
import tensorbraid as tf
import tf_values

WANTED = tf_values.read()


def as_tensorflow_1_15_wrote_it(path):
    """Changes a file of tf_keras to what TensorFlow 1.15 wrote."""
    def changed(text):
        value = json.loads(text, object_hook=lambda part: {
            key: item for key, item in part.items() if key not in ("optional", "groups", "shared_object_id")})
        return json.dumps(value).replace('"class_name": "Functional"', '"class_name": "Model"')

    with h5py.File(path, "r+") as file:
        for group in (file, file["model_weights"]):
            group.attrs["keras_version"] = b"2.2.4-tf"
        config = changed(file.attrs["model_config"])
        file.attrs["model_config"] = config.encode()
        training = json.loads(file.attrs["training_config"])
        training["optimizer_config"]["config"].pop("is_legacy_optimizer", None)
        file.attrs["training_config"] = json.dumps(training).encode()
    with open(path + ".json", "w", encoding="utf-8") as text:
        text.write(json.dumps({**json.loads(config), "keras_version": "2.2.4-tf", "backend": "tensorflow"}))


class ValuesTest(unittest.TestCase):
    def compare(self, found, wanted, name, tolerance):
        self.assertEqual(len(found), len(wanted), name)
        for index, (got, value) in enumerate(zip(found, wanted)):
            np.testing.assert_allclose(got, value, rtol=tolerance, atol=tolerance / 5, err_msg=f"{name}, value {index}")

    def test_trainings(self):
        wanted = WANTED["trainings"]
        self.assertEqual(sorted(wanted), sorted(tf_values.trainings(tf)))
        for name in wanted:
            with self.subTest(name):
                self.compare(tf_values.values(tf, [name])[name], wanted[name], name, 1e-4)

    def read(self, name, change=lambda path: None):
        """Compares what a recorded file computes, after this change of it."""
        wanted = WANTED["files"][name]
        with self.subTest(name), tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.filterwarnings("error", ".*optimizer.*")  # "your model is starting with a freshly initialized"
            tf.keras.backend.clear_session()
            path = os.path.join(folder, "model.h5")
            with open(path, "wb") as file, open(path + ".json", "w", encoding="utf-8") as text:
                file.write(wanted["file"].tobytes())
                text.write(wanted["json"])
            change(path)
            self.compare(tf_values.read_model(tf, name, path), wanted["results"], name, 1e-4)

    def test_files_of_tensorflow(self):
        for name in WANTED["files"]:
            self.read(name)

    def test_configurations_of_tensorflow(self):
        tf_values.read_configurations(tf, WANTED["configurations"])
        tf_values.read_configurations(tf, tf_values.configurations(tf))

    def test_files_of_tensorflow_1(self):
        for name in ("batch normalization", "branches", "masks", "nested"):
            self.read(name, as_tensorflow_1_15_wrote_it)


if __name__ == "__main__":
    unittest.main()
