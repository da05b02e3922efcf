"""Tensorbraid: TensorFlow 1's API on Tensorbraid's graphs, sessions and servers.

    import tensorbraid as tf

Names are imported as `X as X`, or by a module with `__all__`, so that editors and type checkers take them for public.
"""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING

from tensorbraid.internal import native_module as _native_module  # noqa: F401  # before all others
from tensorbraid import (  # noqa: F401
    app as app, compat as compat, errors as errors, flags as flags, gfile as gfile, graph_util as graph_util, io as io,
    nest as nest, nn as nn, python_io as python_io, resource_loader as resource_loader, summary as summary,
    train as train)
from tensorbraid.internal import missing_names as _missing_names, protobuf_messages as _protobuf_messages
from tensorbraid.internal.function_names import use_names_of_variables as _use_names_of_variables
from tensorbraid import tf_logging as _logging, tf_sysconfig as _sysconfig, versions as _version
logging, sysconfig, version = _logging, _sysconfig, _version
from tensorbraid.ops.accumulators import *  # noqa: F401,F403
from tensorbraid.ops.control_flow import *  # noqa: F401,F403
from tensorbraid import data as data  # noqa: F401
from tensorbraid.nn.convolutions import conv as conv  # noqa: F401
from tensorbraid.ops.critical_section import *  # noqa: F401,F403
from tensorbraid.ops.derivatives import *  # noqa: F401,F403
from tensorbraid.internal.device_spec import *  # noqa: F401,F403
from tensorbraid import (  # noqa: F401
    bitwise as bitwise, debugging as debugging, image as image, linalg as linalg, lookup as lookup, math as math,
    quantization as quantization, random as random, sets as sets, signal as signal, sparse as sparse,
    strings as strings)
spectral = signal
from tensorbraid.errors import OpError as OpError  # noqa: F401
from tensorbraid.dtypes import (  # noqa: F401
    DType as DType, as_dtype as as_dtype, bfloat16 as bfloat16, bool as bool, complex64 as complex64,
    complex128 as complex128, double as double, float16 as float16, float32 as float32, float64 as float64,
    half as half, int8 as int8, int16 as int16, int32 as int32, int64 as int64, resource as resource, string as string,
    uint8 as uint8, uint16 as uint16, uint32 as uint32, uint64 as uint64, variant as variant)
from tensorbraid.internal.graph_functions import *  # noqa: F401,F403
from tensorbraid.internal.graph_defs import *  # noqa: F401,F403
from tensorbraid.internal.graphs import (  # noqa: F401
    Graph as Graph, IndexedSlices as IndexedSlices, Operation as Operation, Tensor as Tensor,
    add_to_collection as add_to_collection, add_to_collections as add_to_collections, constant as constant,
    container as container, control_dependencies as control_dependencies, convert_to_tensor as convert_to_tensor,
    device as device, get_collection as get_collection, get_collection_ref as get_collection_ref,
    get_default_graph as get_default_graph, global_variables as global_variables, local_variables as local_variables,
    model_variables as model_variables, moving_average_variables as moving_average_variables, name_scope as name_scope,
    placeholder as placeholder, reset_default_graph as reset_default_graph, set_random_seed as set_random_seed,
    trainable_variables as trainable_variables)
from tensorbraid.ops.math_ops import *  # noqa: F401,F403
from tensorbraid.internal.version_switches import *  # noqa: F401,F403
from tensorbraid.ops.op_libraries import *  # noqa: F401,F403
from tensorbraid.ops.quantize_ops import *  # noqa: F401,F403
from tensorbraid.ops.queues import *  # noqa: F401,F403
from tensorbraid.ops.readers import *  # noqa: F401,F403
from tensorbraid.ops.script_ops import *  # noqa: F401,F403
from tensorbraid.internal.session import (  # noqa: F401
    InteractiveSession as InteractiveSession, Session as Session, get_default_session as get_default_session)
