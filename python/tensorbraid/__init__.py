"""Tensorbraid: TensorFlow 1's API on Tensorbraid's graphs, sessions and servers.

    import tensorbraid as tf
"""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING

from tensorbraid.internal import native_module as _native_module  # noqa: F401  # before all others
from tensorbraid import (  # noqa: F401
    app, compat, errors, flags, gfile, graph_util, io, nest, nn, python_io, resource_loader, summary, train)
from tensorbraid.internal import missing_names as _missing_names, protobuf_messages as _protobuf_messages
from tensorbraid.internal.function_names import use_names_of_variables as _use_names_of_variables
from tensorbraid import tf_logging as logging, tf_sysconfig as sysconfig, versions as version  # noqa: F401
from tensorbraid.ops.accumulators import *  # noqa: F401,F403
from tensorbraid.ops.control_flow import *  # noqa: F401,F403
from tensorbraid import data  # noqa: F401
from tensorbraid.nn.convolutions import conv  # noqa: F401
from tensorbraid.ops.critical_section import *  # noqa: F401,F403
from tensorbraid.ops.derivatives import *  # noqa: F401,F403
from tensorbraid.internal.device_spec import *  # noqa: F401,F403
from tensorbraid import (  # noqa: F401
    bitwise, debugging, image, linalg, lookup, math, quantization, random, sets, signal, sparse, strings)
from tensorbraid import signal as spectral  # noqa: F401
from tensorbraid.errors import OpError  # noqa: F401
from tensorbraid.dtypes import (  # noqa: F401
    DType, as_dtype, bfloat16, bool, complex64, complex128, double, float16, float32, float64, half, int8, int16, int32,
    int64, resource, string, uint8, uint16, uint32, uint64, variant)
from tensorbraid.internal.graph_functions import *  # noqa: F401,F403
from tensorbraid.internal.graph_defs import *  # noqa: F401,F403
from tensorbraid.internal.graphs import (  # noqa: F401
    Graph, IndexedSlices, Operation, Tensor, add_to_collection, add_to_collections, constant, container,
    control_dependencies, convert_to_tensor, device, get_collection, get_collection_ref, get_default_graph,
    global_variables, local_variables, model_variables, moving_average_variables, name_scope, placeholder,
    reset_default_graph, set_random_seed, trainable_variables)
from tensorbraid.ops.math_ops import *  # noqa: F401,F403
from tensorbraid.internal.version_switches import *  # noqa: F401,F403
from tensorbraid.ops.op_libraries import *  # noqa: F401,F403
from tensorbraid.ops.quantize_ops import *  # noqa: F401,F403
from tensorbraid.ops.queues import *  # noqa: F401,F403
from tensorbraid.ops.readers import *  # noqa: F401,F403
from tensorbraid.ops.script_ops import *  # noqa: F401,F403
from tensorbraid.internal.session import InteractiveSession, Session, get_default_session  # noqa: F401
from tensorbraid.internal.type_specs import *  # noqa: F401,F403
from tensorbraid.ops.spectral import *  # noqa: F401,F403
from tensorbraid.internal.shapes import Dimension, TensorShape  # noqa: F401
from tensorbraid import feature_column, initializers, layers, losses, metrics, saved_model  # noqa: F401
from tensorbraid import distributions, estimator  # noqa: F401
from tensorbraid.internal.graph_keys import *  # noqa: F401,F403
from tensorbraid.initializers import *  # noqa: F401,F403
from tensorbraid.internal.own_gradients import *  # noqa: F401,F403
from tensorbraid.internal.partitioners import *  # noqa: F401,F403
from tensorbraid.internal.variable_methods import *  # noqa: F401,F403
from tensorbraid.internal.variable_scope import *  # noqa: F401,F403
from tensorbraid.internal.variables import *  # noqa: F401,F403
from tensorbraid.internal.templates import *  # noqa: F401,F403
from tensorbraid.ops.tensor_array import *  # noqa: F401,F403
from tensorbraid.internal.tensor_protos import *  # noqa: F401,F403
from tensorbraid.tf_logging import get_logger  # noqa: F401
from tensorbraid.versions import *  # noqa: F401,F403
from tensorbraid import contrib  # noqa: E402,F401  # it uses the names above

# Names of submodules that are imported when they are first used.
_LAZY = {"keras": "keras", "profiler": "profiler", "proto": "proto", "raw_ops": "raw_ops", "test": "testing"}


def _find(name):
    if name in _LAZY:
        return _importlib.import_module("tensorbraid." + _LAZY[name])
    return _protobuf_messages.find("tensorbraid", name)


if _TYPE_CHECKING:  # editors and type checkers see these names, and so notice misspelt ones
    from tensorbraid import profiler, proto, raw_ops, testing as test  # noqa: F401
    from tensorbraid.proto import (  # noqa: F401
        AttrValue, ConfigProto, Event, GPUOptions, GraphDef, GraphOptions, HistogramProto, LogMessage, MetaGraphDef,
        NameAttrList, NodeDef, OptimizerOptions, RunMetadata, RunOptions, SessionLog, Summary, SummaryMetadata,
        TensorInfo)
else:
    __getattr__ = _find


# Modules that the import system adds to these names. The last four have TensorFlow's names beside these.
_HIDDEN = {"internal", "ops", "runner", "tensorflow_python", "testing", "tf_logging", "tf_sysconfig", "versions"}


def __dir__():
    names = {*globals(), *_LAZY, *_protobuf_messages.NAMES["tensorbraid"]} - _HIDDEN
    return sorted(name for name in names if name.startswith("__") or not name.startswith("_"))


_protobuf_messages.install(train)
_protobuf_messages.install(summary)
for _module in (bitwise, contrib, data, debugging, estimator, feature_column, image, initializers, io, layers, linalg,
                lookup, losses, math, metrics, nn, random, saved_model, sparse, strings):
    _missing_names.install(_module)
train.write_graph = io.write_graph
_use_names_of_variables()
