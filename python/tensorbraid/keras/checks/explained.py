"""Errors that say more than the one that they are raised for."""

import difflib

import tensorbraid as tf

__all__ = []

# What the library, NumPy and the graph raise for bad input.
KINDS = (ValueError, TypeError, AttributeError, IndexError, KeyError, tf.errors.OpError)


def error(text, kind=ValueError):
    """An error that needs no further explanation."""
    made = kind(text)
    made._is_explained = True
    return made


def is_explained(found):
    """Whether an inner call has explained the error."""
    return getattr(found, "_is_explained", False)


def nearest(name, names):
    """The names that are spelled most like this one, as words of a message; "" if there are none."""
    def plain(text):
        return text.lower().replace("_", "").removesuffix("optimizer")

    spelled = {}
    for known in sorted(names, key=lambda known: (known[:1].islower() != name[:1].islower(), known)):
        spelled.setdefault(plain(known), known)
    if plain(name) in spelled:
        return repr(spelled[plain(name)])
    return " or ".join(repr(spelled[text]) for text in difflib.get_close_matches(plain(name), spelled, n=2, cutoff=0.7))


def origin(value):
    """Where a value comes from that this package cannot use, as words in parentheses; "" for others."""
    kind = value if isinstance(value, type) else type(value)
    module = kind.__module__ or ""
    root = module.partition(".")[0]
    if root in ("tensorflow", "tf_keras") or module.startswith("keras.src"):
        return f" (a {kind.__name__} of TensorFlow 2 or its Keras, which this package cannot use)"
    if root == "keras":
        return (f" (a {kind.__name__} of the library that `import keras` finds; tf.keras has its own, and a model is made "
                "of one of the two)")
    return ""


def is_eager(value):
    """Whether the value is a tensor of eager execution."""
    return hasattr(value, "numpy") and type(value).__module__.partition(".")[0] in ("tensorflow", "keras", "tf_keras")


def about_eager(what, value):
    """The text for a tensor of eager execution."""
    return (f"{what} is of the type {type(value).__name__}, a tensor of eager execution (TensorFlow 2); this package "
            "takes arrays, and tensors of its own graphs: pass its array, x.numpy()")
