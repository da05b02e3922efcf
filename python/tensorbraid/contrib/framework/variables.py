"""Variables by scope and name, and their values from checkpoints."""

import re

import numpy as np
import tensorbraid as tf
from tensorbraid.contrib.arg_scope import add_arg_scope
from tensorbraid.internal.graph_keys import GraphKeys

__all__ = [
    "VariableDeviceChooser", "add_model_variable", "assert_global_step", "assert_or_get_global_step",
    "assign_from_checkpoint", "assign_from_checkpoint_fn", "assign_from_values", "assign_from_values_fn", "create_global_step",
    "filter_variables", "get_global_step", "get_local_variables", "get_model_variables", "get_or_create_global_step",
    "get_trainable_variables", "get_unique_variable", "get_variable_full_name", "get_variables",
    "get_variables_by_name", "get_variables_by_suffix", "get_variables_to_restore", "global_variable", "local_variable",
    "model_variable", "variable", "zero_initializer"]


def assert_global_step(global_step_tensor):
    """Raises an error unless this is an integer scalar."""
    tf.train.assert_global_step(global_step_tensor)


def assert_or_get_global_step(graph=None, global_step_tensor=None):
    """The global step of the graph. ValueError if another one is given."""
    if global_step_tensor is None:
        return tf.train.get_global_step(graph)
    tf.train.assert_global_step(global_step_tensor)
    return global_step_tensor


def get_global_step(graph=None):
    """The global step of the graph; None if it has none."""
    return tf.train.get_global_step(graph)


def create_global_step(graph=None):
    """Makes the global step of the graph."""
    return tf.train.create_global_step(graph)


def get_or_create_global_step(graph=None):
    """The global step of the graph, made if it does not exist."""
    return tf.train.get_or_create_global_step(graph)


class VariableDeviceChooser:
    """A device function that places variables on the tasks of `job_name` in turn; with num_tasks=0 it names no task."""

    def __init__(self, num_tasks=0, job_name="ps", device_type="CPU", device_index=0, replica=None):
        self._job_name, self._num_tasks = job_name, num_tasks
        self._device = {"replica": replica, "device_type": device_type, "device_index": device_index}
        self._next_task = 0

    def __call__(self, op):
        task = {}
        if self._num_tasks > 0:
            task = {"job": self._job_name, "task": self._next_task}
            self._next_task = (self._next_task + 1) % self._num_tasks
        return tf.DeviceSpec(**self._device, **task).to_string()


def _keys(collections):
    return [collections] if isinstance(collections, str) else list(collections or [])


@add_arg_scope
def variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=True, collections=None,
             caching_device=None, device=None, partitioner=None, custom_getter=None, use_resource=None,
             synchronization=tf.VariableSynchronization.AUTO, aggregation=tf.VariableAggregation.NONE):
    """tf.get_variable on a device, which may be a function of the operation. It is in global_variables too."""
    collections = _keys(collections) or [GraphKeys.GLOBAL_VARIABLES]
    with tf.device(device or ""):
        return tf.get_variable(
            name, shape, dtype, initializer, regularizer, trainable, list(dict.fromkeys(collections)), caching_device,
            partitioner, use_resource=use_resource, custom_getter=custom_getter, synchronization=synchronization,
            aggregation=aggregation)


@add_arg_scope
def model_variable(name, shape=None, dtype=tf.float32, initializer=None, regularizer=None, trainable=True,
                   collections=None, caching_device=None, device=None, partitioner=None, custom_getter=None,
                   use_resource=None, synchronization=tf.VariableSynchronization.AUTO,
                   aggregation=tf.VariableAggregation.NONE):
    """variable() that is also in the collection of model variables."""
    collections = _keys(collections) + [GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(name, shape, dtype, initializer, regularizer, trainable, collections, caching_device, device,
                    partitioner, custom_getter, use_resource, synchronization, aggregation)


def local_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    """A variable that is not trained and not saved."""
    return tf.Variable(initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
                       validate_shape=validate_shape, name=name, use_resource=use_resource)


def global_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    """A variable that is not trained."""
    return tf.Variable(initial_value, trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES],
                       validate_shape=validate_shape, name=name, use_resource=use_resource)


def add_model_variable(var):
    """Adds a variable to the collection of model variables."""
    if var not in tf.get_collection(GraphKeys.MODEL_VARIABLES):
        tf.add_to_collection(GraphKeys.MODEL_VARIABLES, var)


def get_variables(scope=None, suffix=None, collection=GraphKeys.GLOBAL_VARIABLES):
    """The variables of a collection whose names begin with the scope and end with the suffix, both patterns."""
    if isinstance(scope, tf.VariableScope):
        scope = scope.name
    found = tf.get_collection(collection, scope)
    if suffix is None:
        return found
    return [v for v in found if re.fullmatch(f".*{suffix}" if ":" in suffix else f".*{suffix}:.*", v.name)]


