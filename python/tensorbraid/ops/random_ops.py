"""Random numbers. Their seeds follow TensorFlow's rules, so that equal seeds give equal numbers."""

from typing import Any

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import arrays, control, elementwise, indexing, reductions

_DEFAULT_GRAPH_SEED = 87654321
_MAX_SEED = 2**31 - 1


def get_seed(op_seed):
    """The two seeds of a random op: of its graph and of the op; two None if neither is given.

    In a graph with a seed, the ops without one of their own are numbered, as in TensorFlow 2.21. TensorFlow 1 used the
    number of nodes instead.
    """
    graph = graphs.get_default_graph()
    graph_seed = graph.seed if getattr(graph, "_has_seed", bool(graph.seed)) else None
    if graph_seed is None and op_seed is None:
        return None, None
    if graph_seed is None:
        graph_seed = _DEFAULT_GRAPH_SEED
    elif op_seed is None:
        op_seed = getattr(graph, "_unseeded_ops", 0)
        graph._unseeded_ops = op_seed + 1
    seeds = int(graph_seed) % _MAX_SEED, arguments.integer("seed", op_seed) % _MAX_SEED
    return (0, _MAX_SEED) if seeds == (0, 0) else seeds


def seed_pair(seed):
    """The two seeds of a random op as numbers; 0 and 0 make it choose them itself."""
    first, second = get_seed(seed)
    return first or 0, second or 0


def seed_attrs(seed):
    """seed_pair as attributes of a node."""
    return dict(zip(("seed", "seed2"), seed_pair(seed)))


def shape_tensor(shape):
    """A shape that the program gives, as a tensor called "shape"."""
    if isinstance(shape, graphs.Tensor):
        return shape
    if isinstance(shape, graphs.TensorShape) or arrays.is_static(shape):
        dims = graphs.TensorShape(shape.tolist() if isinstance(shape, np.ndarray) else shape).as_list()
        return graphs.constant(arrays.index_array(dims), name="shape")
    return convert_to_tensor(list(shape), dtypes.int32, name="shape")


def _normal(op_type, default_name, doc):
    def op(shape, mean: Any = 0.0, stddev: Any = 1.0, dtype=dtypes.float32, seed=None, name=None):
        with name_scope(name, default_name, [shape, mean, stddev]) as scope:
            dims = shape_tensor(shape)
            mean = convert_to_tensor(mean, dtype, name="mean")
            stddev = convert_to_tensor(stddev, dtype, name="stddev")
            values = make_op(op_type, [dims], dtype=dtypes.as_dtype(dtype), **seed_attrs(seed)).outputs[0]
            return elementwise._add(values * stddev, mean, scope)

    return named(op, default_name, doc)


random_normal = _normal("RandomStandardNormal", "random_normal", "Numbers of a normal distribution.")
truncated_normal = _normal("TruncatedNormal", "truncated_normal",
                           "Numbers of a normal distribution without those more than two deviations from the mean.")


