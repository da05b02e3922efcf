"""Bad input to tf.keras: an error names the layer, model or file, what was given, what is wanted, and what helps."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import warnings
import zipfile

import h5py
import numpy as np
import tensorbraid as tf
from test_layers import KerasTestCase

layers = tf.keras.layers
Input, Dense = tf.keras.Input, layers.Dense
X, Y = np.ones([8, 4], "f"), np.ones([8, 2], "f")


def eager(value):
    """A value like an eager tensor of TensorFlow 2."""
    kind = type("EagerTensor", (), {"numpy": lambda self: value, "shape": value.shape, "dtype": value.dtype})
    kind.__module__ = "tensorflow.python.framework.ops"
    return kind()


def of_keras(version):
    """An object like a layer of another Keras."""
    kind = type("Dense", (), {})
    kind.__module__ = {2: "keras.layers.core", 3: "keras.src.layers.core.dense"}[version]
    return kind()


def mlp():
    return tf.keras.Sequential([Dense(3, input_shape=(4,), activation="relu", name="a"), Dense(2, name="b")])


def compiled(optimizer="sgd", loss="mse", metrics=None):
    model = mlp()
    model.compile(optimizer, loss, metrics)
    return model


def in_another_graph(make):
    with tf.Graph().as_default():
        return make()


def elements(*arrays):
    return tf.data.Dataset.from_tensor_slices(arrays if len(arrays) > 1 else arrays[0])


class Scale(layers.Layer):
    def build(self, input_shape):
        self.scale = self.add_weight("scale", [input_shape[-1]])

    def call(self, inputs):
        return inputs * self.scale


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = Dense(2)

    def call(self, inputs):
        return self.dense(inputs)


def twice(layer, first, second):
    layer(Input(first))
    layer(Input(second))


def fitted(model):
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0)
    return model


ONE_GRAPH = "make and use all of a model in one `with graph.as_default"
OTHER_GRAPH = "made in another graph than the default graph.*`with model.inputs.0..graph.as_default"
THIS_SHAPE = "inputs of another shape need a layer of their own"
ELSEWHERE = "model.save.'model.h5'. there writes an HDF5 file"

# What is done, the type of the error, and its text.
TENSORS = [
    (lambda: Dense(2)(eager(X)), ValueError, "input 0 of the layer dense is of the type EagerTensor.*x.numpy"),
    (lambda: compiled().fit(eager(X), Y), ValueError, "x of the model sequential is of the type EagerTensor.*x.numpy"),
    (lambda: compiled().predict(eager(X)), ValueError, "x of the model sequential is of the type EagerTensor"),
    (lambda: Dense(2)(None), ValueError, "input 0 of the layer dense is None, a NoneType; layers take tensors"),
    (lambda: Dense(2)([[1.0, 2.0]]), ValueError, "dense.*one array of all values is np.array"),
    (lambda: tf.keras.Sequential([of_keras(3)]), TypeError,
     "the model sequential takes layers of tf.keras.*TensorFlow 2"),
    (lambda: mlp().add(of_keras(2)), TypeError, "library that `import keras` finds; .*made of one of the two"),
    (lambda: tf.keras.Model(of_keras(3), Input([3])), ValueError, "Model takes outputs of layers.*TensorFlow 2"),
    (lambda: tf.keras.estimator.model_to_estimator(of_keras(3)), TypeError, "must be a tf.keras.Model.*TensorFlow 2"),
    (lambda: compiled(optimizer=of_keras(3)), ValueError, "the optimizer is.*TensorFlow 2.*or one of tf.train"),
]

GRAPHS = [
    (lambda: Dense(2)(in_another_graph(lambda: Input([4]))), ValueError,
     f"layer dense.*input 0, input_1:0.*{ONE_GRAPH}"),
    (lambda: layers.add([Input([4]), in_another_graph(lambda: Input([4], name="other"))]), ValueError,
     f"the layer add was called with the input 1, other:0, of another graph.*{ONE_GRAPH}"),
    (lambda: in_another_graph(mlp)(Input([4])), ValueError, f"layer a has its variables in another graph.*{ONE_GRAPH}"),
    (lambda: tf.keras.Model(Input([4]), in_another_graph(lambda: Dense(2)(Input([4])))), ValueError,
     f"Model would have input_1:0 and dense/BiasAdd:0, which are of two graphs; {ONE_GRAPH}"),
    (lambda: layers.Lambda(lambda x, other=in_another_graph(lambda: tf.constant(1.0)): x + other)(Input([4])),
     ValueError, "lambda/add.*'Const' belongs to another graph"),
    (lambda: in_another_graph(compiled).predict(X), ValueError, f"predict.. of the model sequential.*{OTHER_GRAPH}"),
    (lambda: in_another_graph(compiled).fit(X, Y, verbose=0), ValueError,
     f"fit.. of the model sequential.*{OTHER_GRAPH}"),
    (lambda: in_another_graph(mlp).compile("sgd", "mse"), ValueError, f"compile.. of the model.*{OTHER_GRAPH}"),
    (lambda: in_another_graph(mlp).get_weights(), ValueError, f"get_weights.. of the model.*{OTHER_GRAPH}"),
    (lambda: (compiled(), tf.keras.backend.clear_session())[0].predict(X), ValueError,
     "clear_session.. and tf.reset_default_graph.. begin a new graph"),
    (lambda: compiled(in_another_graph(tf.keras.optimizers.Adam)).fit(X, Y, verbose=0), ValueError,
     f"its optimizer Adam was made in another graph.*{ONE_GRAPH}"),
    (lambda: compiled().fit(in_another_graph(lambda: elements(X, Y).batch(4))), ValueError,
     "fit.. of the model sequential: the dataset was made in another graph.*make it in the model's graph"),
]

SHAPES = [
    (lambda: twice(Dense(2), [4], [5]), ValueError,
     f"layer dense were made for.*None, 4.*called with .None, 5.*{THIS_SHAPE}"),
    (lambda: twice(layers.Conv2D(2, 3), [8, 8, 3], [8, 8, 4]), ValueError, f"layer conv2d were made.*{THIS_SHAPE}"),
    (lambda: twice(layers.LSTM(2), [8, 3], [8, 4]), ValueError, f"layer lstm were made.*8, 3.*8, 4.*{THIS_SHAPE}"),
    (lambda: twice(layers.BatchNormalization(), [3], [4]), ValueError, f"layer batch_normalization.*{THIS_SHAPE}"),
    (lambda: twice(layers.PReLU(), [3], [4]), ValueError, f"layer p_re_lu were made.*{THIS_SHAPE}"),
    (lambda: twice(Scale(), [3], [4]), ValueError, f"cannot be broadcast.*layer scale were made.*{THIS_SHAPE}"),
    (lambda: twice(mlp(), [4], [5]), ValueError, f"layer a were made.*{THIS_SHAPE}"),
    (lambda: twice(Net(), [4], [5]), ValueError, f"layer dense were made.*{THIS_SHAPE}"),
    (lambda: layers.Conv2D(2, 3)(Input([8, 8])), ValueError,
     "layer conv2d.*expected ndim=4.*None, 8, 8.*tf.expand_dims"),
    (lambda: layers.add([Input([3]), Input([4])]), ValueError,
     "The layer add is called with inputs of the shape.*3.*4"),
    (lambda: Dense(2)(tf.placeholder(tf.float32, [None, None])), ValueError,
     "kernel of the layer dense.*must be known"),
    (lambda: layers.Conv2D(2, 9)(Input([4, 4, 1])), ValueError, "conv2d.*window is larger than the input.*9.*4"),
]

NAMES = [
    (lambda: compiled("adm"), ValueError, "Unknown optimizer: adm; did you mean 'adam'"),
    (lambda: compiled("AdamOptimizer"), ValueError, "Unknown optimizer: AdamOptimizer; did you mean 'adam'"),
    (lambda: compiled(3), ValueError, "the optimizer is 3; it must be a name"),
    (lambda: compiled(loss="mean_square_error"), ValueError,
     "Unknown loss function.*did you mean 'mean_squared_error'"),
    (lambda: compiled(loss="cross"), ValueError,
     "Unknown loss function: cross; the names are .*categorical_crossentropy"),
    (lambda: compiled(loss=3), ValueError, "the loss is 3; it must be a name"),
    (lambda: compiled(loss={"c": "mse"}), ValueError, "'c'.*'b'"),
    (lambda: compiled(metrics=["acuracy"]), ValueError, "Unknown metric function: acuracy; did you mean 'accuracy'"),
    (lambda: compiled(metrics=[3]), ValueError, "the metric is 3; it must be a name"),
    (lambda: Dense(2, activation="rellu"), ValueError, "Unknown activation function: rellu; did you mean 'relu'"),
    (lambda: Dense(2, kernel_initializer="glorot"), ValueError,
     "Unknown initializer: glorot; the names are .*glorot_uniform"),
    (lambda: Dense(2, kernel_regularizer="l3"), ValueError, "Unknown regularizer: l3; the names are .*l2"),
    (lambda: Dense(2, kernel_constraint="max_nrm"), ValueError, "Unknown constraint: max_nrm; did you mean 'max_norm'"),
    (lambda: Dense(2, activatoin="relu"), TypeError,
     "the layer Dense has no argument 'activatoin'; did you mean 'activation'"),
    (lambda: tf.keras.optimizers.Adam(beta1=0.5), TypeError, "the optimizer Adam has no argument 'beta1'; .*'beta_1'"),
    (lambda: mlp().get_layer("c"), ValueError, "No such layer: c"),
]

DATA = [
    (lambda: compiled().fit(X), ValueError, "fit.. of the model sequential has got no targets.*output b.*Pass y"),
    (lambda: compiled().evaluate(X), ValueError, "evaluate.. of the model sequential has got no targets.*Pass y"),
    (lambda: compiled().train_on_batch(X, None), ValueError, "train_on_batch.. of the model sequential.*no targets"),
    (lambda: compiled().fit(elements(X).batch(4)), ValueError, "elements of the dataset must be .inputs, targets"),
    (lambda: compiled().fit(elements(X, Y, Y[:, 0], Y).batch(4)), ValueError, "must be .inputs, targets.*4 parts"),
    (lambda: compiled().fit(elements(X, Y)), ValueError, "must be batches: .*a_input:0.*dataset.batch"),
    (lambda: compiled().predict(elements(X)), ValueError, "predict.. of the model.*must be batches: .*dataset.batch"),
    (lambda: compiled().fit(X[:0], Y[:0], verbose=0), ValueError, "fit.. of the model sequential has got no samples"),
    (lambda: mlp().fit(X, Y), RuntimeError, "compile"),
    (lambda: compiled().fit(Y, Y), ValueError, "expected a_input to have shape .4,. but got array with shape .2,."),
    (lambda: compiled().predict(X[0]), ValueError, "a_input.*first dimension of an array counts the samples"),
    (lambda: compiled().predict(X.reshape(8, 2, 2)), ValueError, "expected a_input.*x.reshape.-1, 4. has that shape"),
    (lambda: compiled().fit(X, X), ValueError, "expected b to have shape .2,. but got array with shape .4,."),
    (lambda: compiled(loss="categorical_crossentropy").fit(X, np.ones([8])), ValueError,
     "expected b.*sparse_categorical_crossentropy takes them, or tf.keras.utils.to_categorical"),
    (lambda: compiled().fit(X, Y[:3]), ValueError, "8 input samples and 3 target samples"),
    (lambda: compiled().fit(X.tolist(), Y.tolist()), ValueError, "one array of all samples is np.array"),
    (lambda: compiled().fit(np.full([8, 4], "word"), Y), ValueError,
     "array for a_input of the model sequential has the dtype <U4 and values such as word; float32 is wanted"),
    (lambda: compiled(loss="sparse_categorical_crossentropy").fit(X, np.full([8], 7)), tf.errors.InvalidArgumentError,
     "label value of 7.*only classes 0 to 1"),
    (lambda: compiled().fit_generator(iter([(X, Y)]), 2, verbose=0), ValueError,
     "generator has ended before all steps"),
    (lambda: tf.keras.backend.function([Input([4])], [])([X, X]), ValueError,
     "has 1 inputs, input_1:0, .*with 2 values"),
    (lambda: mlp().set_weights([X]), ValueError,
     "model sequential has got 1 values for its 4 variables: a/kernel:0 .4, 3."),
    (lambda: mlp().layers[0].set_weights([X, X]), ValueError,
     "layer a: the variable a/kernel:0 has.*4, 3.*value 0.*8, 4"),
    (lambda: Dense(2, weights=[X, X])(Input([3])), ValueError, "layer dense: the variable dense/kernel:0.*3, 2.*8, 4"),
    (lambda: fitted(Net()).save("net.h5"), NotImplementedError, "model net is a subclass of Model, Net.*save_weights"),
    (lambda: fitted(Net()).to_json(), NotImplementedError, "model net is a subclass of Model, Net.*save_weights"),
]


class MistakesTest(KerasTestCase):
    def check(self, table):
        for index, (action, kind, text) in enumerate(table):
            tf.keras.backend.clear_session()
            with self.subTest(index=index, text=text), self.assertRaisesRegex(kind, f"(?s){text}"):
                action()

    def test_tensors_of_other_libraries(self):
        self.check(TENSORS)

    def test_two_graphs(self):
        self.check(GRAPHS)

    def test_shapes(self):
        self.check(SHAPES)

    def test_names(self):
        self.check(NAMES)

    def test_data(self):
        self.check(DATA)

    def test_an_error_of_a_layer_of_a_program_stays_what_it_is(self):
        class Mine(ValueError):
            pass

        class Fails(layers.Layer):
            def call(self, inputs):
                raise Mine("mine")

        with self.assertRaisesRegex(Mine, "^mine$"):
            Fails()(Input([3]))


def of_keras3():
    """A model as Keras 3 describes it."""
    dtype = {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}, "registered_name": None}
    return {"module": "keras", "class_name": "Sequential", "registered_name": None, "config": {
        "name": "sequential", "dtype": dtype, "layers": [
            {"module": "keras.layers", "class_name": "InputLayer", "registered_name": None,
             "config": {"batch_shape": [None, 4], "dtype": "float32", "name": "input"}},
            {"module": "keras.layers", "class_name": "Dense", "registered_name": None,
             "config": {"name": "a", "dtype": dtype, "units": 2}}]}}


def described(path, config, version, **weights):
    """Writes a file of a model of this version."""
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(config)
        file.attrs["keras_version"] = version
        group = file.create_group("model_weights")
        group.attrs["keras_version"], group.attrs["backend"] = version, "tensorflow"
        group.attrs["layer_names"] = np.asarray([name.encode() for name in weights])
        for name, arrays in weights.items():
            group.create_group(name).attrs["weight_names"] = np.asarray([f"{i}".encode() for i in range(len(arrays))])
            for i, array in enumerate(arrays):
                group[name][f"{i}"] = array


class FilesTest(KerasTestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        return path

    def check(self, path, kind, text, load_weights=True):
        """Both functions that read files refuse this one."""
        with self.assertRaisesRegex(kind, f"load_model: .*{os.path.basename(path)}.*{text}"):
            tf.keras.models.load_model(path)
        if load_weights:
            with self.assertRaisesRegex(kind, f"load_weights: .*{os.path.basename(path)}.*{text}"):
                mlp().load_weights(path)

    def test_what_is_no_hdf5_file(self):
        for content, text in ((b"", "it is empty"), (b'{"class_name": ', "it is JSON; .*model_from_json"),
                              (b"<!DOCTYPE html>", "it is HTML"),
                              (b"version https://git-lfs.github.com/spec/v1", "Git LFS"),
                              (b"abc", "begins with b'abc'")):
            self.check(self.path("model.h5", content), OSError, f"is no HDF5 file: .*{text}")
        self.check(self.path("none.h5"), FileNotFoundError, "")
        self.check(self.folder, IsADirectoryError, "is a folder")
        with zipfile.ZipFile(self.path("model.keras"), "w") as archive:
            archive.writestr("metadata.json", json.dumps({"keras_version": "3.15.1"}))
        self.check(self.path("model.keras"), OSError, f"of the format .keras, of Keras 3.15.1; {ELSEWHERE}")

    def test_saved_models(self):
        self.path("saved_model.pb", b"")
        self.check(self.folder, IsADirectoryError, "is a SavedModel, .*tf.saved_model.loader.load")
        self.path("keras_metadata.pb", b"")
        self.check(self.folder, IsADirectoryError, f"SavedModel of TensorFlow 2, .*{ELSEWHERE}")

    def test_damaged_files(self):
        path = self.path("model.h5")
        mlp().save(path)
        with open(path, "rb") as file:
            content = file.read()
        self.check(self.path("model.h5", content[:len(content) // 2]), OSError, "is damaged: .*get it once more")

    def test_other_hdf5_files(self):
        path = self.path("weights.h5")
        mlp().save_weights(path)
        self.check(path, ValueError, "it has weights, and no model: .*model.load_weights", load_weights=False)
        path = self.path("other.h5")
        with h5py.File(path, "w") as file:
            file["data"] = X
        self.check(path, ValueError, "it is not of Keras: it has data")
        with h5py.File(path, "w") as file:
            file["layers/dense/vars/0"] = X
        self.check(path, ValueError, f"layout of `.weights.h5` files of Keras 3.*{ELSEWHERE}")

    def test_other_versions(self):
        path = self.path("model.h5")
        weights = {"a": [np.full([4, 3], 2.0), np.zeros([3])], "b": [np.ones([3, 2]), np.zeros([2])]}
        described(path, of_keras3(), "3.15.1", **weights)
        text = "was saved by Keras 3.15.1, .*others than those of Keras 2.3.1: .*batch_shape.*model.load_weights"
        self.check(path, ValueError, text, load_weights=False)
        model = mlp()
        model.load_weights(path)  # which the error says
        self.assertEqual(model.predict(X).tolist(), [[24.0, 24.0]] * 8)
        with self.assertRaisesRegex(ValueError, "model_from_json: the text is of Keras 3, .*Build the model in code"):
            tf.keras.models.model_from_json(json.dumps(of_keras3()))

        merge = {"class_name": "Merge", "config": {"name": "merge", "mode": "sum"}}
        old = {"class_name": "Sequential", "config": [merge]}
        described(path, old, "1.2.2", **weights)
        self.check(path, ValueError, "was saved by Keras 1.2.2, .*Unknown layer: Merge.*model.load_weights", False)
        new = {"class_name": "Sequential", "config": [{"class_name": "Dense", "config": {
            "units": 2, "dtype": {"class_name": "Policy", "config": {"name": "mixed_float16"}}}}]}
        described(path, new, "2.16.0", **weights)
        self.check(path, ValueError, "was saved by Keras 2.16.0, .*model.load_weights", load_weights=False)

    def test_classes_and_functions_of_a_program(self):
        def difference(a, b):
            return tf.reduce_mean(tf.square(a - b))

        class Twice(layers.Layer):
            def call(self, inputs):
                return inputs * 2

        path = self.path("model.h5")
        model = tf.keras.Sequential([Twice(input_shape=(4,)), Dense(2)])
        model.compile("sgd", difference)
        model.save(path)
        for known in ({}, {"Twice": Twice}, {"difference": difference}):
            what, name = ("loss function", "difference") if "Twice" in known else ("layer", "Twice")
            with self.assertRaisesRegex(ValueError, f"Unknown {what}: {name}.*'{name}': .*load_model"):
                tf.keras.models.load_model(path, custom_objects=known)
        loaded = tf.keras.models.load_model(path, custom_objects={"Twice": Twice, "difference": difference})
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))

    def test_weights_of_other_models(self):
        path = self.path("weights.h5")
        for saved, make, text in (
                (lambda: [Dense(3, input_shape=(4,))], mlp,
                 "1 layers .dense.*, and the model has 2 layers with variables .a, b"),
                (lambda: [Dense(5, input_shape=(4,)), Dense(2)], mlp,
                 "layer a of the model, a Dense, .*a/kernel:0 .4, 3.*the layer dense.* in the file.*kernel:0 .4, 5."),
                (lambda: [Dense(3, input_shape=(4,), use_bias=False), Dense(2)], mlp,
                 "layer a of the model.*a/bias:0 .3,."),
                (lambda: [layers.LSTM(5, input_shape=(4, 2))],
                 lambda: tf.keras.Sequential([layers.GRU(5, input_shape=(4, 2), name="gru")]),
                 "layer gru of the model, a GRU, .*2, 15.*the layer lstm.*2, 20"),
                (lambda: [Dense(5, input_shape=(8,))],
                 lambda: tf.keras.Sequential([layers.Conv2D(5, 4, input_shape=(8, 8, 2), name="c")]),
                 "layer c of the model, a Conv2D, .*4, 4, 2, 5.*8, 5")):
            tf.keras.Sequential(saved()).save_weights(path)
            tf.keras.backend.clear_session()
            with self.assertRaisesRegex(ValueError, f"load_weights: .*{text}"):
                make().load_weights(path)
        tf.keras.Sequential([Dense(5, input_shape=(4,), name="a")]).save_weights(path)
        with self.assertRaisesRegex(ValueError, "named \"a\".*4, 3.*4, 5"):
            mlp().load_weights(path, by_name=True)
        tf.keras.Sequential([Dense(5, input_shape=(4,), name="q")]).save_weights(path)
        with self.assertWarnsRegex(UserWarning, "reads nothing: .*has the layers q, the model a, b"):
            mlp().load_weights(path, by_name=True)
        with self.assertRaisesRegex(ValueError, "the model sequential.* has no variables yet: .*input_shape"):
            tf.keras.Sequential([Dense(3)]).load_weights(path)
        with self.assertRaisesRegex(ValueError, "the model sequential.* has no variables yet: .*input_shape"):
            tf.keras.Sequential([Dense(3)]).save_weights(path)

    def test_checkpoints_of_objects(self):
        """As TensorFlow's save_weights writes them."""
        path = self.path("checkpoint")
        with tf.Graph().as_default(), tf.Session() as session:
            variable = tf.Variable(1.0)
            session.run(variable.initializer)
            saver = tf.train.Saver({"layer-1/kernel/.ATTRIBUTES/VARIABLE_VALUE": variable})
            saver.save(session, path, write_meta_graph=False)
        with self.assertRaisesRegex(ValueError, "of a model with other layers; .*lacks .*layer_with_weights-0/kernel"):
            mlp().load_weights(path)


