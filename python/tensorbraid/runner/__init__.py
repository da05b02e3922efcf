"""Runs scripts that were written for TensorFlow 1: `python -m tensorbraid SCRIPT`."""

__all__ = []
