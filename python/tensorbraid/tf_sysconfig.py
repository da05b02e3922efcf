"""tf.sysconfig. The package has no headers and no library for ops of a program's own, so it refuses to name them."""

__all__ = []

_REASON = "the package has no {} for ops of a program's own; add the op to the C++ library"


def get_include():
    raise NotImplementedError(_REASON.format("headers"))


def get_lib():
    raise NotImplementedError(_REASON.format("library"))


def get_compile_flags():
    raise NotImplementedError(_REASON.format("headers"))


def get_link_flags():
    raise NotImplementedError(_REASON.format("library"))


def get_build_info():
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}
