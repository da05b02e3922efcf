"""Initial values of variables. C++ makes the values; the classes keep the arguments."""

import math

import numpy as np

from tensorbraid import _core, dtypes
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.function_names import named
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.internal.variables import (
    global_variables_initializer, local_variables_initializer, variables_initializer)
from tensorbraid.lookup import tables_initializer as tables_initializer  # noqa: F401
from tensorbraid.ops import arrays

__all__ = ["constant_initializer", "glorot_normal_initializer", "glorot_uniform_initializer", "ones_initializer",
           "orthogonal_initializer", "random_normal_initializer", "random_uniform_initializer",
           "truncated_normal_initializer", "uniform_unit_scaling_initializer", "variance_scaling_initializer",
           "zeros_initializer"]

global_variables, local_variables = global_variables_initializer, local_variables_initializer
variables = variables_initializer

_MODES = {"fan_in": _core.FanMode.FAN_IN, "fan_out": _core.FanMode.FAN_OUT, "fan_avg": _core.FanMode.FAN_AVG}
_DISTRIBUTIONS = {"normal": _core.ScalingDistribution.TRUNCATED_NORMAL,
                  "truncated_normal": _core.ScalingDistribution.TRUNCATED_NORMAL,
                  "untruncated_normal": _core.ScalingDistribution.UNTRUNCATED_NORMAL,
                  "uniform": _core.ScalingDistribution.UNIFORM}


def _floating(dtype):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


class Initializer:
    """The base class of initializers, which return a tensor of a given shape.

    The attributes of an object are its arguments, so it can be pickled. The method `_native` makes the C++ initializer
    from them.
    """

    def _native(self):
        raise NotImplementedError(f"{type(self).__name__} must define __call__")

    def __call__(self, shape, dtype=None, partition_info=None):
        kind = self.dtype if dtype is None else dtypes.as_dtype(dtype)
        return self._native()(graphs.get_default_graph(), TensorShape(shape).as_list(), kind.as_datatype_enum)

    def get_config(self):
        """The arguments of the constructor."""
        config = {key: value for key, value in vars(self).items() if not key.startswith("_")}
        config["dtype"] = self.dtype.name
        return config

    @classmethod
    def from_config(cls, config):
        """The initializer that `get_config` described."""
        return cls(**config)


