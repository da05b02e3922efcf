"""tf.contrib.tpu: estimators of programs that were written for TPUs, which run on CPUs here."""

from tensorbraid.estimator.tpu import (  # noqa: F401
    InputPipelineConfig, RunConfig, TPUConfig, TPUEstimator, TPUEstimatorSpec)

__all__ = ["CrossShardOptimizer"]


class CrossShardOptimizer:
    """Refused: it sums gradients over the cores of TPUs."""

    def __init__(self, opt, reduction="weighted_mean", name="CrossShardOptimizer", subgroup_assignment=None):
        raise NotImplementedError("tf.contrib.tpu.CrossShardOptimizer: there are no TPUs in this package; use the "
                                  "optimizer itself, or set use_tpu to False")
