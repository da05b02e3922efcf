"""The modules of the package that have TensorFlow's protobuf classes, such as tf.ConfigProto, and under which names.

The classes are made when a program first uses one (module `proto`), because importing protobuf takes time, and programs
that use none of them run without it.
"""

import importlib

from tensorbraid.internal import missing_names, public_names

__all__ = []

NAMES = {
    "tensorbraid": {
        "AttrValue", "ConfigProto", "Event", "GPUOptions", "GraphDef", "GraphOptions", "HistogramProto", "LogMessage",
        "MetaGraphDef", "NameAttrList", "NodeDef", "OptimizerOptions", "RunMetadata", "RunOptions", "SessionLog",
        "Summary", "SummaryMetadata", "TensorInfo"},
    "tensorbraid.train": {
        "BytesList", "ClusterDef", "Example", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList",
        "Int64List", "JobDef", "SaverDef", "SequenceExample", "ServerDef"},
    "tensorbraid.summary": {"Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata"},
}


def find(module, name):
    """The message that is called `name` in the module, or what had this name before TensorFlow 1.0."""
    if name not in NAMES[module]:
        return missing_names.find(module, name)
    return getattr(importlib.import_module("tensorbraid.proto"), name)


def install(module):
    """Lets a module find its messages."""
    module.__getattr__ = lambda name: find(module.__name__, name)
    module.__dir__ = lambda: sorted({*public_names.names(module), *NAMES[module.__name__]})