def random_uniform(shape, minval: Any = 0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    """Numbers from [minval, maxval)."""
    dtype = dtypes.as_dtype(dtype)
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        dims = shape_tensor(shape)
        plain = isinstance(minval, int) and minval == 0, isinstance(maxval, int) and maxval == 1
        if not dtype.is_integer and all(plain):
            return make_op("RandomUniform", [dims], dtype=dtype, **seed_attrs(seed)).outputs[0]
        minval = convert_to_tensor(minval, dtype, name="min")
        maxval = convert_to_tensor(maxval, dtype, name="max")
        if dtype.is_integer:
            return make_op("RandomUniformInt", [dims, minval, maxval], scope, **seed_attrs(seed)).outputs[0]
        values = make_op("RandomUniform", [dims], dtype=dtype, **seed_attrs(seed)).outputs[0]
        if plain[0]:
            return elementwise.multiply(values, maxval)
        return elementwise._add(values * (maxval - minval), minval, scope)


def random_shuffle(value, seed=None, name=None):
    """The slices along the first axis in a random order."""
    return make_op("RandomShuffle", [value], name or "RandomShuffle", **seed_attrs(seed)).outputs[0]


def random_crop(value, size, seed=None, name=None):
    """A part of the tensor of this size at a random place."""
    with name_scope(name, "random_crop", [value, size]) as scope:
        value = convert_to_tensor(value, name="value")
        size = convert_to_tensor(size if isinstance(size, graphs.Tensor) or not arrays.is_static(size) else
                                 arrays.index_array(size), name="size")
        dims = arrays.shape(value, out_type=size.dtype)
        check = control.Assert(reductions.reduce_all(elementwise.greater_equal(dims, size)),
                               ["Need value.shape >= size, got ", dims, size], summarize=1000)
        dims = control.with_dependencies([check], dims)
        limit = dims - size + 1
        offset = random_uniform(arrays.shape(dims), dtype=size.dtype, maxval=2**31 - 1, seed=seed) % limit
        return indexing.slice(value, offset, size, name=scope)


def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    """Class numbers, drawn with the probabilities softmax(logits)."""
    with name_scope(name, "multinomial", [logits]):
        return _categorical(logits, num_samples, output_dtype, seed)


def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """Class numbers, drawn with the probabilities softmax(logits)."""
    with name_scope(name, "categorical", [logits]):
        return _categorical(logits, num_samples, dtype, seed)


def _categorical(logits, num_samples, dtype, seed):
    logits = convert_to_tensor(logits, name="logits")
    dtype = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    return make_op("Multinomial", [logits, num_samples], output_dtype=dtype, **seed_attrs(seed)).outputs[0]


def _both_shapes(alpha, beta):
    """The shape to which both are broadcast: a constant if it is known."""
    dims = arrays.broadcast_static_shape(alpha.shape, beta.shape)
    if dims.is_fully_defined():
        return graphs.constant(np.array(dims.as_list(), np.int32))
    return arrays.broadcast_dynamic_shape(arrays.shape(alpha), arrays.shape(beta))


def _tiny(dtype):
    return np.finfo(dtype.as_numpy_dtype).tiny


def random_gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of gamma distributions: `shape` of them for each pair of alpha and beta."""
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        dims = convert_to_tensor(shape, dtypes.int32 if not isinstance(shape, graphs.Tensor) else None, name="shape")
        alpha = convert_to_tensor(alpha, dtype, name="alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, name="beta")
        both = _both_shapes(alpha, beta)
        wide = arrays.broadcast_to(alpha, both)
        raw = make_op("RandomGamma", [dims, wide], **seed_attrs(seed)).outputs[0]
        return elementwise.maximum(_tiny(alpha.dtype), raw / beta)


def random_poisson_v2(shape, lam, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of Poisson distributions: `shape` of them for each rate."""
    with name_scope(name, "random_poisson", [lam, shape]):
        dims = convert_to_tensor(shape, dtypes.int32 if not isinstance(shape, graphs.Tensor) else None, name="shape")
        return make_op("RandomPoissonV2", [dims, lam], dtype=dtypes.as_dtype(dtype), **seed_attrs(seed)).outputs[0]


def random_poisson(lam, shape, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of Poisson distributions: `shape` of them for each rate."""
    return random_poisson_v2(shape, lam, dtype, seed, name)


def stateless_random_uniform(shape, seed, minval: Any = 0, maxval=None, dtype=dtypes.float32, name=None,
                             alg="auto_select"):
    """Numbers from [minval, maxval) that only the seed of two numbers determines."""
    dtype = dtypes.as_dtype(dtype)
    if dtype.is_integer and (minval is None) != (maxval is None):
        raise ValueError(f"For integer `dtype` argument {dtype}, argument `minval` and `maxval` must be both None or "
                         "not None.")
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        dims = shape_tensor(shape)
        if dtype.is_integer and minval is None:
            return _stateless("FullInt", dims, seed, alg, scope, dtype)
        if maxval is None:
            if dtype.is_integer:
                raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
            maxval = 1
        minval = convert_to_tensor(minval, dtype, name="min")
        maxval = convert_to_tensor(maxval, dtype, name="max")
        if dtype.is_integer:
            key, counter, algorithm = _key_counter_alg(seed, alg)
            return make_op("StatelessRandomUniformIntV2", [dims, key, counter, algorithm, minval, maxval],
                           scope).outputs[0]
        return elementwise._add(_stateless("Uniform", dims, seed, alg, None, dtype) * (maxval - minval), minval, scope)


_ALGORITHMS = {"philox": 1, "threefry": 2, "auto_select": 3}


def _key_counter_alg(seed, alg):
    number = _ALGORITHMS.get(alg, alg) if isinstance(alg, str) else alg
    if number not in (1, 3):
        raise NotImplementedError(f"the algorithm {alg!r} of stateless random numbers; use 'philox'")
    key, counter = make_op("StatelessRandomGetKeyCounter", [seed]).outputs
    return key, counter, graphs.constant(1, dtypes.int32, name="alg")


def _stateless(kind, dims, seed, alg, name, dtype):
    op_type = {"Uniform": "StatelessRandomUniformV2", "FullInt": "StatelessRandomUniformFullIntV2",
               "Normal": "StatelessRandomNormalV2", "Truncated": "StatelessTruncatedNormalV2"}[kind]
    key, counter, algorithm = _key_counter_alg(seed, alg)
    return make_op(op_type, [dims, key, counter, algorithm], name, dtype=dtype).outputs[0]


def _stateless_normal(kind, default_name, doc):
    def op(shape, seed, mean: Any = 0.0, stddev: Any = 1.0, dtype=dtypes.float32, name=None, alg="auto_select"):
        dtype = dtypes.as_dtype(dtype)
        with name_scope(name, default_name, [shape, seed, mean, stddev]) as scope:
            dims = shape_tensor(shape)
            mean = convert_to_tensor(mean, dtype, name="mean")
            stddev = convert_to_tensor(stddev, dtype, name="stddev")
            return elementwise._add(_stateless(kind, dims, seed, alg, None, dtype) * stddev, mean, scope)

    return named(op, default_name, doc)


stateless_random_normal = _stateless_normal("Normal", "stateless_random_normal",
                                            "Normal numbers that only the seed determines.")
stateless_truncated_normal = _stateless_normal("Truncated", "stateless_truncated_normal",
                                               "Truncated normal numbers that only the seed determines.")


def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64, name=None):
    """Class numbers that only the logits and the seed determine."""
    with name_scope(name, "stateless_categorical", [logits, seed]):
        return make_op("StatelessMultinomial", [logits, num_samples, seed],
                       output_dtype=dtypes.as_dtype(dtype)).outputs[0]


def stateless_multinomial(logits, num_samples, seed, output_dtype=dtypes.int64, name=None):
    """Class numbers that only the logits and the seed determine."""
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return make_op("StatelessMultinomial", [logits, num_samples, seed],
                       output_dtype=dtypes.as_dtype(output_dtype)).outputs[0]


def stateless_random_gamma(shape, seed, alpha, beta=None, dtype=dtypes.float32, name=None):
    """Numbers of gamma distributions that only the seed determines."""
    with name_scope(name, "stateless_random_gamma", [shape, seed, alpha, beta]):
        dims = shape_tensor(shape)
        alpha = convert_to_tensor(alpha, dtype, name="alpha")
        beta = convert_to_tensor(1 if beta is None else beta, dtype, name="beta")
        both = _both_shapes(alpha, beta)
        raw = make_op("StatelessRandomGammaV2", [dims, seed, arrays.broadcast_to(alpha, both)]).outputs[0]
        return elementwise.maximum(_tiny(alpha.dtype), raw / beta)


def stateless_random_poisson(shape, seed, lam, dtype=dtypes.int32, name=None):
    """Numbers of Poisson distributions that only the seed determines."""
    with name_scope(name, "stateless_random_poisson", [shape, seed, lam]):
        return make_op("StatelessRandomPoisson", [shape_tensor(shape), seed, lam],
                       dtype=dtypes.as_dtype(dtype)).outputs[0]


def stateless_split(seed, num=2, alg="auto_select"):
    """`num` new seeds that a seed determines."""
    seed = convert_to_tensor(seed)
    return stateless_random_uniform([num, 2], seed, None, None, seed.dtype, alg=alg)


def stateless_fold_in(seed, data, alg="auto_select"):
    """A new seed that a seed and a number determine."""
    data = convert_to_tensor(data)
    bits = stateless_random_uniform([], seed, None, None, data.dtype, alg=alg)
    return arrays.stack([bits, data])


__all__ = [
    "get_seed", "multinomial", "random_crop", "random_gamma", "random_normal", "random_poisson", "random_shuffle",
    "random_uniform", "truncated_normal",
]
