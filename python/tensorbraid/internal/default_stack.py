"""The default graphs and the default sessions of a thread."""

import contextlib
import threading

__all__ = []


class DefaultStack(threading.local):
    """The objects that the calling thread has made its default by `with x.as_default()`, innermost last."""

    def __init__(self):
        self.items = []

    @property
    def innermost(self):
        """The default object; None if the thread has none."""
        return self.items[-1] if self.items else None

    @contextlib.contextmanager
    def as_default(self, item):
        """A context manager that makes the object the thread's default."""
        self.items.append(item)
        try:
            yield item
        finally:
            del self.items[len(self.items) - 1 - self.items[::-1].index(item)]  # the innermost, not the outermost
