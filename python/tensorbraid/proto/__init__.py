"""Messages of TensorFlow: `proto.GraphDef`, `proto.ConfigProto`, and the values of enums such as `proto.DT_FLOAT`.

The classes are made when they are first used, from the .proto files in this folder, in a descriptor pool of their own.
So TensorFlow, which has messages of the same names, may be loaded in the same process.
"""

import importlib
import os
import threading

from tensorbraid.internal import gzip_magic

__all__ = []

_FILES = ("graph", "step_stats", "config", "meta_graph", "summary", "example", "projector", "tfprof")
_lock = threading.Lock()
_made = {}


def _make():
    """Fills `_made` with the classes and enum values of all files."""
    from google.protobuf import any_pb2, descriptor_pool, message_factory
    from google.protobuf.internal import enum_type_wrapper

    parser = importlib.import_module("tensorbraid.proto.parser")
    messages = importlib.import_module("tensorbraid.proto.messages")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(any_pb2.DESCRIPTOR.serialized_pb)
    names, enums = {}, set()
    for file in _FILES:
        with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), file + ".proto")) as text:
            pool.AddSerializedFile(parser.file_descriptor(file + ".proto", text.read(), enums).SerializeToString())
        descriptor = pool.FindFileByName(file + ".proto")
        for name, message in descriptor.message_types_by_name.items():
            names[name] = message_factory.GetMessageClass(message)
            names[name].__module__ = __name__
            messages.explain(names[name])
        for name, enum in descriptor.enum_types_by_name.items():
            names[name] = enum_type_wrapper.EnumTypeWrapper(enum)
            names.update({value.name: value.number for value in enum.values})
    return names


def _names():
    with _lock:
        if not _made:
            _made.update(_make())
    return _made


def __getattr__(name):
    if name.startswith("__") or name not in _names():
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return _made[name]


def __dir__():
    return sorted(_names())


def message(kind, value, what="value"):
    """`value`, a message of the package or of TensorFlow, or its bytes, as a message of the class called `kind`.

    `what` names the value in the TypeError for anything else.
    """
    wanted = __getattr__(kind)
    if isinstance(value, wanted):
        return value
    if isinstance(value, bytes):
        return wanted.FromString(value)
    if getattr(getattr(value, "DESCRIPTOR", None), "full_name", None) == wanted.DESCRIPTOR.full_name:
        return wanted.FromString(value.SerializeToString())
    raise TypeError(f"{what} must be a {kind}, got {type(value).__name__}")


def parsed(kind, data):
    """The message of the class called `kind` with these bytes; None if they are something else."""
    from google.protobuf.message import DecodeError

    try:
        return __getattr__(kind).FromString(data)
    except DecodeError:
        return None


def from_file(kind, path):
    """The message of the class called `kind` that a file has, as bytes or as text; OSError if it has none."""
    from google.protobuf import text_format

    with open(path, "rb") as file:
        content = file.read()
    made = parsed(kind, content)
    if made is not None:
        return made
    made = __getattr__(kind)()
    try:
        return text_format.Parse(content.decode(), made, allow_unknown_field=True, descriptor_pool=made.DESCRIPTOR.file.pool)
    except (UnicodeDecodeError, text_format.ParseError) as error:
        raise OSError(f"Cannot parse file {path} as a {kind}: {error}{gzip_magic.hint(content)}.") from None
