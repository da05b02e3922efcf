"""Names of functions that are made by other functions."""

__all__ = []


def named(function, name, doc=None):
    """The function, after it got the name and the docstring that help() and tracebacks show."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function