from tensorbraid.internal.type_specs import *  # noqa: F401,F403
from tensorbraid.ops.complex_fourier import *  # noqa: F401,F403
from tensorbraid.internal.shapes import Dimension as Dimension, TensorShape as TensorShape  # noqa: F401
from tensorbraid import (  # noqa: F401
    feature_column as feature_column, initializers as initializers, layers as layers, losses as losses,
    metrics as metrics, saved_model as saved_model)
from tensorbraid import distribute as distribute, distributions as distributions, estimator as estimator  # noqa: F401
from tensorbraid.internal.graph_keys import *  # noqa: F401,F403
from tensorbraid.initializers import *  # noqa: F401,F403
from tensorbraid.internal.embedding_options import *  # noqa: F401,F403
from tensorbraid.internal.embedding_variables import *  # noqa: F401,F403
from tensorbraid.internal.own_gradients import *  # noqa: F401,F403
from tensorbraid.internal.partitioners import *  # noqa: F401,F403
from tensorbraid.internal.variable_methods import *  # noqa: F401,F403
from tensorbraid.internal.variable_scope import *  # noqa: F401,F403
from tensorbraid.internal.variables import *  # noqa: F401,F403
from tensorbraid.train.staged_input import *  # noqa: F401,F403
from tensorbraid.internal.templates import *  # noqa: F401,F403
from tensorbraid.ops.tensor_array import *  # noqa: F401,F403
from tensorbraid.internal.tensor_protos import *  # noqa: F401,F403
from tensorbraid.tf_logging import get_logger as get_logger  # noqa: F401
from tensorbraid.versions import *  # noqa: F401,F403
from tensorbraid import autograph as autograph, config as config  # noqa: F401
from tensorbraid import contrib as contrib  # noqa: E402,F401  # it uses the names above

# Names of submodules that are imported when they are first used.
_LAZY = {"keras": "keras", "profiler": "profiler", "proto": "proto", "raw_ops": "raw_ops", "test": "testing"}


def _find(name):
    if name in _LAZY:
        module = _importlib.import_module("tensorbraid." + _LAZY[name])
        _missing_names.install(module)
        return module
    return _protobuf_messages.find("tensorbraid", name)


if _TYPE_CHECKING:  # editors and type checkers see these names, and so notice misspelt ones
    from tensorbraid import profiler as profiler, proto as proto, raw_ops as raw_ops, testing as _test
    test = _test
    from tensorbraid.proto import (  # noqa: F401
        AttrValue as AttrValue, ConfigProto as ConfigProto, Event as Event, ExecutorPolicy as ExecutorPolicy,
        GPUOptions as GPUOptions, GraphDef as GraphDef, GraphOptions as GraphOptions, HistogramProto as HistogramProto,
        LogMessage as LogMessage, MetaGraphDef as MetaGraphDef, NameAttrList as NameAttrList, NodeDef as NodeDef,
        OptimizerOptions as OptimizerOptions, RunMetadata as RunMetadata, RunOptions as RunOptions,
        SessionLog as SessionLog, Summary as Summary, SummaryMetadata as SummaryMetadata, TensorInfo as TensorInfo)
else:
    __getattr__ = _find


# Modules that the import system adds to these names. The last four have TensorFlow's names beside these.
_HIDDEN = {"as_tensorflow", "internal", "ops", "runner", "tensorflow_python", "testing", "tf_logging", "tf_sysconfig",
           "versions"}


def __dir__():
    names = {*globals(), *_LAZY, *_protobuf_messages.NAMES["tensorbraid"]} - _HIDDEN
    return sorted(name for name in names if name.startswith("__") or not name.startswith("_"))


_protobuf_messages.install(train)
_protobuf_messages.install(summary)
for _module in [_value for _name, _value in globals().items() if not _name.startswith("_") and _name not in _HIDDEN]:
    if isinstance(_module, type(train)) and _module.__name__.startswith("tensorbraid."):
        _missing_names.install(_module)
train.write_graph = io.write_graph
_use_names_of_variables()