class Zeros(Initializer):
    """All elements 0."""

    def __init__(self, dtype=dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    def _native(self):
        return _core.zeros_initializer()


class Ones(Initializer):
    """All elements 1."""

    def __init__(self, dtype=dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    def _native(self):
        return _core.ones_initializer()


class Constant(Initializer):
    """A number, or an array that has the shape of the variable, or as many elements."""

    def __init__(self, value=0, dtype=dtypes.float32, verify_shape=False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(f"Invalid type for initial value={value} of type: {type(value).__name__}. "
                            "Expected Python scalar, list or tuple of values, or numpy.ndarray.")
        self.value = value
        self.dtype = dtypes.as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(self, shape, dtype=None, partition_info=None, verify_shape=None):
        verify = self._verify_shape if verify_shape is None else verify_shape
        kind = self.dtype if dtype is None else dtype
        if np.isscalar(self.value) and not verify and math.prod(TensorShape(shape).as_list()) >= 2**31:
            return arrays.fill(arrays.index_array(TensorShape(shape).as_list()), graphs.constant(self.value, kind))
        return graphs.constant(self.value, kind, shape, verify_shape=verify)


class RandomUniform(Initializer):
    """Numbers from [minval, maxval)."""

    def __init__(self, minval=0.0, maxval=None, seed=None, dtype=dtypes.float32):
        self.minval, self.maxval, self.seed = minval, maxval, arguments.seed(seed)
        self.dtype = dtypes.as_dtype(dtype)
        if not self.dtype.is_floating:
            raise NotImplementedError("random_uniform_initializer of integers")

    def _native(self):
        return _core.random_uniform_initializer(self.minval, 1.0 if self.maxval is None else self.maxval, self.seed)


class RandomNormal(Initializer):
    """Numbers of a normal distribution."""

    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=dtypes.float32):
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, arguments.seed(seed), _floating(dtype)

    def _native(self):
        return _core.random_normal_initializer(self.mean, self.stddev, self.seed)


class TruncatedNormal(Initializer):
    """Numbers of a normal distribution without those more than two deviations from the mean."""

    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=dtypes.float32):
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, arguments.seed(seed), _floating(dtype)

    def _native(self):
        return _core.truncated_normal_initializer(self.mean, self.stddev, self.seed)


class UniformUnitScaling(Initializer):
    """Uniform numbers that keep the scale of a layer's input."""

    def __init__(self, factor=1.0, seed=None, dtype=dtypes.float32):
        self.factor, self.seed = arguments.number("factor", factor), arguments.seed(seed)
        self.dtype = _floating(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        dims = TensorShape(shape if partition_info is None else partition_info.full_shape).as_list()
        inputs = max(1.0, float(np.prod(dims[:-1], dtype=np.float64)) if dims else 1.0)
        limit = float(np.sqrt(3.0 / inputs)) * self.factor
        return RandomUniform(-limit, limit, self.seed, self.dtype if dtype is None else dtype)(shape)


class VarianceScaling(Initializer):
    """Random numbers with mean 0 and variance scale / fan, the number of inputs or outputs of a unit."""

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None, dtype=dtypes.float32):
        if arguments.number("scale", scale) <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in _MODES:
            raise ValueError(f"Argument `mode` should be one of {sorted(_MODES)}. Received: {mode}")
        if arguments.text("distribution", distribution).lower() not in _DISTRIBUTIONS:
            raise ValueError(f"Argument `distribution` should be one of {sorted(_DISTRIBUTIONS)}. Received: "
                             f"{distribution}")
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution.lower(), arguments.seed(seed)
        self.dtype = _floating(dtype)

    def _native(self):
        return _core.variance_scaling_initializer(self.scale, _MODES[self.mode], _DISTRIBUTIONS[self.distribution],
                                                  self.seed)


class Orthogonal(Initializer):
    """gain times a random matrix with orthogonal rows or columns."""

    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        self.gain, self.seed, self.dtype = gain, arguments.seed(seed), _floating(dtype)

    def _native(self):
        return _core.orthogonal_initializer(self.gain, self.seed)


class Identity(Initializer):
    """gain, a number or a matrix, on the diagonal of a matrix, and 0 elsewhere."""

    def __init__(self, gain=1.0, dtype=dtypes.float32):
        self.gain, self.dtype = gain, _floating(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        if np.ndim(self.gain) == 0:
            return super().__call__(shape, dtype, partition_info)
        ones = Identity(1.0, self.dtype)(shape, dtype)
        return ones * np.asarray(self.gain, ones.dtype.as_numpy_dtype)

    def _native(self):
        return _core.identity_initializer(self.gain)


class GlorotUniform(VarianceScaling):
    """Uniform with variance 2 / (inputs + outputs)."""

    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)

    def get_config(self):
        return {"seed": self.seed, "dtype": self.dtype.name}


class GlorotNormal(GlorotUniform):
    """Truncated normal with variance 2 / (inputs + outputs)."""

    def __init__(self, seed=None, dtype=dtypes.float32):
        VarianceScaling.__init__(self, 1.0, "fan_avg", "truncated_normal", seed, dtype)


def _scaled(name, scale, distribution):
    def make(seed=None):
        return VarianceScaling(scale, "fan_in", distribution, seed)

    return named(make, name, f"VarianceScaling of {scale} over the inputs, {distribution}.")


he_normal = _scaled("he_normal", 2.0, "truncated_normal")
he_uniform = _scaled("he_uniform", 2.0, "uniform")
lecun_normal = _scaled("lecun_normal", 1.0, "truncated_normal")
lecun_uniform = _scaled("lecun_uniform", 1.0, "uniform")

zeros = zeros_initializer = Zeros
ones = ones_initializer = Ones
constant = constant_initializer = Constant
random_uniform = random_uniform_initializer = RandomUniform
random_normal = random_normal_initializer = RandomNormal
truncated_normal = truncated_normal_initializer = TruncatedNormal
uniform_unit_scaling = uniform_unit_scaling_initializer = UniformUnitScaling
variance_scaling = variance_scaling_initializer = VarianceScaling
orthogonal = orthogonal_initializer = Orthogonal
glorot_uniform = glorot_uniform_initializer = GlorotUniform
glorot_normal = glorot_normal_initializer = GlorotNormal
identity = Identity
