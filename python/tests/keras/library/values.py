#!/usr/bin/env python3
"""Values of Keras: layers with gradients, losses, and trainings of 20 steps from equal weights.

`values` computes them with the library Keras, and with tf_keras on TensorFlow in graph mode.

usage: values.py --record    writes those of tf_keras into ../../references/keras. Needs a Python with TensorFlow and
                             tf_keras: build/release/interop_venv/bin/python
"""

import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "..", "..", "tests", "interop"))
sys.dont_write_bytecode = True
import recorded  # noqa: E402

COMMAND = "build/release/interop_venv/bin/python python/tests/keras/library/values.py --record"
REFERENCE = {"path": os.path.join(HERE, "..", "..", "references", "keras", "values.json.xz"),
             "files": [os.path.join(HERE, "values.py")]}

# A layer, made of keras.layers, and the shapes of its inputs without the batch.
LAYERS = {
    "dense_tanh": (lambda layers: layers.Dense(3, activation="tanh"), (4,)),
    "dense_of_sequences": (lambda layers: layers.Dense(3, activation="sigmoid"), (2, 4)),
    "activation_selu": (lambda layers: layers.Activation("selu"), (5,)),
    "activation_elu": (lambda layers: layers.Activation("elu"), (5,)),
    "activation_softplus": (lambda layers: layers.Activation("softplus"), (5,)),
    "activation_softsign": (lambda layers: layers.Activation("softsign"), (5,)),
    "activation_hard_sigmoid": (lambda layers: layers.Activation("hard_sigmoid"), (5,)),
    "activation_exponential": (lambda layers: layers.Activation("exponential"), (5,)),
    "activation_softmax": (lambda layers: layers.Activation("softmax"), (5,)),
    "leaky_relu": (lambda layers: layers.LeakyReLU(0.2), (5,)),
    "prelu": (lambda layers: layers.PReLU(), (5,)),
    "thresholded_relu": (lambda layers: layers.ThresholdedReLU(0.3), (5,)),
    "softmax_of_an_axis": (lambda layers: layers.Softmax(axis=1), (3, 4)),
    "flatten": (lambda layers: layers.Flatten(), (2, 3)),
    "reshape": (lambda layers: layers.Reshape((3, -1)), (2, 6)),
    "permute": (lambda layers: layers.Permute((2, 1)), (2, 3)),
    "repeat_vector": (lambda layers: layers.RepeatVector(3), (4,)),
    "dropout_outside_of_training": (lambda layers: layers.Dropout(0.5), (4,)),
    "noise_outside_of_training": (lambda layers: layers.GaussianNoise(0.5), (4,)),
    "conv1d": (lambda layers: layers.Conv1D(3, 2, strides=2, activation="relu"), (6, 2)),
    "conv1d_causal": (lambda layers: layers.Conv1D(3, 2, padding="causal", dilation_rate=2), (6, 2)),
    "conv2d": (lambda layers: layers.Conv2D(3, 3), (6, 5, 2)),
    "conv2d_same_with_strides": (lambda layers: layers.Conv2D(3, (3, 2), strides=2, padding="same"), (6, 5, 2)),
    "conv2d_dilated": (lambda layers: layers.Conv2D(2, 2, dilation_rate=2, use_bias=False), (6, 5, 2)),
    "conv2d_transposed": (lambda layers: layers.Conv2DTranspose(3, 3, strides=2, padding="same"), (3, 4, 2)),
    "conv3d": (lambda layers: layers.Conv3D(2, 2), (3, 4, 3, 2)),
    "separable_conv2d": (lambda layers: layers.SeparableConv2D(3, 3, depth_multiplier=2), (5, 5, 2)),
    "depthwise_conv2d": (lambda layers: layers.DepthwiseConv2D(3, padding="same"), (5, 4, 2)),
    "locally_connected1d": (lambda layers: layers.LocallyConnected1D(3, 2), (5, 2)),
    "cropping2d": (lambda layers: layers.Cropping2D(((1, 0), (1, 2))), (4, 5, 2)),
    "zero_padding2d": (lambda layers: layers.ZeroPadding2D(((1, 0), (1, 2))), (2, 3, 2)),
    "up_sampling2d": (lambda layers: layers.UpSampling2D((2, 3)), (2, 3, 2)),
    "max_pooling2d": (lambda layers: layers.MaxPooling2D(2, padding="same"), (5, 4, 2)),
    "average_pooling2d": (lambda layers: layers.AveragePooling2D((2, 3), strides=1), (5, 4, 2)),
    "average_pooling2d_same": (lambda layers: layers.AveragePooling2D(2, padding="same"), (5, 4, 2)),
    "global_max_pooling2d": (lambda layers: layers.GlobalMaxPooling2D(), (3, 4, 2)),
    "global_average_pooling1d": (lambda layers: layers.GlobalAveragePooling1D(), (3, 4)),
    "batch_normalization": (lambda layers: layers.BatchNormalization(), (3, 4, 2)),
    "simple_rnn": (lambda layers: layers.SimpleRNN(3), (4, 2)),
    "gru": (lambda layers: layers.GRU(3, recurrent_activation="hard_sigmoid", reset_after=False), (4, 2)),
    "gru_reset_after": (lambda layers: layers.GRU(3, recurrent_activation="sigmoid", reset_after=True), (4, 2)),
    "lstm": (lambda layers: layers.LSTM(3, recurrent_activation="hard_sigmoid", return_sequences=True), (4, 2)),
    "lstm_backwards": (lambda layers: layers.LSTM(3, recurrent_activation="sigmoid", go_backwards=True), (4, 2)),
    "lstm_unrolled": (lambda layers: layers.LSTM(3, recurrent_activation="sigmoid", unroll=True), (4, 2)),
    "conv_lstm2d": (lambda layers: layers.ConvLSTM2D(2, 2, recurrent_activation="sigmoid"), (3, 4, 4, 1)),
    "bidirectional": (lambda layers: layers.Bidirectional(layers.SimpleRNN(3)), (4, 2)),
    "time_distributed": (lambda layers: layers.TimeDistributed(layers.Dense(3)), (4, 2)),
    "add": (lambda layers: layers.Add(), (4,), (4,)),
    "subtract": (lambda layers: layers.Subtract(), (4,), (4,)),
    "multiply": (lambda layers: layers.Multiply(), (4,), (4,)),
    "average": (lambda layers: layers.Average(), (4,), (4,)),
    "maximum": (lambda layers: layers.Maximum(), (4,), (4,)),
    "concatenate": (lambda layers: layers.Concatenate(axis=1), (2, 3), (4, 3)),
    "dot": (lambda layers: layers.Dot(axes=2), (2, 3), (4, 3)),
    "dot_normalized": (lambda layers: layers.Dot(axes=1, normalize=True), (3,), (3,)),
}

