"""The workloads of `compare_tensorflow --part=keras`, for the library Keras and for tf_keras on TensorFlow.

usage: keras_models.py NAME [--smoke]                       prints one line of JSON, with tf_keras on TensorFlow
       python -m tensorbraid keras_models.py NAME [--smoke]     the same with Keras on Tensorbraid

TensorFlow is in graph mode. Models, optimizers and data are the same.
"""

import json
import sys
import time

import numpy as np
import tensorflow as tf

if tf.__name__ == "tensorbraid":
    import keras
else:
    import tf_keras as keras

    tf.compat.v1.disable_v2_behavior()

layers = keras.layers


def mlp(smoke):
    """Microseconds of a step of `fit`: 64 inputs, two layers of 64 units, 10 classes, batches of 32, SGD, accuracy."""
    steps = 20 if smoke else 500
    random = np.random.RandomState(0)
    x = random.rand(32 * steps, 64).astype(np.float32)
    y = np.eye(10, dtype=np.float32)[x[:, :10].argmax(axis=1)]
    model = keras.models.Sequential([layers.Dense(64, activation="relu", input_shape=(64,)),
                                     layers.Dense(64, activation="relu"), layers.Dense(10, activation="softmax")])
    model.compile("sgd", "categorical_crossentropy", metrics=[keras.metrics.categorical_accuracy])
    times, losses = [], []
    for _ in range(3 if smoke else 10):
        start = time.perf_counter()
        losses += model.fit(x, y, batch_size=32, verbose=0).history["loss"]
        times.append((time.perf_counter() - start) / steps * 1e6)
    if not losses[-1] < losses[0]:
        raise RuntimeError("the loss has not fallen")
    return min(times[1:])


def _block(x, filters, strides, is_first):
    """A bottleneck: convolutions of 1x1, 3x3 and 1x1 with batch normalization, beside a shortcut."""
    y = layers.Conv2D(filters, 1, strides=strides)(x)
    y = layers.Activation("relu")(layers.BatchNormalization()(y))
    y = layers.Conv2D(filters, 3, padding="same")(y)
    y = layers.Activation("relu")(layers.BatchNormalization()(y))
    y = layers.BatchNormalization()(layers.Conv2D(4 * filters, 1)(y))
    if is_first:
        x = layers.BatchNormalization()(layers.Conv2D(4 * filters, 1, strides=strides)(x))
    return layers.Activation("relu")(layers.Add()([x, y]))


def resnet(smoke):
    """Milliseconds in which a ResNet-50 is built of layers, in an empty graph."""
    times = []
    for _ in range(1 if smoke else 5):
        keras.backend.clear_session()
        start = time.perf_counter()
        image = layers.Input((224, 224, 3))
        x = layers.Conv2D(64, 7, strides=2, padding="same")(image)
        x = layers.Activation("relu")(layers.BatchNormalization()(x))
        x = layers.MaxPooling2D(3, strides=2)(x)
        for stage, blocks in enumerate((3, 4, 6, 3)):
            for i in range(blocks):
                x = _block(x, 64 << stage, 2 if stage > 0 and i == 0 else 1, i == 0)
        x = layers.Dense(1000, activation="softmax")(layers.GlobalAveragePooling2D()(x))
        model = keras.models.Model(image, x)
        times.append((time.perf_counter() - start) * 1e3)
        if model.count_params() != 25636712:
            raise RuntimeError(f"the model has {model.count_params()} parameters")
    return min(times)


if __name__ == "__main__":
    workload = {"mlp": mlp, "resnet": resnet}[sys.argv[1]]
    print(json.dumps({"keras": keras.__version__, "min": workload("--smoke" in sys.argv)}))
