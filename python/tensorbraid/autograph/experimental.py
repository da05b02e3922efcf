"""tf.autograph.experimental: the decorator that leaves a function as it is."""

__all__ = ["do_not_convert"]


def do_not_convert(func=None):
    """The function itself, which runs as Python runs it; without a function, a decorator that returns it."""
    return do_not_convert if func is None else func
