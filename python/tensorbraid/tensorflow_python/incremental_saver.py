"""tensorflow.python.training.incremental_saver of DeepRec: saves increments to the path that a program gives."""

import os

__all__ = []

_FOLDER = ".incremental_checkpoint"


class _IncrementalSaver:
    """Saves the increments of a saver."""

    def __init__(self, saver):
        saver._allow_increments()
        self._saver = saver

    def incremental_save(self, sess, save_path, global_step=None):
        """As Saver.incremental_save, also for a path in the folder that has the increments of the one above."""
        folder, name = os.path.split(str(save_path))
        above, last = os.path.split(folder)
        return self._saver.incremental_save(sess, os.path.join(above, name) if last == _FOLDER else save_path, global_step)


def _get_incremental_saver(incremental_save_restore, saver):
    """The object that saves the increments of a saver; None if there are to be none."""
    return _IncrementalSaver(saver) if incremental_save_restore else None
