"""fit, evaluate and predict as in tf.keras: with datasets of tf.data, and models that learn their inputs' shapes."""

import numpy as np
import tensorbraid as tf
from tensorbraid import nest
from tensorbraid.keras import added_methods, sample_losses
from tensorbraid.keras.adapter import datasets
from tensorbraid.keras.adapter.loaded import loaded, replace

__all__ = []


class _Methods:
    """Methods of tf.keras.Model for training."""

    def compile(self, optimizer="rmsprop", loss=None, metrics=None, loss_weights=None, sample_weight_mode=None,
                weighted_metrics=None, target_tensors=None, distribute=None, **kwargs):
        """Sets what `fit` does."""
        if distribute is not None:
            raise NotImplementedError("distribute of compile(): there are no distribution strategies; "
                                      "tf.train.replica_device_setter distributes a training")
        added_methods.check_eager(kwargs.pop("run_eagerly", None), "of compile()")
        kwargs.pop("experimental_run_tf_function", None)
        if not self.inputs:
            self._has_variables, self.built = self.built, False  # `fit` learns the inputs, and compiles
        self._library_compile(optimizer, loss, metrics, loss_weights, sample_weight_mode, weighted_metrics,
                              target_tensors, **kwargs)

    def fit(self, x=None, y=None, batch_size=None, epochs=1, verbose=1, callbacks=None, validation_split=0.0,
            validation_data=None, shuffle=True, class_weight=None, sample_weight=None, initial_epoch=0,
            steps_per_epoch=None, validation_steps=None, validation_freq=1, **kwargs):
        """Trains the model, with arrays, a dataset of tf.data, or a generator."""
        common = {"epochs": epochs, "verbose": verbose, "callbacks": callbacks, "class_weight": class_weight,
                  "initial_epoch": initial_epoch, "validation_freq": validation_freq, **kwargs}
        if not datasets.is_dataset(x):
            if datasets.is_dataset(validation_data):
                validation_data, validation_steps = datasets.arrays(validation_data, validation_steps), None
            return self._library_fit(x, y, batch_size, validation_split=validation_split, shuffle=shuffle,
                                     validation_data=validation_data, validation_steps=validation_steps,
                                     sample_weight=sample_weight, steps_per_epoch=steps_per_epoch, **common)
        datasets.check_alone(y=y, batch_size=batch_size, sample_weight=sample_weight, validation_split=validation_split)
        self._take_shapes_of(x)
        batches, steps = datasets.batches(x, steps_per_epoch, "steps_per_epoch")
        if datasets.is_dataset(validation_data):
            validation_data, validation_steps = datasets.batches(validation_data, validation_steps, "validation_steps")
        common.update(workers=0, use_multiprocessing=False)
        return self.fit_generator(batches, steps, validation_data=validation_data, validation_steps=validation_steps,
                                  **common)

    def evaluate(self, x=None, y=None, batch_size=None, verbose=1, sample_weight=None, steps=None, callbacks=None,
                 **kwargs):
        """The loss and the metrics."""
        if not datasets.is_dataset(x):
            return self._library_evaluate(x, y, batch_size, verbose, sample_weight, steps, callbacks, **kwargs)
        datasets.check_alone(y=y, batch_size=batch_size, sample_weight=sample_weight)
        self._take_shapes_of(x)
        batches, steps = datasets.batches(x, steps, "steps")
        return self.evaluate_generator(batches, steps, callbacks, workers=0, verbose=verbose)

    def predict(self, x, batch_size=None, verbose=0, steps=None, callbacks=None, **kwargs):
        """The outputs of the model."""
        if not datasets.is_dataset(x):
            return self._library_predict(x, batch_size, verbose, steps, callbacks, **kwargs)
        datasets.check_alone(batch_size=batch_size)
        self._take_shapes_of(x)
        batches, steps = datasets.batches(x, steps, "steps")
        return self.predict_generator(batches, steps, callbacks, workers=0, verbose=verbose)

    def evaluate_generator(self, *args, **kwargs):
        """The loss and the metrics. The loss is the mean of all batches. The library returns the last batch's."""
        losses, sizes, test_on_batch = [], [], self.test_on_batch

        def note(x, *rest, **kwargs):
            results = test_on_batch(x, *rest, **kwargs)
            losses.append(nest.flatten(results)[0])
            sizes.append(len(nest.flatten(x)[0]))
            return results

        self.__dict__["test_on_batch"] = note
        try:
            results = self._library_evaluate_generator(*args, **kwargs)
        finally:
            del self.__dict__["test_on_batch"]
        loss = float(np.average(losses, weights=sizes))
        return [loss, *results[1:]] if isinstance(results, list) else loss

    def _take_shapes_of(self, dataset):
        """Gives a model without inputs those of the dataset's elements."""
        if not self.inputs:
            element = datasets.zeros(dataset)
            parts = element if isinstance(element, tuple) else (element,)
            self._standardize_user_data(*[list(part) if isinstance(part, tuple) else part for part in parts[:2]])

    def _standardize_user_data(self, x, *args, **kwargs):
        if not self.inputs:  # a call with other tensors has built the variables, but has left no placeholders
            x = nest.map_structure(lambda value: np.asarray(value) if isinstance(value, (float, int)) else value, x)
            self._has_variables, self.built = self.built, False  # so the library calls _set_inputs, and compiles
            if isinstance(x, dict):
                self._set_inputs(x)  # the library takes no dictionary
        return self._library_standardize_user_data(x, *args, **kwargs)

    def _set_inputs(self, inputs, outputs=None, training=None):
        """Makes placeholders for arrays of these shapes, and calls the model with them."""
        self.built = self.__dict__.get("_has_variables", False)
        if isinstance(self, loaded("engine.sequential").Sequential) and not isinstance(inputs, dict):
            self.build(input_shape=(None, *nest.flatten(inputs)[0].shape[1:]))
            return
        is_dict = isinstance(inputs, dict)
        names = sorted(inputs) if is_dict else [f"input_{index + 1}" for index in range(len(nest.flatten(inputs)))]
        made = {name: value if isinstance(value, tf.Tensor) else _placeholder(value, name)
                for name, value in zip(names, nest.flatten(inputs))}
        if outputs is None:
            tensors = list(made.values())
            outputs = self(made if is_dict else tensors if len(tensors) > 1 else tensors[0])
        self.inputs, self.input_names = list(made.values()), list(made)
        fed = {name: tensor for name, tensor in made.items() if tensor.op.type == "Placeholder"}
        self._feed_inputs, self._feed_input_names = list(fed.values()), list(fed)
        self._feed_input_shapes = [tuple(tensor.shape.as_list()) for tensor in fed.values()]
        self.outputs = nest.flatten(outputs)
        self.output_names = [f"output_{index}" for index in range(1, len(self.outputs) + 1)]
        self.built = True


