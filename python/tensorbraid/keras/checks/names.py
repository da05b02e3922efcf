"""Names that the library does not know: those of classes and functions, and of arguments."""

import functools
import inspect

from tensorbraid.keras.adapter import optimizer
from tensorbraid.keras.adapter.loaded import PREFIX
from tensorbraid.keras.checks import explained

__all__ = []

_NO_OBJECTS = frozenset("get serialize deserialize serialize_keras_object deserialize_keras_object Layer Loss Metric "
                        "Initializer Regularizer Constraint is_categorical_crossentropy".split())
_OF_LAYERS = ("input_shape", "batch_input_shape", "batch_size", "dtype", "name", "trainable", "weights", "input_dtype",
              "activity_regularizer")


def _known(kind, objects):
    """The names among which the library looks for an object of this kind."""
    return [name for name, value in objects.items()
            if callable(value) and not name.startswith("_") and name not in _NO_OBJECTS
            and (kind != "layer" or isinstance(value, type))
            and getattr(value, "__module__", "").startswith((PREFIX, "tensorbraid.keras"))]


def _unknown(kind, name, objects):
    known = _known(kind, objects)
    near = explained.nearest(name, known)
    spelled = sorted(other for other in known if other[:1].islower() == name[:1].islower())
    names = f"; the names are {', '.join(spelled)}." if 0 < len(spelled) < 40 else "."
    hint = f"; did you mean {near}?" if near else names
    what = {"optimizer": "class", "layer": "class"}.get(kind, "function or class")
    return (f"Unknown {kind}: {name}{hint} A {what} of the program's own is found by its name if "
            f"custom_objects={{{name!r}: ...}} of load_model, model_from_json or tf.keras.utils.custom_object_scope "
            "has it")


def change(generic_utils):
    """Checks the library's module utils.generic_utils."""
    deserialize = generic_utils.deserialize_keras_object

    @functools.wraps(deserialize)
    def checked(identifier, module_objects=None, custom_objects=None, printable_module_name="object"):
        name = identifier.get("class_name") if isinstance(identifier, dict) else identifier
        if isinstance(name, str):
            places = (custom_objects or {}, generic_utils._GLOBAL_CUSTOM_OBJECTS, module_objects or {})
            if all(place.get(name) is None for place in places):
                raise explained.error(_unknown(printable_module_name, name, module_objects or {}))
        return deserialize(identifier, module_objects, custom_objects, printable_module_name)

    generic_utils.deserialize_keras_object = checked


def _arguments(kind):
    """The names of the arguments of a class's constructor."""
    return [parameter.name for parameter in [*inspect.signature(kind.__init__).parameters.values()][1:]
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)]


def _no_argument(what, name, known):
    near = explained.nearest(name, known)
    hint = f"; did you mean {near}?" if near else f"; it has {', '.join(known)}"
    return explained.error(f"{what} has no argument {name!r}{hint}", TypeError)


def change_layer(base_layer):
    """Checks the constructor of the library's class engine.base_layer.Layer."""
    init = base_layer.Layer._library_init

    @functools.wraps(init)
    def checked(self, **kwargs):
        try:
            init(self, **kwargs)
        except TypeError as error:
            if len(error.args) != 2 or error.args[1] not in kwargs:
                raise
            kind = type(self)
            raise _no_argument(f"the layer {kind.__name__}", error.args[1],
                               sorted({*_arguments(kind), *_OF_LAYERS})) from None

    base_layer.Layer._library_init = checked


def change_optimizers(optimizers):
    """Checks the constructors of the library's optimizers."""
    init = optimizers.Optimizer.__init__

    @functools.wraps(init)
    def checked(self, name=None, **kwargs):
        try:
            init(self, name, **kwargs)
        except TypeError:
            known = [*optimizer.arguments(type(self).__name__), "clipnorm", "clipvalue", "decay", "name"]
            wrong = next((name for name in kwargs if name not in known), None)
            if wrong is None:
                raise
            raise _no_argument(f"the optimizer {type(self).__name__}", wrong, known) from None

    optimizers.Optimizer.__init__ = checked
    optimizers.get = _checked_get(optimizers.get, "optimizer",
                                  "a name, an optimizer of tf.keras.optimizers, or one of tf.train")


def change_losses(losses):
    """Checks the library's function losses.get."""
    losses.get = _checked_get(losses.get, "loss",
                              "a name, a function of targets and outputs, or a tf.keras.losses.Loss")


def change_metrics(metrics):
    """Checks the library's function metrics.get."""
    metrics.get = _checked_get(metrics.get, "metric",
                               "a name, a function of targets and outputs, or a tf.keras.metrics.Metric")


def _checked_get(get, kind, wanted):
    """The function `get` of a module, which says what it wants."""
    @functools.wraps(get)
    def checked(identifier):
        try:
            return get(identifier)
        except ValueError as error:
            if explained.is_explained(error):
                raise
            raise explained.error(f"the {kind} is {identifier!r}{explained.origin(identifier)}; it must be {wanted}") \
                from None

    return checked
