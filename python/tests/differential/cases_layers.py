"""tf.layers, against the package tf_keras, which has TensorFlow 1's layers; initializers."""

from registry import Result, case, each, floats

X, IMAGE, SEQUENCE, VOLUME = floats(4, 3), floats(2, 6, 6, 3), floats(2, 7, 3), floats(1, 4, 4, 4, 2)
QUIET = {"names": False}


def glorot(tf, seed):
    return tf.glorot_uniform_initializer(seed=seed)


def half_square(tf):
    return lambda value: 0.5 * tf.reduce_sum(value * value)


def observed(tf, outputs, inputs):
    """The outputs with all variables, penalties and updates."""
    variables = sorted(tf.global_variables(), key=lambda v: v.name)
    return Result([outputs, [v.name for v in variables], len(tf.trainable_variables()),
                   tf.get_collection("regularization_losses"), len(tf.get_collection("update_ops"))],
                  wrt=[inputs] + tf.trainable_variables(), after=[v.value() for v in variables])


def made(function, class_name, value, *arguments, **options):
    """Cases for a function such as tf.layers.dense and for its class, with the same arguments."""

    def given(tf):
        return {key: argument(tf) if callable(argument) else argument for key, argument in options.items()}

    def by_function(tf, f):
        inputs = tf.constant(value)
        outputs = f(inputs, *arguments, **given(tf))
        # Weighted: the sum of what is normalized does not depend on the inputs.
        return observed(tf, outputs * floats(*outputs.shape.as_list(), seed=9) if function.startswith("batch")
                        else outputs, inputs)

    def by_class(tf, f):
        inputs, options = tf.constant(value), given(tf)
        called = {"training": options.pop("training")} if "training" in options else {}
        layer = f(*arguments, **options)
        outputs = [layer(inputs, **called) * inputs if function.startswith("batch") else layer(inputs, **called),
                   layer(2.0 * inputs, **({} if "seed" in options else called)), [v.name for v in layer.variables],
                   layer.count_params(), layer.name, len(layer.losses), len(layer.updates)]
        return observed(tf, outputs, inputs)

    each(f"layers.{function}", by_function, **QUIET)
    each(f"layers.{class_name}", by_class, **QUIET)


def seeds(*names):
    return {name: lambda tf, i=i: glorot(tf, i + 1) for i, name in enumerate(names)}


FULL = {"kernel_regularizer": half_square, "bias_regularizer": half_square, "activity_regularizer": half_square,
        "bias_initializer": lambda tf: tf.constant_initializer(0.5), "name": "given"}
made("dense", "Dense", X, 2, **seeds("kernel_initializer"))
made("dense", "Dense", X, 2, activation=lambda tf: tf.nn.tanh, trainable=False, **seeds("kernel_initializer"), **FULL)
made("dense", "Dense", SEQUENCE, units=2, use_bias=False, **seeds("kernel_initializer"))
made("dropout", "Dropout", X, 0.4, seed=3, training=True)
made("dropout", "Dropout", X, rate=0.4, noise_shape=[4, 1], seed=3, training=True, name="given")
made("dropout", "Dropout", X, rate=0.4)
made("flatten", "Flatten", IMAGE, name="given")
made("flatten", "Flatten", SEQUENCE, data_format="channels_first")
for function, class_name, value, options in (
    ("conv1d", "Conv1D", SEQUENCE, {"dilation_rate": 2}), ("conv2d", "Conv2D", IMAGE, {"dilation_rate": (2, 1)}),
    ("conv3d", "Conv3D", VOLUME, {}), ("conv2d_transpose", "Conv2DTranspose", IMAGE, {}),
    ("conv3d_transpose", "Conv3DTranspose", VOLUME, {}),
):
    made(function, class_name, value, 2, 3, strides=2, padding="same", **seeds("kernel_initializer"))
    made(function, class_name, value, 2, kernel_size=2, use_bias=False, **seeds("kernel_initializer"), trainable=False,
         **options)
    made(function, class_name, value, 2, 2, activation=lambda tf: tf.nn.relu, **seeds("kernel_initializer"), **FULL)
    made(function, class_name, value, 2, 2, padding="no")
    made(function, class_name, value, 2, (2, 2, 2, 2))
    made(function, class_name, X, 2, 2)
