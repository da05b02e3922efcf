"""Functions of the program that convert items of a collection to messages of a MetaGraphDef and back."""

import collections

__all__ = ["get_collection_proto_type", "get_from_proto_function", "get_to_proto_function", "register_proto_function"]

_Functions = collections.namedtuple("_Functions", "proto_type to_proto from_proto")
_registered = {}


def register_proto_function(collection_name, proto_type=None, to_proto=None, from_proto=None):
    """Registers functions that convert the items of a collection, which are objects of the program.

    `to_proto(item, export_scope=)` returns a message of `proto_type`, or None if the item is not in the scope.
    `from_proto(message, import_scope=)` returns an item. TypeError if a function is not callable. A second registration
    for a collection replaces the first one.
    """
    for name, function in (("to_proto", to_proto), ("from_proto", from_proto)):
        if function and not callable(function):
            raise TypeError(f"{name} must be callable.")
    _registered[collection_name] = _Functions(proto_type, to_proto, from_proto)


def _of(collection_name):
    return _registered.get(collection_name, _Functions(None, None, None))


def get_collection_proto_type(collection_name):
    """The registered message class of a collection, or None."""
    return _of(collection_name).proto_type


def get_to_proto_function(collection_name):
    """The registered function from an item of a collection to a message, or None."""
    return _of(collection_name).to_proto


def get_from_proto_function(collection_name):
    """The registered function from a message to an item of a collection, or None."""
    return _of(collection_name).from_proto
