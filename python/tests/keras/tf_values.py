#!/usr/bin/env python3
"""Values of tf.keras: trainings of 20 steps from equal weights, and models in HDF5 files.

`values` computes them with tf.keras of this package, and with that of TensorFlow and tf_keras in graph mode.

usage: tf_values.py --record         writes those of TensorFlow into ../references/keras. Needs a Python with TensorFlow
                                     and tf_keras: build/release/interop_venv/bin/python
       tf_values.py --write FOLDER   writes the models of this package into the folder
       tf_values.py --read FOLDER    reads them with TensorFlow, and compares what they compute
"""

import json
import os
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "..", "tests", "interop"))
sys.dont_write_bytecode = True
import recorded  # noqa: E402

COMMAND = "build/release/interop_venv/bin/python python/tests/keras/tf_values.py --record"
REFERENCE = {"path": os.path.join(HERE, "..", "references", "keras", "tf_values.json.xz"),
             "files": [os.path.join(HERE, "tf_values.py")]}


def _uniform(seed, *shape):
    return np.random.RandomState(seed).uniform(-0.5, 0.5, shape).astype(np.float32)


X, IMAGES, SEQUENCES = _uniform(1, 40, 4), _uniform(2, 40, 6, 6, 2), _uniform(3, 40, 5, 3)
IDS = np.random.RandomState(4).randint(0, 7, (40, 5))
SEQUENCES[::3, 3:] = 0.0  # which Masking hides
Y, CLASSES = _uniform(5, 40, 2), np.eye(3, dtype=np.float32)[np.arange(40) % 3]
FEATURES = {"age": X[:, 0], "id": IDS[:, 0], "height": X[:, 1]}


def _mlp(k, **arguments):
    layers = k.layers
    return k.Sequential([layers.Dense(5, activation="tanh", input_shape=(4,), **arguments), layers.Dense(2)])


def _normalized(k):
    layers = k.layers
    return k.Sequential([layers.Conv2D(3, 3, padding="same", use_bias=False, input_shape=(6, 6, 2)),
                         layers.BatchNormalization(), layers.Activation("relu"), layers.Flatten(),
                         layers.Dense(4, use_bias=False),
                         layers.BatchNormalization(momentum=0.9, scale=False), layers.Dense(3, activation="softmax")])


def _masked(k):
    layers = k.layers
    return k.Sequential([layers.Masking(input_shape=(5, 3)), layers.LSTM(4, return_sequences=True),
                         layers.Bidirectional(layers.GRU(3, return_sequences=True)),
                         layers.TimeDistributed(layers.Dense(3)), layers.SimpleRNN(2)])


def _of_steps(k):
    layers = k.layers
    return k.Sequential([layers.Bidirectional(layers.LSTM(3, return_sequences=True), merge_mode="sum",
                                              input_shape=(5, 3)), layers.Dense(2)])


def _of_words(k):
    layers = k.layers
    return k.Sequential([layers.Embedding(7, 4, mask_zero=True, input_length=5), layers.SimpleRNN(4), layers.Dense(2)])


def _stateful(k):
    layers = k.layers
    return k.Sequential([layers.LSTM(3, stateful=True, batch_input_shape=(8, 5, 3)), layers.Dense(2)])


def _regularized(k):
    layers, of = k.layers, k.regularizers
    return k.Sequential([
        layers.Dense(5, input_shape=(4,), kernel_regularizer=of.l1(0.01), bias_regularizer="l2", activation="tanh"),
        layers.Dense(4, kernel_regularizer=of.l1_l2(0.01, 0.02), activity_regularizer=of.l2(0.01)),
        layers.ActivityRegularization(l1=0.01), layers.Dense(2)])


def _constrained(k):
    layers, of = k.layers, k.constraints
    return k.Sequential([layers.Dense(5, input_shape=(4,), kernel_constraint=of.max_norm(0.7), activation="tanh"),
                         layers.Dense(4, kernel_constraint=of.unit_norm(), bias_constraint="non_neg"),
                         layers.Dense(2, kernel_constraint=of.min_max_norm(0.2, 0.6, rate=0.5))])


def _nested(k):
    layers = k.layers
    inner = k.Sequential([layers.Dense(5, activation="relu", input_shape=(4,), activity_regularizer="l2"),
                          layers.BatchNormalization()])
    x = k.Input((4,))
    return k.Model(x, layers.Dense(2)(inner(x)))


