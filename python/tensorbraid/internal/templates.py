"""Functions that make their variables at the first call, and share them afterwards."""

import functools

from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.variable_scope import variable_scope

__all__ = ["make_template"]


class Template:
    """A function whose variables are made in a scope of their own at the first call."""

    def __init__(self, name, func, create_scope_now=False, unique_name=None, custom_getter=None):
        self._name, self._func, self._unique_name, self._getter = name, func, unique_name, custom_getter
        self._scope, self._made = None, None
        if create_scope_now:
            with self._open_new() as scope:
                self._scope = scope

    def _open_new(self):
        if self._unique_name is not None:
            return variable_scope(self._unique_name, custom_getter=self._getter)
        return variable_scope(None, default_name=self._name, custom_getter=self._getter)

    def __call__(self, *args, **kwargs):
        before = self._count()
        if self._scope is None:
            with self._open_new() as scope:
                self._scope = scope
                result = self._func(*args, **kwargs)
        else:
            with variable_scope(self._scope, reuse=True if self._made else None):
                result = self._func(*args, **kwargs)
        if self._made and self._count() != before:
            raise ValueError(f"the function of the template {self._name!r} made a trainable variable after its first "
                             "call; it must make its variables with tf.get_variable")
        self._made = True
        return result

    @staticmethod
    def _count():
        return len(graphs.trainable_variables())

    name = property(lambda self: self._name)
    func = property(lambda self: self._func)

    @property
    def variable_scope(self):
        """The scope of the variables; None before the first call."""
        return self._scope

    @property
    def variable_scope_name(self):
        return None if self._scope is None else self._scope.name

    def _of(self, key):
        if self._scope is None:
            return []
        return [v for v in graphs.get_collection(key) if v.op.name.startswith(self._scope.name + "/")]

    variables = property(lambda self: self.global_variables + self.local_variables)
    global_variables = property(lambda self: self._of(GraphKeys.GLOBAL_VARIABLES))
    local_variables = property(lambda self: self._of(GraphKeys.LOCAL_VARIABLES))
    trainable_variables = property(lambda self: self._of(GraphKeys.TRAINABLE_VARIABLES))
    trainable_weights = trainable_variables
    weights = variables


def make_template(name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None, **kwargs):
    """The function with some arguments given; every call shares the variables that the first one makes."""
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_)
