"""Messages for wrong arguments: they name the function and the argument of the program.

Many mistakes are only noticed deep in the package, or in the C++ module, which knows the types of its own function. The
program has called a function of the package. So the frames of the calls between are searched for the value.
"""

import contextlib
import inspect
import numbers
import operator
import os
import re
import sys

__all__ = []

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PASSED = (_PACKAGE, contextlib.__file__)  # a scope of the package is entered through contextlib
# For each annotation of a C++ parameter, the Python types that it accepts and their description in messages.
_WANTED = {"str": (("str",), "a string"), "bytes": (("bytes",), "bytes"), "bool": (("bool",), "True or False"),
           "int": (("int", "bool"), "an integer"), "float": (("float", "int", "bool"), "a number"),
           "list": (("list",), "a list"), "tuple": (("tuple",), "a tuple"), "dict": (("dict",), "a dictionary")}

_NAMES_OF_CPP = (("Minimize(loss, {.global_step = GetOrCreateGlobalStep(graph)})",
                  "minimize(loss, global_step=tf.train.get_or_create_global_step())"),
                 ("SaverOptions::", "tf.train.Saver: "), ("PrepareOrWaitForSession", "prepare_or_wait_for_session"), ("SessionOptions::", "the session's "))


def about(value, text, native=None):
    """The message `text` about a value, after the function and the argument by which the program has passed it.

    `native` is the name that a function below has for the argument. The text alone if the argument is not found, or if
    several arguments have this value.
    """
    if ": the argument '" in text:
        return text
    for frame in reversed(_frames(sys._getframe(1))):
        if _is_public(frame):
            name = _holding(frame, value, native)
            return f"{_name_of(frame)}: the argument {name!r}: {text}" if name else text
    return text


def must_be(name, wanted, value):
    """The message that an argument of this name has a wrong value. `wanted` says what it must be, "a list"."""
    function = _function(_frames(sys._getframe(1)), "")
    return f"{function}: the argument {name!r} must be {wanted}, but got {text_of(value)}"


def check(fits, name, wanted, value):
    """Raises TypeError with the message of `must_be` unless `fits`."""
    if not fits:
        raise TypeError(must_be(name, wanted, value))


def items(name, values, wanted="a list"):
    """The values as a list. TypeError for a string, and for what Python cannot iterate over, such as a number."""
    check(not isinstance(values, (str, bytes)), name, wanted, values)
    try:
        return list(values)
    except TypeError:
        raise TypeError(must_be(name, wanted, values)) from None


def path(name, value):
    """The path of a file. A number is refused: Python's functions would take it for the descriptor of an open file."""
    check(isinstance(value, (str, bytes, os.PathLike)), name, "the path of a file", value)
    return os.fspath(value)


def integer(name, value):
    """int(value). An error of int() gets the name of the argument."""
    try:
        return int(value)
    except (TypeError, ValueError) as error:
        raise type(error)(must_be(name, "an integer", value)) from None


def whole(name, value):
    """As integer, but a text, and a number with a fraction, are errors. 1e6 is an integer."""
    check(isinstance(value, numbers.Real) and float(value).is_integer(), name, "an integer", value)
    return int(value)


def seed(value, name="seed"):
    """The value, which must be an integer of 64 bits, or None."""
    if value is None:
        return None
    with named(name, "an integer or None", value):
        number = operator.index(value)
    check(-2**63 <= number < 2**63, name, "an integer of 64 bits", value)
    return value


def number(name, value):
    """The value, which must be a number of Python or NumPy."""
    check(isinstance(value, numbers.Real), name, "a number", value)
    return value


def text(name, value):
    """The value, which must be a string."""
    check(isinstance(value, str), name, "a string", value)
    return value


def function(name, value):
    """The value, which must be a function."""
    check(callable(value), name, "a function", value)
    return value


@contextlib.contextmanager
def named(name, wanted, value):
    """Gives errors of Python about the type of a value, which say nothing of the argument, the message of `must_be`."""
    try:
        yield
    except (TypeError, ValueError, AttributeError) as error:
        raise (TypeError if isinstance(error, AttributeError) else type(error))(must_be(name, wanted, value)) from None


