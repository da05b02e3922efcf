"""Linear models, networks and their sums under their names and arguments of tf.contrib.learn."""

from tensorbraid import estimator as core, nn
from tensorbraid.contrib.learn.estimators.estimator import BaseEstimator, NamedFeatures
from tensorbraid.contrib.learn.run_config import RunConfig
from tensorbraid.estimator.canned.linear import linear_learning_rate
from tensorbraid.estimator.canned.optimizers import optimizer_of
from tensorbraid.losses import Reduction

__all__ = ["DNNClassifier", "DNNLinearCombinedClassifier", "DNNLinearCombinedRegressor", "DNNRegressor",
           "LinearClassifier", "LinearRegressor"]

_MEAN = {"loss_reduction": Reduction.SUM_OVER_BATCH_SIZE}  # contrib's losses are means, those of tf.estimator sums
_DNN_LEARNING_RATE, _LINEAR_LEARNING_RATE = 0.05, 0.2  # of optimizers that are not given


def _class(base):
    return type(base.__name__, (NamedFeatures, base), {})


def _optimizer(optimizer, name, rate):
    """The optimizer, or a function that makes the default one."""
    return optimizer or (lambda: optimizer_of(name, rate))


def _linear_optimizer(optimizer, columns):
    return _optimizer(optimizer, "Ftrl", linear_learning_rate(columns, _LINEAR_LEARNING_RATE) if columns else 0)


def _refuse(**given):
    for name, value in given.items():
        if value:
            raise NotImplementedError(f"the argument {name} of estimators of tf.contrib.learn")


