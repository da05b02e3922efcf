"""tf.sysconfig. The package has no headers and no library for ops of a program's own, so it refuses to name them."""

__all__ = []

_REASON = "the package has no {} for ops of a program's own; add the op to the C++ library"


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
    """What the package was built for."""
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}
