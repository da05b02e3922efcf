"""Arguments that functions and classes of TensorFlow 1.15's tf.keras have, and the library's have not."""

import functools
import math

import tensorbraid as tf
from tensorbraid.keras import graph_seeds
from tensorbraid.keras.adapter.loaded import loaded

__all__ = []

_NORMAL = ("normal", "truncated_normal", "untruncated_normal")  # of VarianceScaling; the library has the first one


def _init_without(kind, *names):
    """Lets the constructor take arguments of these names, which have no effect."""
    init = kind.__init__

    @functools.wraps(init)
    def __init__(self, *args, **kwargs):
        init(self, *args, **{name: value for name, value in kwargs.items() if name not in names})

    kind.__init__ = __init__


def change_initializers(initializers):
    """The constructors take a dtype. The variables have the dtype of their layer."""
    graph_seeds.change_initializers(initializers)
    for kind in list(vars(initializers).values()):
        if isinstance(kind, type) and issubclass(kind, initializers.Initializer) and "__init__" in vars(kind):
            _init_without(kind, "dtype", "verify_shape")
    kind = initializers.VarianceScaling
    init, call, get_config = kind.__init__, kind.__call__, kind.get_config

    @functools.wraps(init)
    def __init__(self, scale=1.0, mode="fan_in", distribution="normal", seed=None, **kwargs):
        self._distribution = distribution
        init(self, scale, mode, "normal" if distribution in _NORMAL else distribution, seed, **kwargs)

    def call_any(self, shape, dtype=None):
        if self._distribution != "untruncated_normal":
            return call(self, shape, dtype)
        fans = dict(zip(("fan_in", "fan_out"), initializers._compute_fans(shape)))
        count = fans.get(self.mode, sum(fans.values()) / 2)
        return initializers.K.random_normal(shape, 0.0, math.sqrt(self.scale / max(1.0, count)), dtype, self.seed)

    kind.__init__, kind.__call__ = __init__, call_any
    kind.get_config = lambda self: {**get_config(self), "distribution": self._distribution}


def change_input_layer(input_layer):
    """tf.keras.Input takes the number of samples. Files of TensorFlow say whether an InputLayer is ragged."""
    make, init = input_layer.Input, input_layer.InputLayer.__init__

    @functools.wraps(init)
    def __init__(self, *args, ragged=False, **kwargs):
        if ragged:
            raise NotImplementedError("an InputLayer of ragged tensors")
        init(self, *args, **kwargs)

    def Input(shape=None, batch_size=None, name=None, dtype=None, sparse=False, tensor=None, ragged=False, **kwargs):
        """A tensor that a model begins with; `shape` is the shape of one sample."""
        if ragged:
            raise NotImplementedError("tf.keras.Input of ragged tensors")
        batch_shape = kwargs.pop("batch_shape", None)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments: {', '.join(kwargs)}")
        if isinstance(batch_size, (tuple, list)):  # the library's second argument
            batch_shape, batch_size = batch_size, None
        if batch_size is not None and shape is not None:
            shape, batch_shape = None, (batch_size, *shape)
        return make(shape, batch_shape, name, dtype, sparse, tensor)

    input_layer.Input, input_layer.InputLayer.__init__ = Input, __init__


def change_losses_utils(losses_utils):
    """The reduction of losses has the value AUTO, which is the mean. The rank of losses may be unknown."""
    kind, weighted = losses_utils.Reduction, losses_utils.compute_weighted_loss
    kind.AUTO = "auto"
    kind.all = classmethod(lambda cls: (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE))
    losses_utils.ReductionV2 = kind

    def compute_weighted_loss(losses, sample_weight=None, reduction=kind.SUM_OVER_BATCH_SIZE, name=None):
        reduction = kind.SUM_OVER_BATCH_SIZE if reduction == kind.AUTO else reduction
        if losses.shape.ndims is not None:
            return weighted(losses, sample_weight, reduction, name)
        kind.validate(reduction)
        with tf.name_scope(name or "weighted_loss"):
            weight = 1.0 if sample_weight is None else sample_weight
            return losses_utils.reduce_weighted_loss(losses * tf.cast(weight, losses.dtype), reduction)

    losses_utils.compute_weighted_loss = compute_weighted_loss


def change_callbacks(callbacks):
    """ModelCheckpoint can save after a number of samples."""
    checkpoint = callbacks.ModelCheckpoint

    class ModelCheckpoint(checkpoint):
        """Saves the model after each epoch, or whenever `save_freq` samples were trained with."""

        def __init__(self, filepath, monitor="val_loss", verbose=0, save_best_only=False, save_weights_only=False,
                     mode="auto", save_freq="epoch", load_weights_on_restart=False, period=1):
            if save_freq != "epoch" and not isinstance(save_freq, int):
                raise ValueError(f"save_freq of ModelCheckpoint is 'epoch' or a number of samples, not {save_freq!r}")
            if load_weights_on_restart:
                raise NotImplementedError("load_weights_on_restart of ModelCheckpoint; call model.load_weights "
                                          "before fit")
            super().__init__(str(filepath), monitor, verbose, save_best_only, save_weights_only, mode, period)
            self.save_freq, self._samples, self._epoch = save_freq, 0, 0

        def on_epoch_begin(self, epoch, logs=None):
            self._epoch = epoch

        def on_batch_end(self, batch, logs=None):
            logs = logs or {}
            self._samples += logs.get("size", 1)
            if self.save_freq != "epoch" and self._samples >= self.save_freq:
                self._samples = 0
                super().on_epoch_end(self._epoch, logs)

        def on_epoch_end(self, epoch, logs=None):
            if self.save_freq == "epoch":
                super().on_epoch_end(epoch, logs)

    ModelCheckpoint.__qualname__ = "ModelCheckpoint"
    callbacks.ModelCheckpoint = ModelCheckpoint
    _init_without(callbacks.TensorBoard, "profile_batch")


def register_keras_serializable(package="Custom", name=None):
    """A decorator: configurations of models may name the class or function, as "PACKAGE>NAME"."""
    def decorator(value):
        registered = f"{package}>{name or value.__name__}"
        if isinstance(value, type) and not hasattr(value, "get_config"):
            raise ValueError(f"Cannot register the class {value.__name__}, which has no get_config() method.")
        objects = loaded("utils.generic_utils").get_custom_objects()
        if registered in objects:
            raise ValueError(f"{registered} has already been registered to {objects[registered]}")
        objects[registered] = value
        objects.setdefault(name or value.__name__, value)
        return value

    return decorator
