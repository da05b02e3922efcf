"""Messages for arguments of a wrong type that only the C++ module has noticed.

The module knows the types of its own function. The program has called a function of the package, whose argument the
message names.
"""

import os
import re
import sys

__all__ = []

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# What a parameter of C++ accepts, by its annotation, and how a message calls it.
_WANTED = {"str": (("str",), "a string"), "bytes": (("bytes",), "bytes"), "bool": (("bool",), "True or False"),
           "int": (("int", "bool"), "an integer"), "float": (("float", "int", "bool"), "a number"),
           "list": (("list",), "a list"), "tuple": (("tuple",), "a tuple"), "dict": (("dict",), "a dictionary")}


def wrong_type(text):
    """The message for nanobind's: "f(): incompatible function arguments ... 1. f(a: int, /) ... with types: str"."""
    frames = _frames(sys._getframe(1))
    given = text.rpartition("Invoked with types: ")[2]
    for name, annotation, kind in _pairs(text, given):
        wanted = annotation.removesuffix(" | None")
        if wanted not in _WANTED or kind in _WANTED[wanted][0] or (kind == "NoneType" and wanted != annotation):
            continue
        kind = kind.rpartition(".")[2]
        function, argument, value = _argument(frames, name, kind, wanted)
        subject = f"the argument {argument!r}" if argument else "an argument"
        value = _text(value) if argument else f"an object of type {kind!r}"
        return f"{function or _function(frames, text)}: {subject} must be {_WANTED[wanted][1]}, but got {value}"
    kinds = re.sub(r"[\w.]*\.(\w+)", r"\1", given.strip())
    return f"{_function(frames, text)}: an argument has a wrong type; the types are {kinds or 'none'}"


def not_converted():
    """The message if C++ could not convert a value, and does not say which."""
    return (f"{_function(_frames(sys._getframe(1)), '')}: an argument has another type than is expected, or is a text "
            "with surrogates, which UTF-8 lacks")


def _frames(frame):
    """The calls within the package, the one of the program last."""
    found = []
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        found.append(frame)
        frame = frame.f_back
    return found


def _function(frames, text):
    """The name of the function that the program has called: that of C++ if the program has called it directly."""
    for frame in reversed(frames):
        name = frame.f_code.co_qualname.removesuffix(".__init__").rpartition("<locals>.")[2]
        if not name.startswith(("_", "<")):
            return name
    return text.partition("(")[0] or "this call"


def _pairs(text, given):
    """The name, the annotation and the type of each argument of a C++ function without overloads."""
    signatures = re.findall(r"^    \d+\. \w*\((.*)\) -> ", text, re.MULTILINE)
    if len(signatures) != 1:
        return []
    parts = [part.partition(": ") for part in re.split(r", (?![^\[]*\])", signatures[0])]
    parameters = [(name, annotation.partition(" = ")[0]) for name, _, annotation in parts if name not in ("/", "*")]
    positional, _, named = given.partition("kwargs = {")
    kinds = [kind.strip() for kind in positional.split(",") if kind.strip()]
    kinds_by_name = dict(re.findall(r"(\w+): ([\w.]+)", named))
    return [(name, annotation, kind) for (name, annotation), kind in zip(parameters, kinds)] + [
        (name, annotation, kinds_by_name[name]) for name, annotation in parameters if name in kinds_by_name]


def _argument(frames, native, kind, wanted):
    """The function, the name and the value of the argument that has this type. C++ may use another name for it.

    It is an argument of the function that the program has called or, if an object was made before, one of the object.
    In both cases the function that has called C++ has it, too. None three times if more than one argument fits.
    """
    if not frames:
        return None, None, None
    owner = getattr(frames[0].f_locals.get("self"), "__dict__", {})
    passed = {id(value) for value in _parts([*frames[0].f_locals.values(), *owner.values()])}
    for frame in reversed(frames):
        code = frame.f_code
        names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
        values = {name: frame.f_locals[name] for name in names if name in frame.f_locals}
        found = _fitting({name: value for name, value in values.items() if id(value) in passed}, native, kind, wanted)
        if found:
            return _function(frames, ""), found, values[found]
    if not owner:
        return None, None, None
    made = type(frames[0].f_locals["self"])
    parameters = made.__init__.__code__.co_varnames if hasattr(made.__init__, "__code__") else ()
    values = {name.lstrip("_"): value for name, value in owner.items() if name.lstrip("_") in parameters}
    found = _fitting(values, native, kind, wanted)
    return (made.__name__, found, values[found]) if found else (None, None, None)


def _parts(values):
    """The values, and what is in lists, tuples and dictionaries among them."""
    for value in values:
        yield value
        if isinstance(value, (list, tuple)):
            yield from value
        elif isinstance(value, dict):
            yield from value.values()


def _fitting(values, native, kind, wanted):
    """The name of the one value of this type; None if there are more, and none has the name that C++ uses.

    An argument `name` is a string, so it fits only if C++ wants one.
    """
    fitting = [name for name, value in values.items()
               if type(value).__name__ == kind and (name != "name" or wanted == "str")]
    return native if native in fitting else fitting[0] if len(fitting) == 1 else None


def _text(value):
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}... ({type(value).__name__})"
