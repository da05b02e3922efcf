"""Errors of messages that name the field: those of protobuf often say only that a value has a wrong type."""

import difflib

from tensorbraid.internal import arguments

__all__ = []

_changed = []  # protobuf makes the class of a nested message anew if nothing refers to it


def explain(message_class):
    """Replaces the errors of protobuf in the constructor and in assignments to fields of a class of messages.

    The classes of its nested messages are changed, too. The errors keep their classes.
    """
    from google.protobuf import message_factory

    descriptor = message_class.DESCRIPTOR
    construct, assign = message_class.__init__, message_class.__setattr__

    def __init__(self, *args, **fields):
        try:
            construct(self, *args, **fields)
        except (AttributeError, TypeError, ValueError) as error:
            if args:
                raise TypeError(f"{descriptor.name} takes its fields as named arguments only") from None
            raise _explained(error, message_class, fields, construct) from None

    def __setattr__(self, name, value):
        try:
            assign(self, name, value)
        except (AttributeError, TypeError, ValueError) as error:
            raise type(error)(_of_assignment(descriptor, name, value) or str(error)) from None

    message_class.__init__, message_class.__setattr__ = __init__, __setattr__
    _changed.append(message_class)
    for nested in descriptor.nested_types:
        if not nested.GetOptions().map_entry:
            explain(message_factory.GetMessageClass(nested))


def _explained(error, message_class, fields, construct):
    """The error of a constructor. It names the first field that cannot be set alone."""
    from google.protobuf import message_factory

    descriptor = message_class.DESCRIPTOR
    for name, value in fields.items():
        field = descriptor.fields_by_name.get(name)
        if field is None:
            return type(error)(_unknown(descriptor, name))
        try:
            if isinstance(value, dict) and field.message_type is not None and not _is_map(field):
                message_factory.GetMessageClass(field.message_type)(**value)
            construct(message_class(), **{name: value})
        except (AttributeError, TypeError, ValueError) as of_field:
            if isinstance(value, dict) and field.message_type is not None and not _is_map(field):
                return of_field
            return type(of_field)(_wrong(field, value))
    return error


def _unknown(descriptor, name):
    """The message for a field that does not exist. It begins with the words of protobuf."""
    names = list(descriptor.fields_by_name)
    similar = difflib.get_close_matches(name, names, 1)
    hint = f'did you mean "{similar[0]}"?' if similar else f"its fields are {', '.join(names)}"
    return f'Protocol message {descriptor.name} has no "{name}" field; {hint}'


def _of_assignment(descriptor, name, value):
    """The message for an assignment that failed; None if nothing is known."""
    field = descriptor.fields_by_name.get(name)
    if field is None:
        return _unknown(descriptor, name)
    whole = f"{descriptor.name}: the field {name!r}"
    if _is_map(field):
        return f'{whole} is a map and cannot be assigned; set its elements: {name}["key"] = value'
    if _is_repeated(field):
        return f"{whole} is a list and cannot be assigned; fill it: {name}.extend([...])"
    if field.message_type is not None:
        return f"{whole} is a message and cannot be assigned; set its fields, or copy another: {name}.CopyFrom(...)"
    return _wrong(field, value)


def _wrong(field, value):
    """The message for a value that a field cannot have."""
    kind = getattr(value, "DESCRIPTOR", None)
    given = arguments.text_of(value) if kind is None or isinstance(value, type) else f"{_article(kind.name)} message"
    return f"{field.containing_type.name}: the field {field.name!r} must be {_wanted(field)}, but got {given}"


def _is_repeated(field):
    from google.protobuf.descriptor import FieldDescriptor

    is_repeated = getattr(field, "is_repeated", None)  # newer versions of protobuf warn about `label`
    return field.label == FieldDescriptor.LABEL_REPEATED if is_repeated is None else is_repeated


def _is_map(field):
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _wanted(field):
    """What a value of a field must be, in words."""
    if _is_map(field):
        key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        return f"a dictionary, each key {_one(key)} and each value {_one(value)}"
    return f"a list, each element {_one(field)}" if _is_repeated(field) else _one(field)


def _one(field):
    """What one element of a field must be, in words."""
    from google.protobuf.descriptor import FieldDescriptor as Kinds

    if field.message_type is not None:
        return f"{_article(field.message_type.name)} message"
    if field.enum_type is not None:
        return "one of " + ", ".join(value.name for value in field.enum_type.values)
    return {Kinds.CPPTYPE_BOOL: "True or False", Kinds.CPPTYPE_DOUBLE: "a number", Kinds.CPPTYPE_FLOAT: "a number",
            Kinds.CPPTYPE_STRING: "bytes" if field.type == Kinds.TYPE_BYTES else "a string",
            Kinds.CPPTYPE_INT32: "an integer of 32 bits", Kinds.CPPTYPE_INT64: "an integer of 64 bits",
            Kinds.CPPTYPE_UINT32: "an integer of 32 bits without a sign",
            Kinds.CPPTYPE_UINT64: "an integer of 64 bits without a sign"}[field.cpp_type]


def _article(name):
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