def run(script, *arguments, **variables):
    """What a program prints that the runner runs."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w") as file:
            file.write(script)
        done = subprocess.run([sys.executable, "-m", "tensorbraid", *arguments, path], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300, env={**os.environ, **variables})
    return done.stdout


class InstalledTest(unittest.TestCase):
    """What is said if the library is another one."""

    def with_keras(self, version):
        """The folder of a library Keras of this version, as PYTHONPATH."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.makedirs(os.path.join(folder.name, "keras"))
        os.makedirs(os.path.join(folder.name, f"keras-{version}.dist-info"))
        with open(os.path.join(folder.name, "keras", "__init__.py"), "w") as file:
            file.write("from tensorflow.python.trackable.data_structures import ListWrapper\n")
        with open(os.path.join(folder.name, f"keras-{version}.dist-info", "METADATA"), "w") as file:
            file.write(f"Metadata-Version: 2.1\nName: keras\nVersion: {version}\n")
        return os.pathsep.join([folder.name, os.environ.get("PYTHONPATH", "")])

    def test_keras_of_tensorflow_2(self):
        for version in ("3.15.1", "2.12.0"):
            path = self.with_keras(version)
            self.assertRegex(run("from keras.layers import Dense", PYTHONPATH=path),
                             f"ImportError: Keras {version} is installed, which is made for TensorFlow 2; .*pip")
            self.assertRegex(run("import tensorflow as tf\ntf.keras.layers.Dense(3)", PYTHONPATH=path),
                             f"tf.keras.layers.Dense: tf.keras is the library Keras 2.3.1, and Keras {version} is "
                             "installed.*pip install")

    def test_a_module_of_the_program_named_keras(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "keras.py"), "w") as file:
                file.write("print('mine')\n")
            path = os.pathsep.join([folder, self.with_keras("3.15.1")])
            self.assertEqual(run("import keras", PYTHONPATH=path), "mine\n")

    def test_no_keras(self):
        script = "import sys\nsys.path = [path for path in sys.path if 'site-packages' not in path]\nimport keras\n"
        self.assertRegex(run(script), "No module named 'keras'\n`import keras` needs .*pip install tensorbraid.keras")