LOSSES = ("mean_squared_error mean_absolute_error mean_absolute_percentage_error mean_squared_logarithmic_error hinge "
          "squared_hinge categorical_hinge logcosh kullback_leibler_divergence poisson categorical_crossentropy "
          "binary_crossentropy").split()

OPTIMIZERS = {
    "sgd": ("SGD", {"lr": 0.1}),
    "sgd_momentum": ("SGD", {"lr": 0.1, "momentum": 0.9, "decay": 0.01}),
    "sgd_nesterov": ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    "sgd_clipvalue": ("SGD", {"lr": 0.1, "clipvalue": 0.05}),
    "rmsprop": ("RMSprop", {"lr": 0.01, "epsilon": 1e-7}),
    "adadelta": ("Adadelta", {"lr": 1.0, "epsilon": 1e-7}),
    "adam": ("Adam", {"lr": 0.01, "epsilon": 1e-7}),
    "adam_amsgrad": ("Adam", {"lr": 0.01, "epsilon": 1e-7, "amsgrad": True}),
    "adamax": ("Adamax", {"lr": 0.01, "epsilon": 1e-7}),
    "nadam": ("Nadam", {"lr": 0.01, "epsilon": 1e-7}),
}


def _uniform(seed, shape, low=-0.5, high=0.5):
    return np.random.RandomState(seed).uniform(low, high, shape).astype(np.float32)


def _set_weights(*layers):
    """Gives each of the layers weights that depend on their order and shapes only."""
    for layer in layers:
        variances = ["variance" in weight.name for weight in layer.weights]
        layer.set_weights([_uniform(i, value.shape) + is_variance
                           for i, (value, is_variance) in enumerate(zip(layer.get_weights(), variances))])


def _layer(keras, make, *shapes):
    """The output, and the gradients of its mean square with respect to the weights and the inputs."""
    K = keras.backend
    inputs = [keras.layers.Input(shape) for shape in shapes]
    layer = make(keras.layers)
    output = layer(inputs if len(inputs) > 1 else inputs[0])
    _set_weights(layer)
    gradients = K.gradients(K.mean(K.square(output)), layer.trainable_weights + inputs)
    step = K.function(inputs, [output] + gradients)
    return step([_uniform(7 + i, (3, *shape)) for i, shape in enumerate(shapes)])


