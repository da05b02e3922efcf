"""Which of TensorFlow's names the package has: dotted names without "tensorflow" before them, such as "nn.relu"."""

import collections
import difflib
import functools
import importlib
import inspect
import os
import types

import tensorbraid
from tensorbraid import tensorflow_python
from tensorbraid.internal import embedding_options, installed_keras, refused_keras
from tensorbraid.tensorflow_python import keras as python_keras

_KERAS = f"tf.keras is the library Keras {installed_keras.VERSION}, which has no such name"
_EAGER = "there is no eager execution; build a graph and run it in a tf.Session"
_TABLES = "the tables of MaxCompute are not part of this package; read files with tf.data"
_KAFKA = "messages of Kafka cannot be read yet; write them to files, and read these with tf.data"
_OTHER_TABLES = "growing tables have rows of one size, one for each key; use tf.get_embedding_variable"
_TPU = "there are no TPUs in this package; tf.contrib.tpu.TPUEstimator with use_tpu=False trains on CPUs"
_STRATEGIES = ("there are no distribution strategies; tf.train.replica_device_setter and "
               "tf.train.SyncReplicasOptimizer distribute a training")
REFUSED = {
    **{f"keras.{name}": reason for name, reason in refused_keras.NAMES.items()},
    "keras": _KERAS,
    "python.keras": _KERAS,
    "enable_eager_execution": _EAGER,
    "enable_v2_behavior": _EAGER,
    "contrib.eager": _EAGER,
    "GradientTape": _EAGER + "; tf.gradients differentiates",
    "function": "there is no tf.function: a graph is built once, and steps of it run in a tf.Session",
    "distribute": _STRATEGIES,
    "contrib.distribute": _STRATEGIES,
    "lite": "TensorFlow Lite is not part of this package",
    "contrib.lite": "TensorFlow Lite is not part of this package",
    "python.eager.backprop": _EAGER,
    "python.eager.context.eager_mode": _EAGER,
    "python.eager.context.enable_eager_execution": _EAGER,
    "contrib.boosted_trees": "boosted trees are not part of this package",
    "contrib.tensor_forest": "forests of decision trees are not part of this package",
    "contrib.estimator.replicate_model_fn": "a model is not copied to several devices of a task; start several workers",
    "contrib.estimator.TowerOptimizer": "a model is not copied to several devices of a task; start several workers",
    "contrib.summary": "its writers are those of eager execution; use tf.summary with a tf.summary.FileWriter",
    "contrib.cudnn_rnn": "cuDNN's layers compute on GPUs only; tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell and "
                         "CudnnCompatibleGRUCell compute the same on CPUs",
    "contrib.nccl": "there are no ops of NCCL; tf.add_n adds the tensors of several devices",
    "contrib.factorization": "k-means and matrix factorization are not part of this package",
    "get_dynamic_dimension_embedding_variable": _OTHER_TABLES,
    "get_multihash_variable": _OTHER_TABLES,
    "feature_column.categorical_column_with_adaptive_embedding":
        "growing tables take no more rows than there are keys, so columns have no adaptive embedding; use "
        "tf.feature_column.categorical_column_with_embedding",
    "python.distribute.group_embedding_collective_strategy":
        "tables on GPUs that workers share by collectives are not part of this package; use parameter servers, as by "
        "tf.train.replica_device_setter",
    "python.ops.work_queue": "WorkQueue is not part of this package; give each worker its files with tf.data's shard",
    "python.data.experimental.ops.parquet_dataset_ops":
        "files of Parquet cannot be read yet; write them as CSV, and read them with tf.data",
    "data.KafkaDataset": _KAFKA,
    "data.KafkaGroupIODataset": _KAFKA,
    "TableRecordReader": _TABLES,
    "data.TableRecordDataset": _TABLES,
    "python_io.OutOfRangeException": "only readers of MaxCompute's tables raise it, which are not part of this package",
    "python_io.TableReader": _TABLES,
    "python_io.TableWriter": _TABLES,
    "compat.v2": "TensorFlow 2 is not part of this package; tf.compat.v2 has the names that mean the same in "
                 "TensorFlow 1",
    "contrib.tpu": _TPU,
    "tpu": _TPU,
}
_PARTLY = ("keras", "python.keras", "distribute", "compat.v2", "contrib.cudnn_rnn", "contrib.tpu")  # some of their names exist