def _placeholder(value, name):
    """A placeholder for arrays like this one, with any number of samples."""
    array = np.asarray(value)
    dtype = loaded("backend").floatx() if array.dtype.kind == "f" else tf.as_dtype(
        "string" if array.dtype.kind in "OSU" else array.dtype)
    return tf.placeholder(dtype, (None, *(array.shape[1:] or (1,))), name=name)


def _metric_name(metric, weighted=False):
    """The name of a metric in the logs: "acc" for "accuracy"."""
    prefix = "weighted_" if weighted else ""
    if metric in ("accuracy", "acc"):
        return prefix + "acc"
    if metric in ("crossentropy", "ce"):
        return prefix + "ce"
    metric = loaded("metrics").get(metric)
    return prefix + (metric.name if hasattr(metric, "name") else metric.__name__)


def change_utils(training_utils):
    """Changes the library's module engine.training_utils."""
    training_utils.get_metric_name = _metric_name


def change(training):
    """Changes the library's module engine.training."""
    model = training.Model
    for name in ("compile", "fit", "evaluate", "predict", "evaluate_generator", "_standardize_user_data"):
        setattr(model, f"_library_{name.removeprefix('_')}", getattr(model, name))
    replace(model, _Methods)
    replace(model, added_methods.OfModels)
    sample_losses.change(model)
