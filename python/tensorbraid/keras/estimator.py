"""tf.keras.estimator: a model of Keras as a tf.estimator.Estimator."""

import copy

import tensorbraid as tf
from tensorbraid.keras import library
from tensorbraid.keras.checks import explained

__all__ = ["model_to_estimator"]


def model_to_estimator(keras_model=None, keras_model_path=None, custom_objects=None, model_dir=None, config=None,
                       checkpoint_format="saver"):
    """An estimator that trains, evaluates and exports a copy of a compiled model, which begins with its weights.

    `keras_model_path` is a file that the model was saved in. Features are a tensor, a list, or a dictionary with the
    names of the model's inputs.
    """
    if (keras_model is None) == (keras_model_path is None):
        raise ValueError("Please specify one of `keras_model` and `keras_model_path`.")
    if checkpoint_format not in ("saver", None):
        raise NotImplementedError(f"checkpoint_format={checkpoint_format!r} of model_to_estimator; "
                                  "an estimator writes the checkpoints of a tf.train.Saver")
    if keras_model is None:
        keras_model = library.module("models").load_model(keras_model_path, custom_objects)
    if not isinstance(keras_model, library.module("engine.training").Model):
        raise TypeError(f"keras_model must be a tf.keras.Model, but got {keras_model!r}{explained.origin(keras_model)}")
    if not keras_model.optimizer:
        raise ValueError("The given keras model has not been compiled yet. Please compile the model with "
                         "`model.compile()` before calling `model_to_estimator()`.")
    if not keras_model._is_graph_network:
        raise NotImplementedError("model_to_estimator of a subclass of Model, which has no configuration; call the "
                                  "model in a model_fn of your own")
    return tf.estimator.Estimator(_model_fn(keras_model, custom_objects), model_dir=model_dir, config=config)


def _model_fn(model, custom_objects):
    kind, structure, weights = type(model), model.get_config(), model.get_weights()
    make_optimizer = _optimizer_maker(model.optimizer)
    compiled = {"loss": model.loss, "metrics": model._compile_metrics, "loss_weights": model.loss_weights,
                "sample_weight_mode": model.sample_weight_mode, "weighted_metrics": model._compile_weighted_metrics}

    def model_fn(features, labels, mode):
        backend, is_training = library.module("backend"), mode == tf.estimator.ModeKeys.TRAIN
        backend.set_learning_phase(int(is_training))
        copied = kind.from_config(structure, custom_objects)
        inputs = [tf.keras.Input(tensor=tensor) for tensor in _in_order(features, copied.input_names, "features")]
        outputs = copied(inputs if len(inputs) > 1 else inputs[0])
        outputs = outputs if isinstance(outputs, list) else [outputs]
        predictions = dict(zip(copied.output_names, outputs))
        scaffold = tf.train.Scaffold(init_fn=lambda scaffold, session: _set(session, copied.weights, weights))
        if mode == tf.estimator.ModeKeys.PREDICT:
            exports = {"serving_default": tf.estimator.export.PredictOutput(predictions)}
            return tf.estimator.EstimatorSpec(mode, predictions, export_outputs=exports, scaffold=scaffold)
        trained = tf.keras.Model(inputs, outputs)
        trained.output_names = list(copied.output_names)
        targets = [_as_column(target, output) for target, output
                   in zip(_in_order(labels, copied.output_names, "labels"), outputs)]
        trained.compile(make_optimizer(), target_tensors=targets, **compiled)
        metrics = {}
        for metric in trained.metrics:
            metrics[metric.name] = metric.result(), tf.group(*metric.updates)
        train_op = _train_op(trained) if is_training else None
        loss = trained.total_loss  # perhaps of each sample
        loss = loss if loss.shape.ndims == 0 else tf.reduce_mean(loss)
        return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op, metrics, scaffold=scaffold)

    return model_fn


def _optimizer_maker(optimizer):
    """A function that makes the optimizer again, in another graph."""
    if hasattr(optimizer, "optimizer"):  # one of tf.train
        return lambda: copy.copy(optimizer.optimizer)
    kind, config = type(optimizer), optimizer.get_config()
    return lambda: kind.from_config(config)


def _in_order(values, names, what):
    """The tensors of the model's inputs or outputs."""
    if isinstance(values, dict):
        missing = [name for name in names if name not in values]
        if missing:
            raise ValueError(f"The {what} lack {', '.join(missing)}; they have {', '.join(sorted(values))}")
        return [values[name] for name in names]
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    if len(values) != len(names):
        raise ValueError(f"The model has {len(names)} tensors {', '.join(names)}, but {len(values)} {what} were given")
    return values


def _as_column(target, output):
    """A target with as many dimensions as the output: numbers of classes are a column."""
    return tf.expand_dims(target, -1) if target.shape.ndims == output.shape.ndims - 1 else target


def _train_op(model):
    """An operation that trains the model by one step, and counts it."""
    with tf.name_scope("training"), tf.name_scope(type(model.optimizer).__name__):
        updates = model.optimizer.get_updates(params=model._collected_trainable_weights, loss=model.total_loss)
    updates = updates + list(model.updates) + [update for metric in model.metrics for update in metric.updates]
    with tf.control_dependencies([update for update in updates if update is not None]):
        return tf.assign_add(tf.train.get_or_create_global_step(), 1).op


def _set(session, variables, values):
    for variable, value in zip(variables, values):
        variable.load(value, session)
