"""Which modules of the package have TensorFlow's protobuf classes, such as tf.ConfigProto, and under which names.

The module `proto` makes the classes when a program first uses one. So programs that use none of them do not need
protobuf, and do not wait for its import.
"""

import importlib

from tensorbraid.internal import missing_names, public_names

__all__ = []

NAMES = {
    "tensorbraid": {
        "AttrValue", "ConfigProto", "Event", "ExecutorPolicy", "GPUOptions", "GraphDef", "GraphOptions",
        "HistogramProto", "LogMessage", "MetaGraphDef", "NameAttrList", "NodeDef", "OptimizerOptions", "RunMetadata",
        "RunOptions", "SessionLog", "Summary", "SummaryMetadata", "TensorInfo"},
    "tensorbraid.train": {
        "BytesList", "ClusterDef", "Example", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList",
        "Int64List", "JobDef", "SaverDef", "SequenceExample", "ServerDef"},
    "tensorbraid.summary": {"Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata"},
}


def find(module, name):
    """The protobuf class with this name in the module, or else the object that had it before TensorFlow 1.0."""
    if name not in NAMES[module]:
        return missing_names.find(module, name)
    return getattr(importlib.import_module("tensorbraid.proto"), name)


def install(module):
    """Gives a module a __getattr__ that finds its protobuf classes, and a __dir__ that lists them."""
    module.__getattr__ = lambda name: find(module.__name__, name)
    module.__dir__ = lambda: sorted({*public_names.names(module), *NAMES[module.__name__]})