def _branches(k):
    layers = k.layers
    a, b = k.Input((4,), name="a"), k.Input((5, 3), name="b")
    joined = layers.concatenate([layers.Dense(3, activation="tanh")(a), layers.LSTM(3)(b)])
    joined = layers.add([layers.Dense(6)(joined), joined])
    return k.Model([a, b], [layers.Dense(2, name="p")(joined), layers.Dense(3, activation="softmax", name="q")(joined)])


def _normalized_layers(k):
    layers = k.layers
    x = k.Input((5, 3))
    y = layers.LayerNormalization()(layers.Dense(4)(x))
    y = layers.GlobalAveragePooling1D()(layers.Attention(use_scale=True)([y, y]))
    return k.Model(x, layers.Dense(2)(layers.PReLU()(y)))


def _convolutions(k):
    layers = k.layers
    x = k.Input((6, 6, 2))
    y = layers.LeakyReLU(0.1)(layers.SeparableConv2D(3, 3, padding="same")(x))
    y = layers.UpSampling2D()(layers.Conv2DTranspose(2, 2)(layers.DepthwiseConv2D(3)(y)))
    return k.Model(x, layers.Dense(2)(layers.GlobalMaxPooling2D()(layers.ZeroPadding2D(1)(y))))


def _columns(tf):
    column, layers = tf.feature_column, tf.keras.layers
    columns = [column.numeric_column("age"), column.bucketized_column(column.numeric_column("height"), [-0.2, 0.2]),
               column.embedding_column(column.categorical_column_with_identity("id", 7), 3)]
    return tf.keras.Sequential([layers.DenseFeatures(columns), layers.Dense(3, activation="relu"), layers.Dense(2)])


def _subclass(tf):
    layers = tf.keras.layers

    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first, self.normal, self.last = layers.Dense(4), layers.BatchNormalization(), layers.Dense(2)

        def call(self, inputs, training=None):
            return self.last(self.normal(tf.nn.relu(self.first(inputs)), training=training))

    return Net()


def _adversarial(k):
    """A generator whose discriminator is not trained, and averages of BatchNormalization in a model that is called."""
    layers = k.layers
    discriminator = k.Sequential([layers.Dense(5, input_shape=(3,)), layers.LeakyReLU(0.2),
                                  layers.BatchNormalization(momentum=0.8), layers.Dense(2)], name="discriminator")
    discriminator.compile("sgd", "mse")
    inputs, noise = k.Input((4,)), k.Input((4,))
    generator = k.Model(inputs, layers.Dense(3)(layers.BatchNormalization(momentum=0.8)(layers.Dense(4)(inputs))))
    discriminator.trainable = False
    return k.Model(noise, discriminator(generator(noise)))


def _losses_of_samples(k):
    """A model with losses of samples that are not reduced."""
    x = k.Input((4,))
    y = k.layers.Dense(2)(x)
    model = k.Model(x, y)
    model.add_loss(k.backend.sum(k.backend.square(y), -1))
    return model


def _axes(k):
    layers = k.layers
    return k.Sequential([layers.BatchNormalization(axis=[1, 3], momentum=0.9, input_shape=(6, 6, 2)), layers.Flatten(),
                         layers.Dense(3, activation="softmax")])


