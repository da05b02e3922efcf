"""The error for a name that a module of the package lacks."""

import difflib
import sys

__all__ = []


def error(module, name):
    """The AttributeError. It says why the name is refused, how TensorFlow 1.0 has renamed it, or which name is near."""
    from tensorbraid.runner import api, old_names  # which import the whole package

    path = f"{module}.{name}".removeprefix("tensorbraid.")
    reason = api.refusal(path)
    if reason:
        return AttributeError(f"tf.{path}: {reason}")
    text = f"module '{module}' has no attribute '{name}'"
    now = old_names.now(path)
    if now:
        return AttributeError(f"{text}: TensorFlow 1.0 has renamed tf.{path} to tf.{now}")
    near = difflib.get_close_matches(name, dir(sys.modules[module]), 1, 0.7)
    return AttributeError(f"{text}; did you mean '{near[0]}'?" if near else text)
