"""The cases of the differential tests: small functions that the module `tf` of TensorFlow and of Tensorbraid both run.

A case file calls `case` and `op` at import. A case returns tensors, values or structures of them, or raises an error.
"""

import dataclasses

import numpy as np

CASES = []


@dataclasses.dataclass
class Case:
    """`function` takes `tf`. `covers` has the dotted names that it calls with arguments that are not their defaults."""

    label: str
    function: object
    covers: list
    known: str = ""  # the reason, if the results are known to differ
    names: bool = True  # whether the names of the resulting tensors are compared
    shapes: str = ""  # the reason, if less is known of the static shapes than TensorFlow knows
    values: bool = True  # whether the values are compared; random ops without a seed have none to compare
    file: str = ""  # the name of the case's file, without ".py"


@dataclasses.dataclass
class Result:
    """What a case returns if it needs more than its outputs."""

    outputs: object
    feed: dict = dataclasses.field(default_factory=dict)
    wrt: list = dataclasses.field(default_factory=list)  # tensors by which the sum of the outputs is differentiated
    steps: int = 1  # steps that the session runs; the values of all of them are compared
    after: object = None  # further outputs, which are fetched once, after these steps


def case(covers, function, /, label="", **options):
    """Adds a case that covers some names, which are separated by spaces."""
    covers = covers.split()
    number = sum(case.covers[0] == covers[0] for case in CASES) + 1
    CASES.append(Case(label or f"{covers[0]} #{number}", function, covers, **options))


def lookup(tf, name):
    """The object of a dotted name such as "math.add"."""
    found = tf
    for part in name.split("."):
        found = getattr(found, part)
    return found


def each(names, function, /, **options):
    """Adds for each of the names a case that calls `function(tf, f)`, where f is what has that name."""
    for name in names.split():
        case(name, lambda tf, name=name: function(tf, lookup(tf, name)), **options)


def op(names, *args, _options=None, **kwargs):
    """Adds for each of the names a case that calls it with these arguments.

    NumPy arrays become constants, by which the outputs are differentiated if they are floats. A `Type` becomes the
    dtype of its name.
    """

    def run(tf, f):
        wrt = []

        def value(argument):
            if isinstance(argument, np.ndarray):
                tensor = tf.constant(argument)
                if argument.dtype.kind in "fc":
                    wrt.append(tensor)
                return tensor
            if isinstance(argument, Type):
                return getattr(tf, argument.name)
            if isinstance(argument, (list, tuple)) and any(isinstance(a, (np.ndarray, Type)) for a in argument):
                return type(argument)(value(a) for a in argument)
            return argument

        outputs = f(*[value(a) for a in args], **{key: value(a) for key, a in kwargs.items()})
        return Result(outputs, wrt=wrt)

    each(names, run, **(_options or {}))


@dataclasses.dataclass
class Type:
    """A dtype by its name, which each module has as an attribute."""

    name: str


def floats(*shape, seed=0, low=-2.0, high=2.0, dtype=np.float32):
    """Fixed numbers from [low, high)."""
    return np.random.RandomState(seed).uniform(low, high, shape).astype(dtype)


def ints(*shape, seed=0, low=-5, high=6, dtype=np.int32):
    """Fixed integers from [low, high)."""
    return np.random.RandomState(seed).randint(low, high, shape).astype(dtype)


def read():
    """All cases, from the files beside this one."""
    import importlib
    import os

    for file in sorted(os.listdir(os.path.dirname(os.path.abspath(__file__)))):
        if file.startswith("cases_") and file.endswith(".py"):
            first = len(CASES)
            importlib.import_module(file[:-3])
            for case in CASES[first:]:
                case.file = file[:-3]
    return CASES
