"""tensorflow.python.training.session_manager: SessionManager, and its function that tests whether a model is ready."""

import numpy as np

from tensorbraid import errors
from tensorbraid.train.session_manager import SessionManager  # noqa: F401

__all__ = ["SessionManager"]


def _ready(op, sess, msg):
    """(ready, message): ready is True if `op`, the names of uninitialized variables, has the value [] or is None.

    The message says why the model is not ready; it is None if it is.
    """
    if op is None:
        return True, None
    try:
        names = sess.run(op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            return False, f"{msg}: error: {error}"
        return False, str(error)
    if names is None or np.size(names) == 0:
        return True, None
    listed = ", ".join(name.decode() if isinstance(name, bytes) else str(name) for name in np.ravel(names))
    return False, f"{msg}: Variables not initialized: {listed}"