for function, class_name, value in (("separable_conv1d", "SeparableConv1D", SEQUENCE),
                                    ("separable_conv2d", "SeparableConv2D", IMAGE)):
    made(function, class_name, value, 2, 3, depth_multiplier=2, padding="same",
         **seeds("depthwise_initializer", "pointwise_initializer"))
    made(function, class_name, value, 2, 2, strides=2, use_bias=False, activation=lambda tf: tf.nn.relu,
         depthwise_regularizer=half_square, pointwise_regularizer=half_square, name="given",
         **seeds("depthwise_initializer", "pointwise_initializer"))
for kind in ("max", "average"):
    for rank, value in ((1, SEQUENCE), (2, IMAGE), (3, VOLUME)):
        names = f"{kind}_pooling{rank}d", f"{kind.capitalize()}Pooling{rank}D", value
        made(*names, 2, 2)
        made(*names, pool_size=3, strides=1, padding="same", name="given")
        made(*names, 2, 2, padding="no")
for options in ({"training": True, "momentum": 0.9}, {"training": False, "epsilon": 0.1, "name": "given"},
                {"training": True, "center": False, "scale": False}, {"axis": 2, "training": True},
                {"training": True, "gamma_regularizer": half_square, "beta_regularizer": half_square,
                 "beta_initializer": lambda tf: tf.ones_initializer(),
                 "gamma_initializer": lambda tf: tf.constant_initializer(2.0),
                 "moving_mean_initializer": lambda tf: tf.constant_initializer(0.5),
                 "moving_variance_initializer": lambda tf: tf.constant_initializer(3.0), "trainable": False}):
    made("batch_normalization", "BatchNormalization", IMAGE, **options)


def shared(tf):
    x = tf.constant(X)
    with tf.variable_scope("outer", initializer=glorot(tf, 3)):
        first = tf.layers.dense(x, 3, name="d")
        again = tf.layers.dense(first, 3, name="d", reuse=True)
        layer = tf.layers.Dense(3, name="other")
        outputs = [first, again, layer(layer(x)), layer.apply(again), layer.kernel, layer.bias]
        names = [layer.scope_name, layer.input_spec.min_ndim]
    return observed(tf, outputs + names, x)


case("layers.dense layers.Dense", shared, **QUIET)
case("layers.dense", lambda tf: [tf.layers.dense(X, 2, name="d"), tf.layers.dense(X, 2, name="d")])
case("layers.Dense", lambda tf: tf.layers.Dense(2, name="d")(tf.placeholder(tf.float32, [None, None])))
case("layers.Dense", lambda tf: tf.layers.Dense(2).scope_name)


def own_layer(tf):
    class Scale(tf.layers.Layer):
        def __init__(self, factor, **options):
            super().__init__(**options)
            self.start = factor

        def build(self, input_shape):
            self.factor = self.add_weight("factor", [int(input_shape[-1])],
                                          initializer=tf.constant_initializer(self.start),
                                          regularizer=half_square(tf))
            self.fixed = self.add_variable("fixed", [], initializer=tf.ones_initializer(), trainable=False)
            super().build(input_shape)

        def call(self, inputs, power=1):
            self.add_loss(tf.reduce_sum(self.factor))
            self.add_update(self.fixed.assign_add(1.0))
            return inputs * self.factor ** power

    x = tf.constant(X)
    layer = Scale(3.0, name="scale")
    return observed(tf,
                    [layer(x, power=2), [v.name for v in layer.weights], [v.name for v in layer.trainable_variables],
                         [v.name for v in layer.non_trainable_weights], len(layer.losses), len(layer.updates),
                     layer.built], x)


case("layers.Layer", own_layer, **QUIET)
case("layers.Layer", lambda tf: tf.layers.Layer(name="a", wrong=1))


def spec(tf, given, value):
    class Checked(tf.layers.Layer):
        def __init__(self):
            super().__init__(name="checked")
            self.input_spec = tf.layers.InputSpec(**given)

        def call(self, inputs):
            return inputs + 1.0

    s = tf.layers.InputSpec(**given)
    return [Checked()(tf.constant(value)), s.ndim, s.min_ndim, s.max_ndim, s.axes, s.shape]


