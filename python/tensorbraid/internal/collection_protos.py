"""How the items of a collection are written to a MetaGraphDef and read from one, where the program says so."""

import collections

__all__ = ["get_collection_proto_type", "get_from_proto_function", "get_to_proto_function", "register_proto_function"]

_Functions = collections.namedtuple("_Functions", "proto_type to_proto from_proto")
_registered = {}


def register_proto_function(collection_name, proto_type=None, to_proto=None, from_proto=None):
    """Registers the functions for a collection whose items are objects of the program.

    `to_proto(item, export_scope=)` returns a message of `proto_type`, or None if the item is not in the scope.
    `from_proto(message, import_scope=)` returns an item. Raises TypeError if one of them cannot be called. A second
    registration of a collection replaces the first.
    """
    for name, function in (("to_proto", to_proto), ("from_proto", from_proto)):
        if function and not callable(function):
            raise TypeError(f"{name} must be callable.")
    _registered[collection_name] = _Functions(proto_type, to_proto, from_proto)


def _of(collection_name):
    return _registered.get(collection_name, _Functions(None, None, None))


def get_collection_proto_type(collection_name):
    """The class of the messages that describe the items of a collection, or None."""
    return _of(collection_name).proto_type


def get_to_proto_function(collection_name):
    """The function that makes a message of an item of a collection, or None."""
    return _of(collection_name).to_proto


def get_from_proto_function(collection_name):
    """The function that makes an item of a collection of a message, or None."""
    return _of(collection_name).from_proto