OF_THE_LIBRARY = """
import numpy as np
import tensorflow as tf
import keras
from keras.layers import Dense, Input, Lambda

def tell(action):
    keras.backend.clear_session()
    try:
        action()
    except Exception as error:
        print(type(error).__name__, error)

def other(make):
    with tf.Graph().as_default():
        return make()

def mlp():
    model = keras.models.Sequential([Dense(3, input_shape=(4,))])
    model.compile("sgd", "mse")
    return model

tell(lambda: Dense(2)(other(lambda: Input([4]))))
tell(lambda: other(mlp).predict(np.ones([2, 4])))
tell(lambda: mlp().train_on_batch(np.ones([2, 4]), None))
tell(lambda: keras.models.load_model("/none.h5"))
"""


class LibraryTest(unittest.TestCase):
    def test_what_the_package_says_to_the_library(self):
        lines = run(OF_THE_LIBRARY, "--anyway").splitlines()
        for text in ("ValueError .*MatMul.*belongs to another graph", "ValueError .*belongs to another graph",
                     "ValueError the function train_function has 3 inputs, dense_1_input:0, .*with 1 values",
                     "(OSError|FileNotFoundError) .*/none.h5"):
            self.assertTrue(any(map(re.compile(text).match, lines)), (text, lines))

    def test_errors_of_a_model_with_an_optimizer_of_tf_train(self):
        model = tf.keras.Sequential([Dense(1, input_shape=(2,))])
        model.compile(tf.train.GradientDescentOptimizer(0.1), lambda y_true, y_pred: tf.check_numerics(y_pred, "bad"))
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "bad"):
            model.fit(np.full((2, 2), np.nan), np.zeros((2, 1)), verbose=0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