# Where the names of a module of tensorflow.python are, by the beginning of the module's name. "" is the package itself.
# A module of tensorbraid/tensorflow_python with the name of the module comes first.
_PUBLIC = {
    "app": ["app"], "flags": ["flags"], "gfile": ["gfile"], "tf_logging": ["logging"], "errors": ["errors"],
    "resource_loader": ["resource_loader"], "test": ["test"], "googletest": ["test"], "nest": ["nest"],
    "compat": ["compat"], "nn": ["nn"], "rnn_cell": ["tensorflow_python.rnn_cell", "nn.rnn_cell"],
    "core_rnn_cell": ["tensorflow_python.rnn_cell", "nn.rnn_cell"], "rnn": ["tensorflow_python.rnn_cell", "nn"],
    "ctc": ["nn"], "embedding": ["nn"], "candidate_sampling": ["nn"], "image": ["image"], "losses": ["losses"],
    "metrics": ["metrics"], "init": ["initializers"], "summary": ["summary"], "layers": ["layers"],
    "normalization": ["layers"], "convolutional": ["layers"], "core": ["layers"], "pooling": ["layers"],
    "dataset": ["data"], "estimator": ["estimator"], "sets": ["sets"], "string": ["strings"], "linalg": ["linalg"],
    "linear_operator": ["linalg"],
    "spectral": ["signal"], "graph_util": ["graph_util"], "saved_model": ["saved_model"],
    "bernoulli": ["distributions"], "categorical": ["distributions"], "gradient_checker": ["test"],
    "builder": ["saved_model.builder"], "signature": ["saved_model.signature_def_utils"],
    "signature_constants": ["saved_model.signature_constants"],
    "utils": ["saved_model.utils", "tensorflow_python.saved_model_utils", "tensorflow_python.layer_utils",
              "tensorflow_python.feature_column"],
    "tag_constants": ["saved_model.tag_constants"], "main_op": ["saved_model.main_op"],
    "loader": ["saved_model.loader"], "io": ["io", "train"], "parsing": ["io", ""],
    "model_fn": ["estimator"],
    "run_config": ["estimator", "estimator.task"], "device": ["tensorflow_python.device_lib"],
    "dnn": ["estimator"], "linear": ["estimator"], "baseline": ["estimator"], "head": ["estimator"],
    "exporter": ["estimator", "estimator.exporter"], "export": ["estimator.export"], "numpy_io": ["estimator.inputs"],
    "pandas_io": ["estimator.inputs"], "iterator": ["data"], "readers": ["data"], "normal": ["distributions"],
    "constants": ["saved_model.constants"],
    "prediction_keys": ["tensorflow_python.metric_keys"],
    "util": ["losses", "tensorflow_python.utilities"],
    "tf_export": ["tensorflow_python.utilities"], "tf_inspect": ["tensorflow_python.utilities"],
    "tf_decorator": ["tensorflow_python.utilities"], "tf_contextlib": ["tensorflow_python.utilities"],
    "all_util": ["tensorflow_python.utilities"], "lazy_loader": ["tensorflow_python.utilities"],
    "function_utils": ["tensorflow_python.utilities"], "tf_should_use": ["tensorflow_python.utilities"],
    "keyword_args": ["tensorflow_python.utilities"], "estimator_util": ["tensorflow_python.utilities"],
    "model_analyzer": ["profiler"], "option_builder": ["profiler"], "tfprof_logger": ["profiler"],
    "profiler": ["profiler"], "writer": ["summary"],
    "distribution": ["distributions"], "sparse": ["sparse", "ops.sparse_crosses"],
    "evaluation": ["contrib.training"],
    "logging": ["", "summary", "tensorflow_python.old_functions"],
    "lookup": ["lookup", "ops.index_tables", "contrib.lookup"],
    "tf_record": ["python_io", "io"],
    "training_ops": ["train.training_ops"], "gen_training_ops": ["train.training_ops"],
    "resource_variable_ops": ["tensorflow_python.variables", "train.training_ops"],
    "feature_column": ["tensorflow_python.feature_column", "feature_column"],
    "sequence_feature_column": ["tensorflow_python.feature_column", "feature_column", "contrib.feature_column"],
    "seq2seq": ["contrib.legacy_seq2seq", "contrib.seq2seq"],
}
_GENERAL = ["", "train", "nn", "layers", "losses", "metrics", "summary", "image", "data", "math", "errors", "test",
            "contrib.framework", "contrib.util"]