def get_model_variables(scope=None, suffix=None):
    """The model variables whose names begin with the scope and end with the suffix."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope=None, suffix=None):
    """The local variables whose names begin with the scope and end with the suffix."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope=None, suffix=None):
    """The trainable variables whose names begin with the scope and end with the suffix."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix, scope=None):
    """The variables whose names end with the suffix."""
    return get_variables(scope, suffix)


def get_variables_by_name(given_name, scope=None):
    """The variables with this name in any scope."""
    return [v for v in get_variables(scope) if v.op.name == given_name or v.op.name.endswith("/" + given_name)]


def get_unique_variable(var_op_name):
    """The variable with this full name."""
    found = get_variables(scope=var_op_name)
    exact = [v for v in found if v.op.name == var_op_name]
    if len(exact) == 1:
        return exact[0]
    raise ValueError(f"Variable {var_op_name} {'does not uniquely identify a variable' if found else 'not found'}")


def get_variables_to_restore(include=None, exclude=None):
    """The variables in the scopes of `include`, by default all, without those in the scopes of `exclude`."""
    def in_scopes(scopes):
        if not isinstance(scopes, (list, tuple)):
            raise TypeError("include and exclude are lists or tuples of scopes")
        return [v for scope in scopes for v in get_variables(scope)]

    excluded = in_scopes(exclude) if exclude is not None else []
    return [v for v in (get_variables() if include is None else in_scopes(include)) if v not in excluded]


def filter_variables(var_list, include_patterns=None, exclude_patterns=None, reg_search=True):
    """The variables that match one of the patterns to include, if there are any, and none of those to exclude."""
    matches = re.search if reg_search else re.match

    def any_of(patterns, v):
        return any(matches(pattern, v.name) for pattern in patterns)

    return [v for v in var_list
            if (not include_patterns or any_of(include_patterns, v)) and not any_of(exclude_patterns or [], v)]


def get_variable_full_name(var):
    """The name of a variable in a checkpoint."""
    part = var._part_of
    return var.op.name if part is None else part[0]


def assign_from_values(var_names_to_values):
    """An operation and a dict to feed: they set the variables with these names."""
    feeds, assigned = {}, []
    for name, value in var_names_to_values.items():
        found = get_unique_variable(name)
        with tf.name_scope("assign_from_values"):
            placeholder = tf.placeholder(found.dtype, np.shape(value))
            assigned.append(found.assign(placeholder, read_value=False))
        feeds[placeholder] = value
    return tf.group(*assigned), feeds


def assign_from_values_fn(var_names_to_values):
    """A function of a session that sets the variables."""
    operation, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(operation, feeds)


def _by_name(var_list):
    """A dict from names in a checkpoint to lists of variables, which are the parts of one variable."""
    if isinstance(var_list, dict):
        return {name: list(v) if isinstance(v, (list, tuple)) else [v] for name, v in var_list.items()}
    named = {}
    for v in var_list:
        named.setdefault(get_variable_full_name(v), []).append(v)
    return named


def assign_from_checkpoint(model_path, var_list, ignore_missing_vars=False):
    """An operation and a dict to feed: they set the variables to the values in the checkpoint."""
    reader = tf.train.NewCheckpointReader(model_path)
    feeds, assigned = {}, []
    for name, parts in _by_name(var_list).items():
        if not reader.has_tensor(name):
            if ignore_missing_vars:
                tf.logging.warning("Checkpoint is missing variable [%s]", name)
                continue
            raise ValueError(f"Checkpoint is missing variable [{name}]")
        value = reader.get_tensor(name)
        for part in parts:
            whole = part._part_of
            rows = part.shape.as_list()
            chosen = value if whole is None else value[whole[2]:whole[2] + rows[0]]
            if not part.shape.is_compatible_with(np.shape(chosen)):
                raise ValueError(f"the variable {name} has the shape {tuple(rows)}, but its value in the checkpoint "
                                 f"has the shape {np.shape(chosen)}")
            with tf.name_scope("assign_from_checkpoint"):
                placeholder = tf.placeholder(part.dtype, np.shape(chosen))
                assigned.append(part.assign(placeholder, read_value=False))
            feeds[placeholder] = chosen
    return tf.group(*assigned), feeds


def assign_from_checkpoint_fn(model_path, var_list, ignore_missing_vars=False, reshape_variables=False):
    """A function of a session that restores the variables. None if the checkpoint has none of them."""
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        reader = tf.train.NewCheckpointReader(model_path)
        named = var_list if isinstance(var_list, dict) else {get_variable_full_name(v): v for v in var_list}
        for name in [name for name in named if not reader.has_tensor(name)]:
            tf.logging.warning("Variable %s missing in checkpoint %s", name, model_path)
        if isinstance(var_list, dict):
            var_list = {name: v for name, v in var_list.items() if reader.has_tensor(name)}
        else:
            var_list = [v for v in var_list if reader.has_tensor(get_variable_full_name(v))]
        if not var_list:
            tf.logging.warning("No Variables to restore")
            return None
    saver = tf.train.Saver(var_list, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


def zero_initializer(ref, use_locking=True, name="zero_initializer"):
    """An operation that sets the variable to zeros. Returns its value."""
    with tf.name_scope(name):
        return ref.assign(tf.zeros(ref.shape, ref.dtype))
