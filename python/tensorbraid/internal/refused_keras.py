"""Names of TensorFlow 1.15's tf.keras that the package refuses, with what a program can do instead."""

__all__ = []

NAMES = {
    "mixed_precision": "there are no policies of dtypes; a layer has the argument `dtype`, and tf.cast converts",
    "experimental.LinearModel": "make a model of a Dense layer for each input, and add their outputs",
    "experimental.WideDeepModel": "make a model of both parts and add their outputs, or use "
                                  "tf.estimator.DNNLinearCombinedClassifier, which trains them with two optimizers",
    "experimental.terminate_keras_multiprocessing_pools": "fit ends the processes that it has started",
}


def check(name):
    """Raises AttributeError if the name is refused."""
    if name in NAMES:
        raise AttributeError(f"tf.keras.{name} is not part of this package: {NAMES[name]}")
