"""How accelerators compute, for the whole process. A switch changes the programs that are compiled later."""

from tensorbraid import _core

__all__ = ["disable_op_determinism", "enable_op_determinism", "enable_tensor_float_32_execution",
           "is_op_determinism_enabled", "tensor_float_32_execution_enabled"]


def enable_tensor_float_32_execution(enabled):
    """Says whether matrix products and convolutions of float32 may round their operands to 10 bits of mantissa.

    GPUs that can do so are faster then. They may at first, unless the environment has NVIDIA_TF32_OVERRIDE=0.
    """
    _core.allow_tensor_float_32(bool(enabled))


def tensor_float_32_execution_enabled():
    """Whether matrix products and convolutions of float32 may round their operands to 10 bits of mantissa."""
    return _core.allows_tensor_float_32()


def enable_op_determinism():
    """Makes GPUs give the same bits in each run of the same steps, which may be slower.

    TF_DETERMINISTIC_OPS=1 and TF_CUDNN_DETERMINISTIC=1 in the environment do so from the start. Set the seeds of random
    ops, too. The kernels of the CPU are not changed.
    """
    _core.require_determinism(True)


def disable_op_determinism():
    """Ends what enable_op_determinism began."""
    _core.require_determinism(False)


def is_op_determinism_enabled():
    """Whether GPUs have to give the same bits in each run."""
    return _core.requires_determinism()
