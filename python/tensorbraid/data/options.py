"""tf.data.Options. The library chooses by itself how it runs a dataset, so options are kept, but change nothing."""

import enum

from tensorbraid import _core, dtypes
from tensorbraid.internal import graphs

__all__ = []


class AutoShardPolicy(enum.IntEnum):
    """How tf.distribute, which this package lacks, would divide a dataset."""

    OFF, AUTO, FILE, DATA, HINT = -1, 0, 1, 2, 3


class AutotuneAlgorithm(enum.Enum):
    """How TensorFlow chooses numbers of threads."""

    DEFAULT, HILL_CLIMB, GRADIENT_DESCENT, MAX_PARALLELISM, STAGE_BASED = range(5)


class ExternalStatePolicy(enum.Enum):
    """TensorFlow's policy for copies of a dataset that has state outside of the graph."""

    WARN, IGNORE, FAIL = range(3)


class _Group:
    """Options with fixed names and types; None: not set."""

    _types, _defaults, _aliases = {}, {}, {}

    def __init__(self):
        self.__dict__.update({name: None for name in self._types})
        self.__dict__.update({name: default() for name, default in self._defaults.items()})

    def __getattr__(self, name):
        if name in self._aliases:
            return getattr(self, self._aliases[name])
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        name = self._aliases.get(name, name)
        if name not in self._types:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        if value is not None and not isinstance(value, self._types[name]):
            raise TypeError(f'Property "{name}" must be of type {self._types[name]}, got: {value} '
                            f"(type: {type(value)})")
        self.__dict__[name] = value

    def __eq__(self, other):
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def _merged(self, other):
        """These options, with what `other` sets in the place of theirs."""
        made = type(self)()
        for name in self._types:
            mine, its = self.__dict__[name], other.__dict__[name]
            both = isinstance(mine, _Group)
            default = type(self)._defaults.get(name, lambda: None)
            made.__dict__[name] = mine._merged(its) if both else mine if its is None or its == default() else its
        return made


class ThreadingOptions(_Group):
    """Numbers of threads."""

    _types = {"max_intra_op_parallelism": int, "private_threadpool_size": int}


class AutotuneOptions(_Group):
    """Options of TensorFlow's tuner for running datasets."""

    _types = {"autotune_algorithm": AutotuneAlgorithm, "cpu_budget": int, "enabled": bool, "initial_parallelism": int,
              "min_parallelism": int, "ram_budget": int}


class OptimizationOptions(_Group):
    """Changes of the graph of a dataset."""

    _types = {name: bool for name in (
        "apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch",
        "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization", "noop_elimination",
        "parallel_batch", "seq_interleave_prefetch", "shuffle_and_repeat_fusion")}


class DistributeOptions(_Group):
    """For tf.distribute."""

    _types = {"auto_shard_policy": AutoShardPolicy, "num_devices": int}
    _defaults = {"auto_shard_policy": lambda: AutoShardPolicy.AUTO}


class Options(_Group):
    """Options of a dataset, for Dataset.with_options."""

    _types = {"autotune": AutotuneOptions, "deterministic": bool, "experimental_distribute": DistributeOptions,
              "experimental_external_state_policy": ExternalStatePolicy,
              "experimental_optimization": OptimizationOptions, "experimental_slack": bool,
              "experimental_symbolic_checkpoint": bool, "experimental_warm_start": bool, "threading": ThreadingOptions,
              "dataset_name": str, "framework_type": list}
    _defaults = {"autotune": AutotuneOptions, "experimental_distribute": DistributeOptions,
                 "experimental_optimization": OptimizationOptions, "threading": ThreadingOptions}
    _aliases = {"experimental_deterministic": "deterministic", "experimental_threading": "threading"}

    def merge(self, options):
        """These options, with what the others set in the place of theirs."""
        return self._merged(options)


def with_options(dataset, options):
    """The dataset with options; those that it has already are kept if the new ones do not set them."""
    if not isinstance(options, Options):
        raise TypeError(f"with_options takes a tf.data.Options, got {options!r}")
    variant = graphs.make_op("Identity", [dataset._variant_tensor]).outputs[0]
    made = dataset._like(lambda: _core.Dataset(variant, dataset._core.element).copy_to_device(dataset._core.device))
    _kept(made)[made._variant_tensor.op.name] = Options().merge(options)
    return made


def options_of(dataset):
    """The options that the dataset, and the datasets that it is made of, have."""
    kept, found, rest, seen = _kept(dataset), [], [dataset._variant_tensor.op], set()
    while rest:
        op = rest.pop()
        if op.name in seen:
            continue
        seen.add(op.name)
        if op.name in kept:
            found.append(kept[op.name])
        rest += [tensor.op for tensor in op.inputs if tensor.dtype == dtypes.variant]
    merged = Options()
    for options in reversed(found):  # those that are nearest to the dataset come last, and win
        merged = merged.merge(options)
    return merged


def _kept(dataset):
    """The options of the graph's datasets, by the names of their nodes."""
    return vars(graphs.graph_of([dataset._variant_tensor])).setdefault("_dataset_options", {})
