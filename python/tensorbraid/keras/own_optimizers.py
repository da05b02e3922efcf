"""Optimizers of a program: subclasses of tf.keras.optimizers.Optimizer that say how one variable is updated.

They have the methods that TensorFlow's OptimizerV2 calls: `_create_slots`, `_resource_apply_dense` and
`_resource_apply_sparse`. Subclasses that have the library's `get_updates` work as in the library.
"""

import inspect

import tensorbraid as tf
from tensorbraid.keras.adapter.loaded import loaded

__all__ = ["Methods"]


def _dtype(value):
    return tf.as_dtype(value or loaded("backend").floatx()).base_dtype


def _is_schedule(value):
    return isinstance(value, tf.keras.optimizers.schedules.LearningRateSchedule)


class Methods:
    """Methods of tf.keras.optimizers.Optimizer, whose library's constructor is `_library_init`."""

    _name, _initial_decay, _use_locking = None, 0.0, True

    def __init__(self, name=None, **kwargs):
        learning_rate, decay = kwargs.pop("lr", kwargs.pop("learning_rate", None)), kwargs.pop("decay", 0.0)
        self._library_init(**kwargs)
        self._name = name or self._name or type(self).__name__
        self._hyper, self._slots, self._initial_decay = {}, {}, decay
        if learning_rate is not None:
            self._set_hyper("learning_rate", learning_rate)

    def __getattr__(self, name):
        """A number that `_set_hyper` has set is an attribute, which is a variable from its first use."""
        if name in self.__dict__.get("_hyper", ()):
            self._create_hypers()
            return self.__dict__.get(name, self._hyper[name])
        raise AttributeError(f"the optimizer {type(self).__name__} has no attribute '{name}'")

    @property
    def iterations(self):
        """The variable that counts the steps."""
        if "_iterations" not in self.__dict__:
            self.iterations = self._variable(tf.zeros([], tf.int64), "iter")
            self.weights.insert(0, self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable):
        self.__dict__["_iterations"] = variable

    def _variable(self, value, name):
        with tf.name_scope(f"training/{self._name}/"):  # as in TensorFlow, where the first step makes them
            return tf.Variable(value, trainable=False, name=name)

    def _set_hyper(self, name, value):
        """Sets a number, which may also be a tensor, a function that returns it, or a schedule."""
        self._hyper[name] = value
        if isinstance(self.__dict__.get(name), tf.Variable):
            loaded("backend").set_value(self.__dict__[name], value)

    def _get_hyper(self, name, dtype=None):
        """The value of a number as a tensor or a variable, in this dtype; a schedule as it is."""
        value = self._hyper[name]
        if _is_schedule(value):
            return value
        value = value() if callable(value) else getattr(self, name)
        return value if dtype is None else tf.cast(value, dtype)

    def _create_hypers(self):
        """Makes variables of the numbers."""
        for name, value in self._hyper.items():
            if name not in self.__dict__ and not callable(value) and not isinstance(value, (tf.Tensor, tf.Variable)):
                self.__dict__[name] = self._variable(tf.constant(value, _dtype(None)), name)

    def _serialize_hyperparameter(self, name):
        """The value of a number for `get_config`."""
        value = self._hyper[name]
        if _is_schedule(value):
            return tf.keras.optimizers.schedules.serialize(value)
        if callable(value):
            return value()
        value = self.__dict__.get(name, value)
        return loaded("backend").get_value(value) if isinstance(value, (tf.Tensor, tf.Variable)) else value

    def _decayed_lr(self, var_dtype):
        """The learning rate of this step."""
        rate = self._get_hyper("learning_rate", var_dtype)
        steps = tf.cast(self.iterations, var_dtype)
        if _is_schedule(rate):
            rate = tf.cast(rate(steps), var_dtype)
        if self._initial_decay > 0:
            rate = rate / (1.0 + tf.cast(self._initial_decay, var_dtype) * steps)
        return rate

    def add_weight(self, name, shape, dtype=None, initializer="zeros", trainable=None, **_):
        """A variable of the optimizer."""
        if isinstance(initializer, str) or callable(initializer):
            initializer = loaded("initializers").get(initializer)
            value = initializer(tuple(tf.TensorShape(shape).as_list()), dtype=_dtype(dtype).name)
        else:
            value = initializer
        variable = tf.Variable(value, trainable=bool(trainable), name=name)
        self.weights.append(variable)
        return variable

    def add_slot(self, var, slot_name, initializer="zeros"):
        """The variable of this name that belongs to the model's variable `var`. It is made once."""
        slots = self._slots.setdefault(var.name, {})
        if slot_name not in slots:
            with tf.name_scope(f"training/{self._name}/"):
                slots[slot_name] = self.add_weight(f"{var.op.name}/{slot_name}", var.shape, var.dtype, initializer)
        return slots[slot_name]

    def get_slot(self, var, slot_name):
        """The variable that `add_slot` has made."""
        return self._slots[var.name][slot_name]

    def get_slot_names(self):
        """The names of the variables that belong to each of the model's."""
        return sorted({name for slots in self._slots.values() for name in slots})

    def _create_slots(self, var_list):
        """Makes the variables that belong to those of the model."""

    def _prepare(self, var_list):
        """Called once before the updates of a step. Returns values for them, by device and dtype."""
        places = {(var.device, _dtype(var.dtype)) for var in var_list}
        return {place: self._fallback_apply_state(*place) for place in places}

    def _fallback_apply_state(self, var_device, var_dtype):
        values = {(var_device, var_dtype): {}}
        self._prepare_local(var_device, var_dtype, values)
        return values[var_device, var_dtype]

    def _prepare_local(self, var_device, var_dtype, apply_state):
        if "learning_rate" in self._hyper:
            rate = tf.identity(self._decayed_lr(var_dtype))
            apply_state[(var_device, var_dtype)].update(lr_t=rate, neg_lr_t=-rate)

    def get_updates(self, loss, params):
        """The operations of one step. `_resource_apply_dense` and `_resource_apply_sparse` make them."""
        gradients = self.get_gradients(loss, params)
        count = self.iterations
        self._create_hypers()
        self._create_slots(params)
        state = self._prepare(params) or {}
        updates = []
        for gradient, param in zip(gradients, params):
            with tf.name_scope("update"), tf.colocate_with(param):
                updates.append(self._updated(gradient, param, state))
        with tf.control_dependencies([update for update in updates if update is not None]):
            self.updates = [*updates, tf.assign_add(count, 1)]
        return self.updates

    def _updated(self, gradient, param, state):
        """The update of one variable, and then its constraint."""
        if isinstance(gradient, tf.IndexedSlices):
            apply, values = self._resource_apply_sparse_duplicate_indices, (gradient.values, param, gradient.indices)
        else:
            apply, values = self._resource_apply_dense, (gradient, param)
        takes_state = "apply_state" in inspect.signature(apply).parameters
        update = apply(*values, **({"apply_state": state} if takes_state else {}))
        constraint = getattr(param, "constraint", None)
        if constraint is None:
            return update
        with tf.control_dependencies([update]):
            return tf.assign(param, constraint(param.read_value()))

    def _resource_apply_dense(self, grad, var):
        raise NotImplementedError(f"{type(self).__name__} has neither _resource_apply_dense nor get_updates; one of "
                                  "them makes the updates of variables")

    def _resource_apply_sparse_duplicate_indices(self, grad, var, indices, **kwargs):
        """The update of rows: first those of the same index are summed."""
        unique, positions = tf.unique(indices)
        summed = tf.unsorted_segment_sum(grad, positions, tf.shape(unique)[0])
        return self._resource_apply_sparse(summed, var, unique, **kwargs)

    def _resource_apply_sparse(self, grad, var, indices, **kwargs):
        dense = tf.unsorted_segment_sum(grad, indices, tf.shape(var)[0])
        return self._resource_apply_dense(dense, var, **kwargs)

    def _resource_scatter_add(self, x, i, v):
        with tf.control_dependencies([tf.scatter_add(x, i, v)]):
            return x.read_value()

    def _resource_scatter_update(self, x, i, v):
        with tf.control_dependencies([tf.scatter_update(x, i, v)]):
            return x.read_value()

    def get_config(self):
        """The arguments of the constructor that all optimizers have."""
        return {"name": self._name, **{name: self.__dict__[name] for name in ("clipnorm", "clipvalue")
                                       if name in self.__dict__}}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """An optimizer with this configuration."""
        config = dict(config)
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = tf.keras.optimizers.schedules.deserialize(config["learning_rate"], custom_objects)
        return cls(**config)