def trainings(tf):
    """By name: a model, the arguments of `compile`, inputs, targets, and further arguments of `fit`."""
    k = tf.keras
    o, s, m = k.optimizers, k.optimizers.schedules, k.metrics
    adam, sgd = lambda: o.Adam(0.01), lambda: o.SGD(0.05)
    weights = np.linspace(0.0, 2.0, 40, dtype=np.float32)
    found = {f"optimizer {name}": (lambda: _mlp(k), {"optimizer": make, "loss": "mse"}, X, Y) for name, make in {
        "sgd": sgd,
        "sgd clipnorm": lambda: o.SGD(0.1, momentum=0.9, clipnorm=0.05),
        "adam clipvalue": lambda: o.Adam(0.01, clipvalue=0.01),
        "adagrad": lambda: o.Adagrad(0.05), "adagrad 0.5": lambda: o.Adagrad(0.05, initial_accumulator_value=0.5),
        "adadelta": lambda: o.Adadelta(0.5), "adamax": lambda: o.Adamax(0.01), "nadam": lambda: o.Nadam(0.01),
        "amsgrad": lambda: o.Adam(0.01, amsgrad=True), "rmsprop": lambda: o.RMSprop(0.01),
        "rmsprop momentum": lambda: o.RMSprop(0.01, momentum=0.8),
        "rmsprop centered": lambda: o.RMSprop(0.01, momentum=0.5, centered=True, decay=0.05),
        "ftrl": lambda: o.Ftrl(0.1, l1_regularization_strength=0.001),
        "exponential": lambda: o.SGD(s.ExponentialDecay(0.1, 5, 0.5)),
        "piecewise": lambda: o.SGD(s.PiecewiseConstantDecay([5, 9], [0.1, 0.05, 0.01]), momentum=0.9, nesterov=True),
        "polynomial": lambda: o.Adam(s.PolynomialDecay(0.1, 8, 0.01, 2.0, cycle=True)),
        "inverse time": lambda: o.RMSprop(s.InverseTimeDecay(0.1, 5, 0.5, staircase=True)),
    }.items()}
    classifies = {"optimizer": adam, "loss": "categorical_crossentropy", "metrics": ["accuracy"]}
    squares = {"optimizer": adam, "loss": "mse"}
    found.update({
        "batch normalization": (lambda: _normalized(k), classifies, IMAGES, CLASSES),
        "validation": (lambda: _normalized(k), classifies, IMAGES[:32], CLASSES[:32], {
            "validation_data": (IMAGES[32:], CLASSES[32:])}),
        "sample weights": (lambda: _mlp(k), {**squares, "metrics": ["mae"], "weighted_metrics": ["mae"]}, X, Y,
                           {"sample_weight": weights}),
        "class weights": (lambda: _normalized(k), classifies, IMAGES, CLASSES, {
            "class_weight": {0: 1.0, 1: 0.5, 2: 2.0}}),
        "temporal weights": (lambda: _of_steps(k), {**squares, "sample_weight_mode": "temporal"}, SEQUENCES,
                             SEQUENCES[:, :, :2] ** 2, {"sample_weight": np.tile(weights[:, None], (1, 5))}),
        "masks": (lambda: _masked(k), {**squares, "metrics": ["mae"]}, SEQUENCES, Y),
        "masks of words": (lambda: _of_words(k), {"optimizer": lambda: o.SGD(0.1, momentum=0.9), "loss": "mse"},
                           IDS, Y),
        "stateful": (lambda: _stateful(k), squares, SEQUENCES, Y),
        "regularizers": (lambda: _regularized(k), squares, X, Y),
        "constraints": (lambda: _constrained(k), {"optimizer": lambda: o.SGD(0.3), "loss": "mse"}, X, Y),
        "nested": (lambda: _nested(k), squares, X, Y),
        "branches": (lambda: _branches(k), {
            "optimizer": sgd, "loss": {"p": "mse", "q": "categorical_crossentropy"},
            "loss_weights": {"p": 1.0, "q": 0.5}, "metrics": {"q": ["accuracy"]}}, [X, SEQUENCES], [Y, CLASSES]),
        "features": (lambda: _columns(tf), squares, FEATURES, Y),
        "subclass": (lambda: _subclass(tf), {"optimizer": sgd, "loss": "mse"}, X, Y),
        "adversarial": (lambda: _adversarial(k), {"optimizer": sgd, "loss": "mse"}, X, Y),
        "several axes": (lambda: _axes(k), classifies, IMAGES, CLASSES),
        "losses of samples": (lambda: _losses_of_samples(k), {"optimizer": lambda: o.SGD(0.005)}, X, None),
        "losses that are not reduced": (lambda: _mlp(k), {
            "optimizer": lambda: o.SGD(0.01), "loss": k.losses.MeanSquaredError(reduction="none")}, X, Y),
        "other layers": (lambda: _normalized_layers(k), squares, SEQUENCES, Y),
        "convolutions": (lambda: _convolutions(k), squares, IMAGES, Y),
        "losses as objects": (lambda: _mlp(k), {"optimizer": adam, "loss": k.losses.Huber(0.2), "metrics": [
            m.MeanSquaredError(name="a"), m.RootMeanSquaredError(name="b"), m.CosineSimilarity(name="c")]}, X, Y),
        "metrics": (lambda: _normalized(k), {**classifies, "metrics": [
            m.AUC(num_thresholds=20, name="a"), m.Precision(name="b"), m.Recall(name="c"),
            m.TopKCategoricalAccuracy(2, name="d"), m.CategoricalCrossentropy(name="e")]}, IMAGES, CLASSES),
    })
    return found


