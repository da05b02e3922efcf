"""Error messages for arguments of a wrong type that the C++ module, not the Python code, has detected.

nanobind's own message describes the C++ function and its parameters. The messages of this file name the function of the
package that the program has called, and the argument that the program has passed.
"""

import os
import re
import sys

__all__ = []

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# For each annotation of a C++ parameter, the Python types that it accepts and their description in messages.
_WANTED = {"str": (("str",), "a string"), "bytes": (("bytes",), "bytes"), "bool": (("bool",), "True or False"),
           "int": (("int", "bool"), "an integer"), "float": (("float", "int", "bool"), "a number"),
           "list": (("list",), "a list"), "tuple": (("tuple",), "a tuple"), "dict": (("dict",), "a dictionary")}


def wrong_type(text):
    """Our message in place of nanobind's `text`.

    That text is "f(): incompatible function arguments ... 1. f(a: int, /) -> ... Invoked with types: str".
    """
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
    """The message for std::bad_cast: C++ could not convert a value, and does not say which one."""
    return (f"{_function(_frames(sys._getframe(1)), '')}: an argument has an unexpected type, or is a string with "
            "surrogates, which UTF-8 cannot encode")


def _frames(frame):
    """The frames of the package from the call of C++ outwards. The last one is the function that the program called."""
    found = []
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        found.append(frame)
        frame = frame.f_back
    return found


def _function(frames, text):
    """The name of the outermost public function of the package that the program called, or else of the C++ function."""
    for frame in reversed(frames):
        name = frame.f_code.co_qualname.removesuffix(".__init__").rpartition("<locals>.")[2]
        if not name.startswith(("_", "<")):
            return name
    return text.partition("(")[0] or "this call"


def _pairs(text, given):
    """(parameter, annotation, type of the argument) for each argument in nanobind's text; [] if C++ has overloads."""
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
    """(function, argument, value): the argument of the program that has the wrong type `kind`.

    `native` is the name of the C++ parameter, which the package may call differently. Candidates are the arguments of
    the functions that the program called, and the constructor arguments that an object has kept in its attributes. The
    function that called C++ must hold the same value. (None, None, None) if no candidate or more than one remains.
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
    """Yields the values and the elements of lists, tuples and dictionaries among them."""
    for value in values:
        yield value
        if isinstance(value, (list, tuple)):
            yield from value
        elif isinstance(value, dict):
            yield from value.values()


def _fitting(values, native, kind, wanted):
    """The name of the value with the type `kind`. If several have it, the one that is called `native`, or else None.

    An argument called `name` is taken into account only if C++ wants a string.
    """
    fitting = [name for name, value in values.items()
               if type(value).__name__ == kind and (name != "name" or wanted == "str")]
    return native if native in fitting else fitting[0] if len(fitting) == 1 else None


def _text(value):
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}... ({type(value).__name__})"
