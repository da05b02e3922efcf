"""What models are trained with: arrays, datasets, generators, and targets."""

import functools
import math

import numpy as np
from tensorbraid import nest
from tensorbraid.keras.adapter import datasets
from tensorbraid.keras.adapter.loaded import loaded
from tensorbraid.keras.checks import explained, graphs

__all__ = []

_METHODS = ("compile", "fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch",
            "fit_generator", "evaluate_generator", "predict_generator", "get_weights", "set_weights", "save_weights",
            "load_weights", "save")
_WITH_DATA = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")
_WITH_TARGETS = ("fit", "evaluate", "train_on_batch", "test_on_batch")


def _check_targets(model, method, x, y):
    """Refuses a training without targets, if a loss needs some."""
    if not getattr(model, "_feed_targets", None) or y is not None or x is None:
        return
    if loaded("engine.training_utils").is_generator_or_sequence(x):
        return
    names = ", ".join(f"{name} (its loss is {_name(loss)})" for name, loss in
                      zip(model._feed_output_names, model._feed_loss_fns))
    raise explained.error(f"{method}() of the model {model.name} has got no targets: y is None, and the model compares "
                          f"its output {names} with them. Pass y, an array for each output; a loss that needs no "
                          "targets is added by model.add_loss(), and compile() gets loss=None")


def _name(loss):
    return getattr(loss, "name", None) or getattr(loss, "__name__", type(loss).__name__)


def _check_samples(model, method, x):
    for value in nest.flatten(x):
        if isinstance(value, np.ndarray) and value.shape[:1] == (0,):
            raise explained.error(f"{method}() of the model {model.name} has got no samples: an array has the shape "
                                  f"{value.shape}")


def _check_elements(model, method, dataset):
    """Compares the elements of a dataset with the inputs and outputs of the model."""
    shapes = dataset.output_shapes
    parts = shapes if isinstance(shapes, tuple) else (shapes,)
    what = f"{method}() of the model {model.name}: the elements of the dataset"
    if len(parts) > 3 or len(parts) < 2 and method in _WITH_TARGETS and getattr(model, "_feed_targets", True):
        wanted = "the inputs, or a tuple that begins with them" if method == "predict" else \
            "(inputs, targets) or (inputs, targets, weights)"
        raise explained.error(f"{what} must be {wanted}; they have {len(parts)} part{'s' * (len(parts) > 1)} with the "
                              f"shapes {shapes}. Several inputs are a tuple of their own")
    for tensor, shape in zip(model.inputs or [], nest.flatten(parts[0])):
        if None in (tensor.shape.ndims, shape.ndims):
            continue
        of_one = tensor.shape[1:]
        is_column = of_one.as_list() == [1]  # one number for each sample, whose batches may have one dimension
        if shape.ndims == of_one.ndims and shape.is_compatible_with(of_one) and not is_column:
            raise explained.error(f"{what} must be batches: the input {tensor.name} has the shape {tensor.shape}, and "
                                  f"an element {shape}; dataset.batch(32) makes batches")


def _check_arrays(model, names, arrays, tensors):
    """Refuses values that are no numbers."""
    for name, array, tensor in zip(names, arrays, tensors):
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "USO" or not tensor.dtype.is_floating:
            continue
        try:
            array.astype(tensor.dtype.as_numpy_dtype)
        except (ValueError, TypeError):
            word = next((value for value in array.flat if isinstance(value, str)), array.flat[0])
            raise explained.error(f"the array for {name} of the model {model.name} has the dtype {array.dtype} and "
                                  f"values such as {word}; {tensor.dtype.name} is wanted. Words become numbers by a "
                                  "vocabulary, such as tf.keras.preprocessing.text.Tokenizer") from None


def _hint(model, x, y, error):
    """What helps with arrays that have other shapes than the model wants."""
    text = str(error)
    if "is not the size the model expected" in text and isinstance(x, (list, tuple)) and len(model.inputs) == 1:
        return "; a list has an array for each input of the model, and one array of all samples is np.array(x)"
    arrays = [np.asarray(value) for value in nest.flatten(x) if isinstance(value, np.ndarray)]
    if "checking input" in text and len(arrays) == len(model.inputs) == 1 and arrays[0].ndim:
        wanted = model.inputs[0].shape.as_list()[1:]
        if None not in wanted and math.prod(wanted) == math.prod(arrays[0].shape[1:]):
            return f"; x.reshape({', '.join(map(str, [-1, *wanted]))}) has that shape"
        return "; the first dimension of an array counts the samples"
    if "checking target" in text and any(map(loaded("losses").is_categorical_crossentropy, model.loss_functions)):
        return ("; if the targets are numbers of classes, the loss sparse_categorical_crossentropy takes them, or "
                "tf.keras.utils.to_categorical(y) makes rows of them")
    return ""


def _checked_data(standardize):
    @functools.wraps(standardize)
    def checked(self, x, y=None, *args, **kwargs):
        for what, data in (("x", x), ("y", y)):
            for value in nest.flatten(data):
                if explained.is_eager(value):
                    raise explained.error(explained.about_eager(f"{what} of the model {self.name}", value))
        try:
            found = standardize(self, x, y, *args, **kwargs)
        except ValueError as error:
            hint = "" if explained.is_explained(error) or not self.inputs else _hint(self, x, y, error)
            if not hint:
                raise
            raise explained.error(f"{error}{hint}") from error
        _check_arrays(self, self._feed_input_names, found[0], self._feed_inputs)
        return found

    return checked


def _checked(method, function):
    """The method of a model with these checks."""
    takes_data = method in _WITH_DATA

    @functools.wraps(function)
    def checked(self, *args, **kwargs):
        x = (args[0] if args else kwargs.get("x")) if takes_data else None
        y = (args[1] if len(args) > 1 else kwargs.get("y")) if takes_data else None
        if datasets.is_dataset(x):
            _check_elements(self, method, x)
        elif method in _WITH_TARGETS:
            _check_targets(self, method, x, y)
            _check_samples(self, method, x)
        try:
            return function(self, *args, **kwargs)
        except StopIteration:
            raise explained.error(f"{method}() of the model {self.name}: the generator has ended before all steps were "
                                  "made; it must go on for ever, or the steps of all epochs must be fewer") from None
        except explained.KINDS as error:
            text = None if explained.is_explained(error) else graphs.about_model(self, method, x)
            if text is None:
                raise
            raise explained.error(text) from error

    return checked


def change(training):
    """Checks the methods of the library's class engine.training.Model."""
    kind = training.Model
    for method in _METHODS:
        setattr(kind, method, _checked(method, getattr(kind, method)))
    kind._standardize_user_data = _checked_data(kind._standardize_user_data)
