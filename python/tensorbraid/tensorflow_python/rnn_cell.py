"""tensorflow.python.ops.rnn_cell_impl and rnn: private functions that programs call to define their own cells."""

import tensorbraid as tf

__all__ = ["assert_like_rnncell"]


def _linear(args, output_size, bias, bias_initializer=None, kernel_initializer=None):
    """The concatenated tensors [batch, n] times the variable "kernel", plus, with `bias`, the variable "bias".

    The variables are in the current variable scope. The initial bias is 0 unless an initializer is given. ValueError
    for tensors that are not matrices of a known number of columns.
    """
    if args is None or (isinstance(args, (list, tuple)) and not args):
        raise ValueError("`args` must be specified")
    values = list(args) if isinstance(args, (list, tuple)) else [args]
    for value in values:
        if value.shape.ndims != 2:
            raise ValueError(f"linear is expecting 2D arguments: {[value.shape for value in values]}")
        if value.shape.as_list()[1] is None:
            raise ValueError(f"linear expects shape[1] to be provided for shape {value.shape}, but saw None")
    size, dtype = sum(value.shape.as_list()[1] for value in values), values[0].dtype
    with tf.variable_scope(tf.get_variable_scope()):
        kernel = tf.get_variable("kernel", [size, output_size], dtype, kernel_initializer)
        product = tf.matmul(values[0] if len(values) == 1 else tf.concat(values, 1), kernel)
        if not bias:
            return product
        if bias_initializer is None:
            bias_initializer = tf.constant_initializer(0.0, dtype=dtype)
        return tf.nn.bias_add(product, tf.get_variable("bias", [output_size], dtype, bias_initializer))


class _Linear:
    """`_linear` as an object that makes its variables once and can be called repeatedly."""

    def __init__(self, args, output_size, build_bias, bias_initializer=None, kernel_initializer=None):
        values = list(args) if isinstance(args, (list, tuple)) else [args]
        size, dtype = sum(value.shape.as_list()[1] for value in values), values[0].dtype
        self._kernel = tf.get_variable("kernel", [size, output_size], dtype, kernel_initializer)
        self._bias = None
        if build_bias:
            if bias_initializer is None:
                bias_initializer = tf.constant_initializer(0.0, dtype=dtype)
            self._bias = tf.get_variable("bias", [output_size], dtype, bias_initializer)

    def __call__(self, args):
        values = list(args) if isinstance(args, (list, tuple)) else [args]
        product = tf.matmul(values[0] if len(values) == 1 else tf.concat(values, 1), self._kernel)
        return product if self._bias is None else tf.nn.bias_add(product, self._bias)


def _like_rnncell(cell):
    """Whether the object has the interface of an RNNCell."""
    return callable(cell) and all(hasattr(cell, name) for name in ("output_size", "state_size")) and any(
        hasattr(cell, name) for name in ("zero_state", "get_initial_state"))


def assert_like_rnncell(cell_name, cell):
    """Raises TypeError unless the object has the interface of an RNNCell."""
    if not _like_rnncell(cell):
        raise TypeError(f"The argument {cell_name!r} ({cell}) is not an RNNCell.")


def _concat(prefix, suffix, static=False):
    """Concatenates two shapes, sizes or vectors: to a tensor, or with `static`, to a list of sizes."""
    parts = [part if isinstance(part, tf.Tensor) else tf.TensorShape(part).as_list() if not isinstance(part, int)
             else [part] for part in (prefix, suffix)]
    if static:
        known = [tf.get_static_value(part) if isinstance(part, tf.Tensor) else part for part in parts]
        if any(part is None for part in known):
            return None
        return [None if size is None else int(size) for part in known for size in ([part] if not hasattr(
            part, "__len__") else part)]
    tensors = [part if isinstance(part, tf.Tensor) else tf.constant(part, tf.int32) for part in parts]
    return tf.concat([tf.expand_dims(part, 0) if part.shape.ndims == 0 else part for part in tensors], 0)


def _zero_state_tensors(state_size, batch_size, dtype):
    """Zeros [batch_size, ...] for a state size: an integer, a shape, or a structure of them."""
    def zeros(size):
        sizes = [size] if isinstance(size, int) else tf.TensorShape(size).as_list()
        if isinstance(batch_size, int):
            return tf.zeros([batch_size, *sizes], dtype)
        made = tf.zeros(tf.stack([batch_size, *sizes]), dtype)
        made.set_shape([None, *sizes])
        return made

    return tf.nest.map_structure(zeros, state_size)


def _transpose_batch_time(x):
    """Exchanges the first two dimensions of a tensor. A tensor of lower rank is returned unchanged."""
    if x.shape.ndims is not None and x.shape.ndims < 2:
        return x
    if x.shape.ndims is None:
        return tf.transpose(x, tf.concat([[1, 0], tf.range(2, tf.rank(x))], 0))
    return tf.transpose(x, [1, 0, *range(2, x.shape.ndims)])


def _best_effort_input_batch_size(flat_input):
    """The batch size of tensors [time, batch, ...]: an integer if a static shape has it, otherwise a tensor."""
    for value in flat_input:
        if value.shape.ndims is not None and value.shape.ndims >= 2 and value.shape.as_list()[1] is not None:
            return value.shape.as_list()[1]
    return tf.shape(flat_input[0])[1]
