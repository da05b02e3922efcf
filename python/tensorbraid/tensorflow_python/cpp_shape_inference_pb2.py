"""tensorflow.python.framework.cpp_shape_inference_pb2: messages about the shapes behind handles."""

from tensorbraid import proto

__all__ = []


def __getattr__(name):
    if name in ("CppShapeInferenceInputsNeeded", "CppShapeInferenceResult"):
        return getattr(proto, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