def _losses(keras):
    K = keras.backend
    truth, guess = np.eye(4, dtype=np.float32), _uniform(1, (4, 4), 0.1, 0.9)
    values = {}
    for name in LOSSES:
        wanted = 2 * truth - 1 if name.endswith("hinge") and name != "categorical_hinge" else truth
        values[name] = K.eval(getattr(keras.losses, name)(K.constant(wanted), K.constant(guess)))
    classes = K.constant(np.arange(4))
    values["sparse_categorical_crossentropy"] = K.eval(
        keras.losses.sparse_categorical_crossentropy(classes, K.constant(guess)))
    return {f"loss {name}": [value] for name, value in values.items()}


def _optimizer(keras, name, arguments):
    """The loss of each of 20 steps, and the weights after them."""
    layers, optimizers = keras.layers, getattr(keras.optimizers, "legacy", keras.optimizers)
    model = keras.models.Sequential([layers.Dense(4, activation="tanh", input_shape=(3,)), layers.Dense(2)])
    model.compile(getattr(optimizers, name)(**arguments), loss="mse")
    _set_weights(*model.layers)
    x, y = _uniform(1, (8, 3)), _uniform(2, (8, 2))
    return [np.array([model.train_on_batch(x, y) for _ in range(20)]), *model.get_weights()]


def _perceptron(layers, keras):
    return [layers.Dense(6, activation="relu", input_shape=(6,), kernel_regularizer=keras.regularizers.l2(0.01)),
            layers.BatchNormalization(), layers.Dense(3, activation="softmax",
                                                      kernel_constraint=keras.constraints.max_norm(1.0))]


def _convolutions(layers, _):
    return [layers.Conv2D(4, 3, padding="same", use_bias=False, input_shape=(6, 6, 1)), layers.BatchNormalization(),
            layers.Activation("relu"), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(3, activation="softmax")]


def _recurrent(layers, _):
    return [layers.Embedding(7, 4, mask_zero=True, input_length=5),
            layers.Bidirectional(layers.LSTM(4, recurrent_activation="sigmoid")),
            layers.Dense(3, activation="softmax")]


def _fit(keras, make, x, **arguments):
    """The losses and accuracies of 4 epochs of 5 steps, and the weights after them."""
    model = keras.models.Sequential(make(keras.layers, keras))
    optimizers = getattr(keras.optimizers, "legacy", keras.optimizers)
    model.compile(optimizers.Adam(lr=0.01, epsilon=1e-7), loss="categorical_crossentropy",
                  metrics=[keras.metrics.categorical_accuracy])
    _set_weights(*model.layers)
    y = np.eye(3, dtype=np.float32)[np.arange(len(x)) % 3]
    history = model.fit(x, y, batch_size=8, epochs=4, shuffle=False, verbose=0, **arguments).history
    return [np.array(history[name]) for name in sorted(history)] + keras.backend.batch_get_value(
        model.trainable_weights)


def values(keras):
    """The values by name: lists of arrays."""
    found = {}

    def add(name, function, *arguments, **named):
        keras.backend.clear_session()
        found[name] = [np.asarray(value) for value in function(keras, *arguments, **named)]

    for name, (make, *shapes) in LAYERS.items():
        add(f"layer {name}", _layer, make, *shapes)
    for name, (kind, arguments) in OPTIMIZERS.items():
        add(f"optimizer {name}", _optimizer, kind, arguments)
    ids = np.random.RandomState(3).randint(0, 7, (40, 5))
    add("fit perceptron", _fit, _perceptron, _uniform(4, (40, 6)), sample_weight=_uniform(5, 40, 0.5, 1.5))
    add("fit convolutions", _fit, _convolutions, _uniform(4, (40, 6, 6, 1)), class_weight={0: 1.0, 1: 0.5, 2: 2.0})
    add("fit recurrent", _fit, _recurrent, ids)
    keras.backend.clear_session()
    found.update(_losses(keras))
    return found


def record():
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_ENABLE_ONEDNN_OPTS="0")
    import tensorflow as tf
    import tf_keras

    tf.compat.v1.disable_v2_behavior()
    recorded.write(**REFERENCE, version=tf.__version__, values=values(tf_keras))


def read():
    """The values of tf_keras."""
    return recorded.read(**REFERENCE, command=COMMAND)


if __name__ == "__main__":
    if sys.argv[1:] != ["--record"]:
        sys.exit(__doc__)
    record()
