"""tf.keras where the library Keras 2.3.1 is not installed, or other libraries are in its place."""

import importlib.metadata
import unittest
from unittest import mock

import tensorbraid as tf
from tensorbraid.internal import installed_keras
from tensorbraid.runner import api


def installed(**versions):
    """Takes these distributions for the installed ones."""
    def version(name):
        key = name.lower().replace("-", "_")
        if key not in versions:
            raise importlib.metadata.PackageNotFoundError(name)
        return versions[key]

    return mock.patch.object(importlib.metadata, "version", version)


NEEDED = {"keras_applications": "1.0.8", "keras_preprocessing": "1.1.2", "h5py": "3.16.0"}


class MissingTest(unittest.TestCase):
    def test_without_the_library_one_line_says_what_helps(self):
        with installed():
            text = "tf.keras is the library Keras 2.3.1, which is not installed; install it: pip install tensorbraid[keras]"
            for name in ("layers", "Model", "backend", "Input"):
                with self.assertRaises(AttributeError) as caught:
                    getattr(tf.keras, name)
                self.assertEqual(str(caught.exception), f"tf.keras.{name}: {text}")
            with self.assertRaises(ImportError) as caught:
                import tensorbraid.keras.layers  # noqa: F401
            self.assertEqual(str(caught.exception), text)
            with self.assertRaisesRegex(AttributeError, "tf.keras.utils.plot_model: tf.keras is the library"):
                tf.keras.utils.plot_model
            for path in ("keras.layers.Dense", "contrib.keras.layers.Dense", "python.keras.layers.Dense"):
                self.assertEqual(api.refusal(path), text)
            self.assertIsNone(api.refusal("keras.utils.get_file"))
            self.assertIsNone(api.refusal("python.keras.backend.variable"))

    def test_keras_3_and_tensorflow_2_are_refused(self):
        for versions, text in (({"keras": "3.9.0", "tensorflow": "2.21.0"}, "and Keras 3.9.0 is installed, which "),
                               ({"tensorflow_cpu": "2.21.0"}, "does not fit to the installed TensorFlow 2.21.0; "),
                               ({"tensorflow": "2.21.0"}, "does not fit to the installed TensorFlow 2.21.0; ")):
            with installed(**versions):
                self.assertIn(text, installed_keras.problem())
                self.assertIn("python3 -m venv ENV && ENV/bin/pip install tensorbraid[keras]",
                              installed_keras.problem())

    def test_other_versions_and_missing_parts(self):
        with installed(keras="2.2.5"):
            self.assertIn("Keras 2.2.5 is installed; install the other: pip install tensorbraid[keras]",
                          installed_keras.problem())
        with installed(keras="2.3.1", h5py="3.16.0"):
            self.assertIn("needs keras_applications, keras_preprocessing; install it", installed_keras.problem())
        with installed(keras="2.3.1", **NEEDED):
            self.assertIsNone(installed_keras.problem())
            self.assertIn("has no such name", api.refusal("keras.no_such_name"))


if __name__ == "__main__":
    unittest.main()