for given in ({"ndim": 2}, {"min_ndim": 3}, {"max_ndim": 1}, {"axes": {-1: 3}}, {"axes": {1: 4}}, {"shape": (4, 3)}):
    case("layers.InputSpec", lambda tf, g=given: spec(tf, g, X), **QUIET)

# Initializers: equal seeds give equal numbers, alone and as those of variables.
INITIALIZERS = (
    ("zeros", {"dtype": "int32"}), ("ones", {"dtype": "int64"}),
    ("constant", {"value": 1.5}), ("constant", {"value": [[1, 2], [3, 4]], "dtype": "float64"}),
    ("random_uniform", {"minval": -1.0, "maxval": 2.0, "seed": 3}),
    ("random_normal", {"mean": 1.0, "stddev": 0.5, "seed": 3}),
    ("truncated_normal", {"mean": 1.0, "stddev": 0.5, "seed": 3, "dtype": "float64"}),
    ("uniform_unit_scaling", {"factor": 2.0, "seed": 3}), ("orthogonal", {"gain": 1.5, "seed": 3}),
    ("variance_scaling", {"scale": 2.0, "mode": "fan_out", "distribution": "uniform", "seed": 3}),
    ("variance_scaling", {"scale": 2.0, "mode": "fan_avg", "distribution": "untruncated_normal", "seed": 3}),
    ("glorot_uniform", {"seed": 3}), ("glorot_normal", {"seed": 3}), ("identity", {"gain": 2.0}),
    ("he_normal", {"seed": 3}), ("he_uniform", {"seed": 3}), ("lecun_normal", {"seed": 3}),
    ("lecun_uniform", {"seed": 3}),
)


def initialized(tf, f, options):
    options = {key: getattr(tf, value) if key == "dtype" else value for key, value in options.items()}
    initializer = f(**options)
    values = [initializer([2, 2])]
    values.append(tf.get_variable("v", [2, 2], dtype=values[0].dtype, initializer=initializer))
    config = initializer.get_config() if hasattr(initializer, "get_config") else {}
    return Result([values[0], sorted(config)], after=values[1])


for name, options in INITIALIZERS:
    names = f"initializers.{name}"
    if not name.startswith(("he_", "lecun_", "identity")):
        names += f" {name}_initializer"
    each(names, lambda tf, f, o=options: initialized(tf, f, o), **QUIET)
each("initializers.identity", lambda tf, f: f()([2, 3, 4]))
each("initializers.constant constant_initializer", lambda tf, f: f([1, 2, 3])([2, 2]), **QUIET)
each("initializers.constant", lambda tf, f: f([1, 2, 3], verify_shape=True)([2, 2]))
each("initializers.constant", lambda tf, f: f(object()))
each("initializers.variance_scaling", lambda tf, f: f(mode="no"))
each("initializers.variance_scaling", lambda tf, f: f(scale=-1.0))
each("initializers.random_normal", lambda tf, f: f(dtype=tf.int32))
each("initializers.orthogonal", lambda tf, f: f()([3]))


def initializer_ops(tf):
    first, second = tf.get_variable("a", initializer=1.0), tf.get_variable("b", initializer=2.0)
    local = tf.get_local_variable("c", initializer=3.0)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    return [tf.initializers.global_variables(), tf.initializers.local_variables(),
            tf.initializers.variables([first, second], name="given"),
            tf.initializers.tables_initializer(name="tables"), tf.tables_initializer(name="again"),
            tf.variables_initializer([local], name="more"),
            tf.global_variables_initializer(), tf.local_variables_initializer(), tf.variables_initializer([]),
            tf.initialize_variables([first]), tf.initialize_all_variables(), tf.initialize_local_variables(),
            table.lookup(tf.constant(["a", "b"]))]


case(
    "initializers.global_variables initializers.local_variables initializers.variables initializers.tables_initializer "
     "tables_initializer variables_initializer global_variables_initializer local_variables_initializer "
     "initialize_variables initialize_all_variables initialize_local_variables", initializer_ops, **QUIET)
