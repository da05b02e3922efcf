"""Listeners of a CheckpointSaverHook."""

__all__ = ["CheckpointSaverListener"]


class CheckpointSaverListener:
    """Is told when a CheckpointSaverHook saves. Subclasses replace the methods."""

    def begin(self):
        """Called before the session exists. The graph can be changed here."""

    def before_save(self, session, global_step_value):
        """Called before a checkpoint is written."""

    def after_save(self, session, global_step_value):
        """Called after a checkpoint was written. If it returns True, the training ends."""

    def end(self, session, global_step_value):
        """Called at the end of a training without an error, after the last checkpoint."""