class _Classifier(BaseEstimator):
    """Predicts classes."""

    def __init__(self, estimator, label_keys):
        super().__init__(estimator)
        self._named = label_keys is not None

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True):
        """The classes of all examples, or a dict of the predictions that are named in `outputs`."""
        if not outputs:
            return self.predict_classes(x, input_fn, batch_size, as_iterable)

        def chosen(prediction):
            return {key: self._class_of(prediction) if key == "classes" else prediction[key] for key in outputs}

        return self._predicted(x, input_fn, batch_size, None, as_iterable, chosen)

    def _class_of(self, prediction):
        return prediction["classes" if self._named else "class_ids"][0]

    def predict_classes(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The class of each example: its number, or its name if the estimator has label_keys."""
        return self._predicted(x, input_fn, batch_size, None, as_iterable, self._class_of)

    def predict_proba(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The probabilities of the classes for each example."""
        return self._predicted(x, input_fn, batch_size, None, as_iterable, lambda each: each["probabilities"])


class _Regressor(BaseEstimator):
    """Predicts numbers."""

    def __init__(self, estimator, label_dimension):
        super().__init__(estimator)
        self._is_vector = label_dimension > 1

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True):
        """The numbers of all examples; a dict of them if `outputs` is ["scores"]."""
        if not outputs:
            return self.predict_scores(x, input_fn, batch_size, as_iterable)
        if list(outputs) != ["scores"]:
            raise ValueError(f"a regressor predicts scores, not {outputs}")
        return self._predicted(x, input_fn, batch_size, None, as_iterable, lambda each: {"scores": self._score(each)})

    def _score(self, prediction):
        return prediction["predictions"] if self._is_vector else prediction["predictions"][0]

    def predict_scores(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The number, or the vector, of each example."""
        return self._predicted(x, input_fn, batch_size, None, as_iterable, self._score)


class LinearClassifier(_Classifier):
    """A linear model that chooses one of `n_classes` classes."""

    def __init__(self, feature_columns, model_dir=None, n_classes=2, weight_column_name=None, optimizer=None,
                 gradient_clip_norm=None, enable_centered_bias=False, _joint_weight=False, config=None,
                 feature_engineering_fn=None, label_keys=None):
        _refuse(gradient_clip_norm=gradient_clip_norm, enable_centered_bias=enable_centered_bias,
                _joint_weight=_joint_weight, feature_engineering_fn=feature_engineering_fn)
        super().__init__(_class(core.LinearClassifier)(
            feature_columns, model_dir, n_classes, weight_column_name, label_keys,
            _linear_optimizer(optimizer, feature_columns), config or RunConfig(), **_MEAN), label_keys)


class LinearRegressor(_Regressor):
    """A linear model that predicts `label_dimension` numbers."""

    def __init__(self, feature_columns, model_dir=None, weight_column_name=None, optimizer=None,
                 gradient_clip_norm=None, enable_centered_bias=False, label_dimension=1, _joint_weights=False,
                 config=None, feature_engineering_fn=None):
        _refuse(gradient_clip_norm=gradient_clip_norm, enable_centered_bias=enable_centered_bias,
                _joint_weights=_joint_weights, feature_engineering_fn=feature_engineering_fn)
        super().__init__(_class(core.LinearRegressor)(
            feature_columns, model_dir, label_dimension, weight_column_name,
            _linear_optimizer(optimizer, feature_columns), config or RunConfig(), **_MEAN), label_dimension)


class DNNClassifier(_Classifier):
    """A fully connected network that chooses one of `n_classes` classes."""

    def __init__(self, hidden_units, feature_columns, model_dir=None, n_classes=2, weight_column_name=None,
                 optimizer=None, activation_fn=nn.relu, dropout=None, gradient_clip_norm=None,
                 enable_centered_bias=False, config=None, feature_engineering_fn=None, embedding_lr_multipliers=None,
                 input_layer_min_slice_size=None, label_keys=None):
        _refuse(gradient_clip_norm=gradient_clip_norm, enable_centered_bias=enable_centered_bias,
                feature_engineering_fn=feature_engineering_fn, embedding_lr_multipliers=embedding_lr_multipliers,
                input_layer_min_slice_size=input_layer_min_slice_size)
        super().__init__(_class(core.DNNClassifier)(
            hidden_units, feature_columns, model_dir, n_classes, weight_column_name, label_keys,
            _optimizer(optimizer, "Adagrad", _DNN_LEARNING_RATE), activation_fn, dropout,
            config=config or RunConfig(), **_MEAN), label_keys)


class DNNRegressor(_Regressor):
    """A fully connected network that predicts `label_dimension` numbers."""

    def __init__(self, hidden_units, feature_columns, model_dir=None, weight_column_name=None, optimizer=None,
                 activation_fn=nn.relu, dropout=None, gradient_clip_norm=None, enable_centered_bias=False, config=None,
                 feature_engineering_fn=None, label_dimension=1, embedding_lr_multipliers=None,
                 input_layer_min_slice_size=None):
        _refuse(gradient_clip_norm=gradient_clip_norm, enable_centered_bias=enable_centered_bias,
                feature_engineering_fn=feature_engineering_fn, embedding_lr_multipliers=embedding_lr_multipliers,
                input_layer_min_slice_size=input_layer_min_slice_size)
        super().__init__(_class(core.DNNRegressor)(
            hidden_units, feature_columns, model_dir, label_dimension, weight_column_name,
            _optimizer(optimizer, "Adagrad", _DNN_LEARNING_RATE), activation_fn, dropout,
            config=config or RunConfig(), **_MEAN), label_dimension)


def _combined(base, model_dir, linear_columns, linear_optimizer, dnn_columns, dnn_optimizer, dnn_hidden_units,
              dnn_activation_fn, dnn_dropout, config, weight_column, **options):
    return _class(base)(
        model_dir, linear_columns, _linear_optimizer(linear_optimizer, linear_columns), dnn_columns,
        _optimizer(dnn_optimizer, "Adagrad", _DNN_LEARNING_RATE), dnn_hidden_units, dnn_activation_fn, dnn_dropout,
        weight_column=weight_column, config=config or RunConfig(), **_MEAN, **options)


class DNNLinearCombinedClassifier(_Classifier):
    """A linear model and a network that choose one of `n_classes` classes. A step counts as one global step."""

    def __init__(self, model_dir=None, n_classes=2, weight_column_name=None, linear_feature_columns=None,
                 linear_optimizer=None, _joint_linear_weights=False, dnn_feature_columns=None, dnn_optimizer=None,
                 dnn_hidden_units=None, dnn_activation_fn=nn.relu, dnn_dropout=None, gradient_clip_norm=None,
                 enable_centered_bias=False, config=None, feature_engineering_fn=None, embedding_lr_multipliers=None,
                 input_layer_min_slice_size=None, label_keys=None, fix_global_step_increment_bug=False):
        _refuse(gradient_clip_norm=gradient_clip_norm, enable_centered_bias=enable_centered_bias,
                _joint_linear_weights=_joint_linear_weights, feature_engineering_fn=feature_engineering_fn,
                embedding_lr_multipliers=embedding_lr_multipliers,
                input_layer_min_slice_size=input_layer_min_slice_size)
        super().__init__(_combined(
            core.DNNLinearCombinedClassifier, model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns,
            dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout, config, weight_column_name,
            n_classes=n_classes, label_vocabulary=label_keys), label_keys)


class DNNLinearCombinedRegressor(_Regressor):
    """A linear model and a network that predict `label_dimension` numbers. A step counts as one global step."""

    def __init__(self, model_dir=None, weight_column_name=None, linear_feature_columns=None, linear_optimizer=None,
                 _joint_linear_weights=False, dnn_feature_columns=None, dnn_optimizer=None, dnn_hidden_units=None,
                 dnn_activation_fn=nn.relu, dnn_dropout=None, gradient_clip_norm=None, enable_centered_bias=False,
                 label_dimension=1, config=None, feature_engineering_fn=None, embedding_lr_multipliers=None,
                 input_layer_min_slice_size=None, fix_global_step_increment_bug=False):
        _refuse(gradient_clip_norm=gradient_clip_norm, enable_centered_bias=enable_centered_bias,
                _joint_linear_weights=_joint_linear_weights, feature_engineering_fn=feature_engineering_fn,
                embedding_lr_multipliers=embedding_lr_multipliers,
                input_layer_min_slice_size=input_layer_min_slice_size)
        super().__init__(_combined(
            core.DNNLinearCombinedRegressor, model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns,
            dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout, config, weight_column_name,
            label_dimension=label_dimension), label_dimension)