def _holding(frame, value, native):
    """The name of the argument that is the value or, if there is none, a list with the value."""
    code = frame.f_code
    has_list = bool(code.co_flags & inspect.CO_VARARGS)
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount + has_list]
    values = {name: frame.f_locals[name] for name in names if name in frame.f_locals and name not in ("self", "cls")}
    if value is None:
        values = {name: found for name, found in values.items() if name not in _none_by_default(frame)}
    for found in ([name for name, held in values.items() if held is value],
                  [name for name, held in values.items() if isinstance(held, (list, tuple, dict)) and any(
                      part is value for part in (held.values() if isinstance(held, dict) else held))]):
        if found:
            return native if native in found else found[0] if len(found) == 1 else None
    return None


def _none_by_default(frame):
    """The arguments of a frame's function that are None unless the program gives them."""
    parts = frame.f_code.co_qualname.rpartition("<locals>.")[2].split(".")
    called = frame.f_globals.get(parts[0])
    for part in parts[1:]:
        called = getattr(called, part, None)
    try:
        parameters = inspect.signature(called).parameters.values()
    except (TypeError, ValueError):
        return ()
    return [parameter.name for parameter in parameters if parameter.default is None]


def in_python(message):
    """A message of the library in which names of C++ are those of Python."""
    for name, ours in _NAMES_OF_CPP:
        message = message.replace(name, ours)
    return re.sub(r"\b(Dataset|Iterator)::([A-Z]\w*)",
                  lambda found: f"{found[1]}.{re.sub('(?<=[a-z])(?=[A-Z])', '_', found[2]).lower()}", message)


def wrong_type(text):
    """Our message in place of nanobind's `text`.

    That text is "f(): incompatible function arguments ... 1. f(a: int, /) -> ... Invoked with types: str".
    """
    frames = _frames(sys._getframe(1))
    given = text.rpartition("Invoked with types: ")[2]
    for name, annotation, kind in _pairs(text, given):
        wanted = annotation.removesuffix(" | None")
        if wanted in ("object", "Handle") and kind == "NoneType":
            return _missing(frames, text)
        if wanted not in _WANTED or kind in _WANTED[wanted][0] or (kind == "NoneType" and wanted != annotation):
            continue
        kind = kind.rpartition(".")[2]
        function, argument, value = _argument(frames, name, kind, wanted)
        subject = f"the argument {argument!r}" if argument else "an argument"
        value = text_of(value) if argument else f"an object of type {kind!r}"
        return f"{function or _function(frames, text)}: {subject} must be {_WANTED[wanted][1]}, but got {value}"
    kinds = re.sub(r"[\w.]*\.(\w+)", r"\1", given.strip())
    return f"{_function(frames, text)}: an argument has a wrong type; the types are {kinds or 'none'}"


def _missing(frames, text):
    """The message if a value is None, which is none of the values that C++ takes."""
    for frame in reversed(frames):
        name = _holding(frame, None, None)
        if name:
            return f"{_name_of(frame)}: the argument {name!r} must not be None"
    return f"{_function(frames, text)}: an argument must not be None"


def not_converted():
    """The message for std::bad_cast: C++ could not convert a value, and does not say which one."""
    return (f"{_function(_frames(sys._getframe(1)), '')}: an argument has an unexpected type, or is a string with "
            "surrogates, which UTF-8 cannot encode")


def _frames(frame):
    """The frames of the package from the call of C++ outwards. The last one is the function that the program called."""
    found = []
    while frame is not None and frame.f_code.co_filename.startswith(_PASSED):
        if frame.f_code.co_filename not in (contextlib.__file__, __file__):
            found.append(frame)
        frame = frame.f_back
    return found


def _function(frames, text):
    """The name of the outermost public function of the package that the program called, or else of the C++ function."""
    for frame in reversed(frames):
        if _is_public(frame):
            return _name_of(frame)
    return text.partition("(")[0] or (_name_of(frames[-1]).lstrip("_") if frames else "this call")


def _name_of(frame):
    """The name of a frame's function, or of the class if the function is a constructor."""
    name = frame.f_code.co_qualname.rpartition("<locals>.")[2]
    return name.removesuffix(".__init__").removesuffix(".__new__")


def _is_public(frame):
    return not _name_of(frame).startswith(("_", "<"))


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


def text_of(value):
    """The value as it is shown in messages: its text, which is cut if it is long."""
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}... ({type(value).__name__})"
