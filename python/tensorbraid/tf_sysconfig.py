"""tf.sysconfig. A library of custom ops is compiled with the CMake package of the C++ library (docs/custom_ops.md), so
this package has no headers and refuses to name them."""

__all__ = []

_REASON = "the package has no {} for custom ops; find_package(tensorbraid) of CMake has them, see docs/custom_ops.md"


def get_include():
    """The folder of the headers, which the package does not have."""
    raise NotImplementedError(_REASON.format("headers"))


def get_lib():
    """The folder of the library, which the package does not have for others."""
    raise NotImplementedError(_REASON.format("library"))


def get_compile_flags():
    """Options of a compiler, which the package does not have."""
    raise NotImplementedError(_REASON.format("headers"))


def get_link_flags():
    """Options of a linker, which the package does not have."""
    raise NotImplementedError(_REASON.format("library"))


def get_build_info():
    """The features with which the package was built."""
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}
