"""tensorflow.python.keras.utils.tf_utils: what depends on what in a graph."""

import tensorbraid as tf

__all__ = ["get_reachable_from_inputs"]


def get_reachable_from_inputs(inputs, targets=None):
    """The set of tensors, variables and operations that depend on `inputs`, and these; less once it has all targets.

    Nothing depends on a number among the inputs, such as a learning phase that was set.
    """
    reached, waiting = set(inputs), [x for x in inputs if not isinstance(x, int)]
    missing = set(targets) - reached if targets else None
    while waiting and missing != set():
        x = waiting.pop()
        if isinstance(x, tf.Operation):
            after = x.outputs
        elif isinstance(x, tf.Variable):
            after = [*x.handle.consumers()]
        elif isinstance(x, tf.Tensor):
            after = x.consumers()
        else:
            raise TypeError(f"Expected Operation, Variable, or Tensor, got {x}")
        for found in after:
            if found not in reached:
                reached.add(found)
                waiting.append(found)
                if missing:
                    missing.discard(found)
    return reached