# Packages whose names are no names of TensorFlow's, or have a shorter one.
_INTERNAL = ("tensorbraid.internal", "tensorbraid.ops", "tensorbraid.runner")


# Names of the file framework.ops, which is also meant by `from tensorflow.python import ops`.
_FRAMEWORK_OPS = ("Graph", "GraphKeys", "IndexedSlices", "Operation", "RegisterGradient", "Tensor", "colocate_with",
                  "control_dependencies", "convert_to_tensor", "device", "get_collection", "get_default_graph",
                  "init_scope", "name_scope", "reset_default_graph")


class Missing(Exception):
    """A name that the package lacks. `parent` is the last object on its path that exists, `name` what it lacks."""

    def __init__(self, parent, name):
        super().__init__(name)
        self.parent, self.name = parent, name


class PythonModule(types.ModuleType):
    """Stands for a module of tensorflow.python. It has the package's public names."""

    def __init__(self, path):
        super().__init__("tensorflow." + path)
        self.__path__ = []  # it may have submodules
        self.__dict__["_path"] = path

    def __getattr__(self, name):
        parts = self._path.split(".")[1:]
        if name == "__all__" and _specific_namespaces(parts[-1] if parts else ""):
            return sorted({known for namespace in _specific_namespaces(parts[-1]) for known in dir(_walk(namespace))
                           if not known.startswith("_")})
        if name.startswith("__"):
            raise AttributeError(name)
        if self._path == "python" and name == "keras":  # the package has its files one by one
            return python_keras
        if parts == ["ops"] and name in _FRAMEWORK_OPS:
            return getattr(tensorbraid, name)
        is_file = len(parts) == 1 and parts[0].endswith("_ops")  # such as `from tensorflow.python import math_ops`
        if len(parts) < (3 if parts[:1] == ["lib"] else 2) and not is_file:
            return stand_in(f"{self._path}.{name}")
        for namespace in _namespaces(parts[-1]):
            try:
                value = getattr(_walk(namespace), name)
            except (AttributeError, Missing):
                continue
            if value is not tensorbraid.ops:  # no name of TensorFlow's
                return value
        if parts[-1].endswith("_ops"):  # as in TensorFlow, where gen_X_ops is imported into X_ops
            function = _generated(name)
            if function is not None:
                return function
        path = f"{self._path}.{name}"
        if refusal(path):  # so that the import system asks the finder, which explains it
            raise AttributeError(f"tensorflow.{path}: {refusal(path)}")
        if path in _modules or name.endswith(_FILE_ENDS) or name in _FILES:
            return stand_in(path)
        raise AttributeError(f"tensorflow.{self._path} stands for public names of the package, and none is '{name}'")


# The files and folders of tensorflow.python that are deeper than "python.FOLDER.FILE".
_FILE_ENDS = ("_ops", "_impl", "_lib", "_utils", "_util", "_pb2", "_keys", "_io", "_options", "_functions", "_column")
_FILES = frozenset(
    "base baseline bernoulli beta builder categorical core constants convolutional dataframe dirichlet distribution "
    "distributions dnn dnn_linear_combined event_accumulator experimental export export_output exponential gamma head "
    "iterator_ops kullback_leibler laplace layers linear linear_operator linear_operator_diag "
    "linear_operator_full_matrix linear_operator_identity linear_operator_lower_triangular loader losses main_op "
    "metric_keys multinomial nest normal normalization ops optimizers parsing_utils pooling prediction_keys queues "
    "readers signature_constants sparse special_math structure student_t summary tag_constants tf_record tracking "
    "uniform util utils v1 v2 wrappers writer writer_cache event_file_writer".split())
_modules = set()  # paths that a program imports as modules, see declare_module


def declare_module(path):
    """Registers that a program imports `path`, such as "python.ops.x.y", as a module. It is one from then on."""
    parts = normal(path).split(".")
    _modules.update(".".join(parts[:i]) for i in range(2, len(parts) + 1))


