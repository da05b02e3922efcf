"""Modules that TensorFlow has below tensorflow.python only. The runner finds them there (runner/api.py)."""