# The arguments of layers that need some.
_ARGUMENTS = {
    "Dense": [3], "Activation": ["relu"], "Conv1D": [3, 2], "Conv2D": [3, 2], "Conv3D": [3, 2],
    "Conv2DTranspose": [3, 2], "Conv3DTranspose": [3, 2], "SeparableConv1D": [3, 2], "SeparableConv2D": [3, 2],
    "DepthwiseConv2D": [2], "LocallyConnected1D": [3, 2], "LocallyConnected2D": [3, 2], "ConvLSTM2D": [3, 2],
    "LSTM": [3], "GRU": [3], "SimpleRNN": [3], "LSTMCell": [3], "GRUCell": [3], "SimpleRNNCell": [3],
    "CuDNNLSTM": [3], "CuDNNGRU": [3],
    "Dropout": [0.5], "SpatialDropout1D": [0.5], "SpatialDropout2D": [0.5], "SpatialDropout3D": [0.5],
    "GaussianNoise": [0.5], "GaussianDropout": [0.5], "AlphaDropout": [0.5], "Embedding": [5, 3], "Dot": [1],
    "Permute": [(2, 1)], "RepeatVector": [2], "Reshape": [(2,)], "MeanIoU": [3], "SensitivityAtSpecificity": [0.5],
    "SpecificityAtSensitivity": [0.5]}
_CLASSES = {
    "layers": " ".join(name for name in _ARGUMENTS if not name.startswith(("Mean", "Sens", "Spec"))) +
    " ActivityRegularization Add AdditiveAttention Attention Average AveragePooling1D AveragePooling2D "
    "AveragePooling3D BatchNormalization Concatenate Cropping1D Cropping2D Cropping3D ELU Flatten "
    "GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalMaxPooling1D GlobalMaxPooling2D "
    "GlobalMaxPooling3D LayerNormalization LeakyReLU Masking MaxPooling1D MaxPooling2D MaxPooling3D Maximum Minimum "
    "Multiply PReLU ReLU Softmax Subtract ThresholdedReLU UpSampling1D UpSampling2D UpSampling3D ZeroPadding1D "
    "ZeroPadding2D ZeroPadding3D",
    "initializers": "Constant Identity Ones Orthogonal RandomNormal RandomUniform TruncatedNormal VarianceScaling "
    "Zeros glorot_normal glorot_uniform he_normal he_uniform lecun_normal lecun_uniform",
    "constraints": "MaxNorm MinMaxNorm NonNeg RadialConstraint UnitNorm",
    "regularizers": "l1 l2 l1_l2",
    "optimizers": "Adadelta Adagrad Adam Adamax Ftrl Nadam RMSprop SGD",
    "losses": "BinaryCrossentropy CategoricalCrossentropy CategoricalHinge CosineSimilarity Hinge Huber KLDivergence "
    "LogCosh MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError Poisson "
    "SparseCategoricalCrossentropy SquaredHinge",
    "metrics": "AUC Accuracy BinaryAccuracy BinaryCrossentropy CategoricalAccuracy CategoricalCrossentropy "
    "CategoricalHinge CosineSimilarity FalseNegatives FalsePositives Hinge KLDivergence LogCoshError Mean "
    "MeanAbsoluteError MeanAbsolutePercentageError MeanIoU MeanSquaredError MeanSquaredLogarithmicError MeanTensor "
    "Poisson Precision Recall RootMeanSquaredError SensitivityAtSpecificity SparseCategoricalAccuracy "
    "SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy SpecificityAtSensitivity SquaredHinge Sum "
    "TopKCategoricalAccuracy TrueNegatives TruePositives"}


def configurations(tf):
    """The configurations of objects of each class, as JSON."""
    keras, layers, found = tf.keras, tf.keras.layers, {}
    for module, names in _CLASSES.items():
        for name in names.split():
            made = getattr(getattr(keras, module), name)(*_ARGUMENTS.get(name, []))
            found[f"{module} {name}"] = getattr(keras, module).serialize(made)
    for made in (layers.TimeDistributed(layers.Dense(2)), layers.Bidirectional(layers.LSTM(2, return_sequences=True)),
                 layers.RNN([layers.LSTMCell(2), layers.GRUCell(3)]), layers.StackedRNNCells([layers.LSTMCell(2)])):
        found[f"layers {type(made).__name__}"] = layers.serialize(made)
    return json.dumps(found, default=lambda value: value.tolist())


def read_configurations(tf, text):
    """Makes the objects of configurations that `configurations` has written."""
    for name, config in json.loads(text).items():
        try:
            getattr(tf.keras, name.partition(" ")[0]).deserialize(config)
        except Exception as error:
            raise ValueError(f"the configuration of {name}: {config}") from error


def _set_weights(model):
    """Gives the model weights that depend on their order and shapes only."""
    values = model.get_weights()
    model.set_weights([_uniform(i, *value.shape) + ("variance" in weight.name)
                       for i, (value, weight) in enumerate(zip(values, model.weights))])


def _compiled(make, arguments):
    model = make()
    model.compile(**{**arguments, "optimizer": arguments["optimizer"]()})
    return model