@functools.cache
def _generated(name):
    """The function of an op by its name in TensorFlow's generated modules, such as "_mat_mul"; None if no op has it."""
    from tensorbraid import raw_ops

    wanted = name.replace("_", "").lower()
    op = next((op for op in dir(raw_ops) if op.lower() == wanted), None)
    return None if op is None else raw_ops.positional(op)


# The files below tf.contrib.X.python that programs import.
_CONTRIB_FILES = frozenset(
    "attention_wrapper basic_decoder bucket_ops core_rnn core_rnn_cell core_rnn_cell_impl decoder embedding_ops "
    "estimators evaluation feature_column feature_column_ops helper hparam initializers input_fn_utils layers loss loss_ops lstm_ops "
    "gru_ops fused_rnn_cell metric_ops nets optimizers regularizers rnn rnn_cell set_ops seq2seq summaries tensor_util "
    "training utils variables crf lookup_ops data_decoder dataset dataset_data_provider data_provider parallel_reader "
    "prefetch_queue tfexample_decoder arg_scope checkpoint_ops data slim ops framework training learn preprocessing "
    "estimators checkpoint_utils sparse_ops gan losses_impl losses_wargs namedtuples train tuple_losses predictor "
    "model_analyzer tfprof_logger sampling_ops data_decoder confusion_matrix_ops beam_search_ops bernoulli categorical "
    "normal gamma beta image_ops distort_image_ops threadpool metric_spec monitors estimator run_config tools tfprof "
    "input_fn_utils reader metric_learning jit losses metric_loss_ops bijectors tpu tpu_config tpu_estimator "
    "tpu_optimizer".split())


class ContribModule(types.ModuleType):
    """Stands for tensorflow.contrib.X.python and for the modules in it. It has the names of tf.contrib.X."""

    def __init__(self, package, path):
        super().__init__(f"tensorflow.{path}")
        self.__path__ = []
        self.__dict__.update(_package=package, _path=path)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        is_folder = self._path.endswith(".python")
        for place in [] if is_folder else self._places(name):
            try:
                return _child(place, name)
            except Missing:
                pass
        path = f"{self._path}.{name}"
        if is_folder or name in _CONTRIB_FILES or path in _modules:
            return contrib_stand_in(self._package, path)
        raise AttributeError(f"{self.__name__} stands for {self._package.__name__}, which has no '{name}'")


    def _places(self, name):
        """The modules to search for a name: first those of tf.contrib.X that the path names, then tf.contrib.X itself.

        Private names, such as _linear, are also searched among those of recurrent cells.
        """
        folders = self._path.partition(".python.")[2].split(".")
        own = [vars(self._package).get(folder) for folder in reversed(folders)]
        private = [_walk("tensorflow_python.rnn_cell")] if name.startswith("_") else []
        return [module for module in own if isinstance(module, types.ModuleType)] + [self._package] + private


@functools.cache
def contrib_stand_in(package, path):
    """The module that stands for a module below tensorflow.contrib.X.python."""
    return ContribModule(package, path)


class CoreModule(types.ModuleType):
    """Stands for a package or a file of messages of tensorflow.core. Each has all messages."""

    def __init__(self, path):
        super().__init__("tensorflow." + path)
        self.__path__ = []
        self.__dict__["_path"] = path

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if self._path == "core.framework.embedding.config_pb2":  # DeepRec's
            return getattr(embedding_options, name)
        if name in ("embedding", "framework", "protobuf", "example", "util", "profiler") or name.endswith("_pb2"):
            return stand_in(f"{self._path}.{name}")
        from tensorbraid import proto

        return getattr(proto, name)


@functools.cache
def stand_in(path):
    """The module that stands for a module of tensorflow.python or tensorflow.core."""
    return (CoreModule if path.startswith("core") else PythonModule)(path)


_OWN = frozenset(path.removesuffix(".py") for path in os.listdir(os.path.dirname(tensorflow_python.__file__)))


def _namespaces(leaf):
    return _specific_namespaces(leaf) + _GENERAL


