"""Usual tags of a graph in a SavedModel."""

GPU = "gpu"
SERVING = "serve"
TPU = "tpu"
TRAINING = "train"

__all__ = ["GPU", "SERVING", "TPU", "TRAINING"]