def _train(make, arguments, x, y, more=None):
    """What 4 epochs of 5 steps report, all variables after them, and the outputs."""
    model = _compiled(make, arguments)
    if not model.inputs:  # the shapes of a model that learns them from its data
        model.predict(x, batch_size=8)
    _set_weights(model)
    history = model.fit(x, y, batch_size=8, epochs=4, shuffle=False, verbose=0, **(more or {})).history
    outputs = model.predict(x, batch_size=8)
    # TensorFlow reports the mean loss of each place in a batch, if losses are not reduced.
    return [*(np.reshape(history[name], (4, -1)).mean(1) for name in sorted(history)), *model.get_weights(),
            *(outputs if isinstance(outputs, list) else [outputs])]


SAVED = ("batch normalization", "branches", "convolutions", "losses as objects", "masks", "masks of words", "nested",
         "optimizer amsgrad", "optimizer ftrl", "optimizer nadam", "optimizer polynomial", "optimizer rmsprop centered",
         "optimizer sgd", "regularizers")


def write_model(tf, name, path):
    """Trains a model, and writes it and its configuration.

    Returns its outputs, the results of `evaluate`, and the outputs after one more step.
    """
    make, arguments, x, y, *_ = trainings(tf)[name]
    model = _compiled(make, arguments)
    _set_weights(model)
    model.fit(x, y, batch_size=8, shuffle=False, verbose=0)
    model.save(path)
    with open(path + ".json", "w", encoding="utf-8") as file:
        file.write(model.to_json())
    return _results(model, x, y)


def _results(model, x, y):
    found = _as_list(model.predict(x)) + [np.array(model.evaluate(x, y, verbose=0))]
    model.train_on_batch(x, y)
    return found + _as_list(model.predict(x))


def _as_list(value):
    return value if isinstance(value, list) else [value]


def read_model(tf, name, path):
    """What `write_model` returned, with the model that is read, and a model of its configuration with its weights."""
    _, _, x, y, *_ = trainings(tf)[name]
    with open(path + ".json", encoding="utf-8") as file:
        copy = tf.keras.models.model_from_json(file.read())
    model = tf.keras.models.load_model(path)
    copy.set_weights(model.get_weights())
    np.testing.assert_allclose(_as_list(copy.predict(x))[0], _as_list(model.predict(x))[0], rtol=1e-5, atol=1e-6)
    return _results(model, x, y)


def values(tf, names=None):
    """The values of the trainings by name: lists of arrays."""
    found = {}
    for name in names or trainings(tf):
        tf.keras.backend.clear_session()
        found[name] = _train(*trainings(tf)[name])
    return found


def record():
    tf = _tensorflow()
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in SAVED:
            tf.keras.backend.clear_session()
            path = os.path.join(folder, "model.h5")
            results = write_model(tf, name, path)
            with open(path, "rb") as file, open(path + ".json", encoding="utf-8") as text:
                files[name] = {"file": np.frombuffer(file.read(), np.uint8), "json": text.read(), "results": results}
    recorded.write(**REFERENCE, version=tf.version.VERSION, values={
        "trainings": values(tf), "files": files, "configurations": configurations(tf)})


def read():
    """The values of TensorFlow."""
    return recorded.read(**REFERENCE, command=COMMAND)


def _tensorflow():
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_ENABLE_ONEDNN_OPTS="0",
                      TF_USE_LEGACY_KERAS="1")
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    return tf


def write_files(folder):
    import tensorbraid as tf

    for name in SAVED:
        tf.keras.backend.clear_session()
        np.savez(os.path.join(folder, name + ".npz"), *write_model(tf, name, os.path.join(folder, name + ".h5")))
    with open(os.path.join(folder, "configurations.json"), "w", encoding="utf-8") as file:
        file.write(configurations(tf))


def read_files(folder):
    tf = _tensorflow()
    for name in SAVED:
        tf.keras.backend.clear_session()
        with np.load(os.path.join(folder, name + ".npz")) as results:
            for found, wanted in zip(read_model(tf, name, os.path.join(folder, name + ".h5")), results.values()):
                np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=2e-5, err_msg=name)
        print(f"{name}: equal")
    with open(os.path.join(folder, "configurations.json"), encoding="utf-8") as file:
        read_configurations(tf, file.read())
    print("configurations: read")


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        record()
    elif len(sys.argv) == 3 and sys.argv[1] in ("--write", "--read"):
        (write_files if sys.argv[1] == "--write" else read_files)(sys.argv[2])
    else:
        sys.exit(__doc__)