def _specific_namespaces(leaf):
    """The modules of the package that have the names of a file of tensorflow.python."""
    own = [f"tensorflow_python.{leaf}"] if leaf in _OWN else []
    leaf = leaf.removesuffix("_impl").removesuffix("_lib")
    if not own and leaf in _OWN:
        own = [f"tensorflow_python.{leaf}"]
    start = max((start for start in _PUBLIC if leaf.startswith(start)), key=len, default=None)
    return own + _PUBLIC.get(start, [])


def _walk(path):
    value = tensorbraid
    for part in path.split(".") if path else []:
        value = _child(value, part)
    return value


def _child(parent, name):
    """The attribute or submodule `name` of `parent`; raises Missing."""
    try:
        return getattr(parent, name)
    except AttributeError:
        pass
    if name == "python" and getattr(parent, "__name__", "").startswith("tensorbraid.contrib."):
        return contrib_stand_in(parent, parent.__name__.removeprefix("tensorbraid.") + ".python")
    is_package = isinstance(parent, types.ModuleType) and hasattr(parent, "__path__")
    if is_package and not isinstance(parent, (ContribModule, CoreModule, PythonModule)):
        module = f"{parent.__name__}.{name}"
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if not f"{module}.".startswith(f"{error.name}."):
                raise
    raise Missing(parent, name)


# Folders that older versions of TensorFlow had between `keras` and its modules.
_KERAS_FOLDERS = {"contrib.keras.python.keras": "keras", "contrib.keras.api.keras": "keras", "contrib.keras": "keras",
                  "python.keras._impl.keras": "python.keras", "python.keras.api.keras": "keras"}


def normal(path):
    """`path` without the "compat.v1" that means the package itself, and with Keras where the package has it."""
    while path == "compat.v1" or path.startswith("compat.v1."):
        path = path[len("compat.v1."):]
    for folder, place in _KERAS_FOLDERS.items():
        if f"{path}.".startswith(folder + "."):
            return place + path[len(folder):]
    return path


def find(path):
    """The object that TensorFlow calls `path`; raises Missing.

    Only modules and classes are asked for names. So `path` may end with any names after a function or after FLAGS.
    """
    path = normal(path)
    value = tensorbraid
    for i, part in enumerate(path.split(".") if path else []):
        if i == 0 and part in ("python", "core"):
            value = stand_in(part)
        elif isinstance(value, types.ModuleType) or inspect.isclass(value):
            value = _child(value, part)
        else:
            break
    return value


def refusal(path):
    """Why the name is refused, or None."""
    path = normal(path)
    for start, reason in REFUSED.items():
        if path == start or path.startswith(start + "."):
            if start in _PARTLY and _exists(path):
                return None
            return reason if reason is not _KERAS else installed_keras.problem() or reason
    return None


def _exists(path):
    try:
        find(path)
    except Missing:
        return False
    return True


def public_name(name):
    """The shortest public path, such as "nn.relu", that ends with this name; None if no path does."""
    return _all_names().get(name)


@functools.cache
def _all_names():
    """All public names of the package, by their last part."""
    names, seen = {}, set()

    # Breadth first, so a module with several paths, such as tf.train and tf.compat.v1.train, is found by the shortest.
    waiting = collections.deque([(tensorbraid, "")])
    while waiting:
        module, prefix = waiting.popleft()
        if module in seen:
            continue
        seen.add(module)
        for name in dir(module):
            value = None if name.startswith("_") else getattr(module, name, None)
            if isinstance(value, types.ModuleType):
                if value.__name__.startswith("tensorbraid.") and not value.__name__.startswith(_INTERNAL):
                    waiting.append((value, f"{prefix}{name}."))
            elif value is not None:
                names.setdefault(name, []).append(prefix + name)

    return {name: min(paths, key=len) for name, paths in names.items()}


def nearest(path, missing):
    """The name of the package that is most like `path`, or None."""
    last = path.rsplit(".", 1)[-1]
    siblings = [name for name in dir(missing.parent) if not name.startswith("_")]
    prefix = path[:path.rindex(missing.name)] if missing.name in path else ""
    if missing.name == last:
        near = difflib.get_close_matches(last, siblings, 1, 0.7)
        if near:
            return normal(prefix) + near[0]
    names = _all_names()
    if last in names:
        return names[last]
    near = difflib.get_close_matches(last, names, 1, 0.7)
    return names[near[0]] if near else None
