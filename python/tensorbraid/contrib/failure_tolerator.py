"""tf.contrib.training.FailureTolerator: repeats work that fails for a while."""

import contextlib
import time

import tensorbraid as tf

__all__ = ["FailureTolerator"]


class FailureTolerator:
    """Suppresses some errors of `with tolerator.forgive():` blocks, and delays the block after such an error.

    Errors that are older than `forgive_after_seconds`, not counting the delays, no longer count towards the limit.
    Not thread-safe.
    """

    def __init__(self, limit=5, init_delay=5.0, backoff_factor=2.0, forgive_after_seconds=6000,
                 handled_exceptions=None):
        """Makes the object.

        Args:
            limit: The number of errors that count at which an error is raised.
            init_delay: The delay after the first error, in seconds.
            backoff_factor: The factor of the delay for each further error.
            forgive_after_seconds: After how long an error does not count any more.
            handled_exceptions: The classes of errors; by default tf.errors.AbortedError.
        """
        self.limit, self.delay, self.backoff, self.forgive_after = (
            limit, init_delay, backoff_factor, forgive_after_seconds)
        self.handled = (tf.errors.AbortedError,) if handled_exceptions is None else tuple(handled_exceptions)
        self.exceptions = []  # their times, without delays
        self.time_in_delay = 0.0

    def _now(self):
        return time.time() - self.time_in_delay

    def _forgive_old(self):
        now = self._now()
        self.exceptions = [at for at in self.exceptions if now - at < self.forgive_after]

    @contextlib.contextmanager
    def forgive(self):
        """A context for work that may fail. Waits first if earlier work has failed."""
        self._forgive_old()
        if self.exceptions:
            delay = self.delay * self.backoff ** (len(self.exceptions) - 1)
            tf.logging.warning("Sleeping for %f seconds before resuming", delay)
            time.sleep(delay)
            self.time_in_delay += delay
        try:
            yield
        except self.handled:
            self._forgive_old()
            self.exceptions.append(self._now())
            if len(self.exceptions) >= self.limit:
                raise
            tf.logging.warning("Forgiving an exception", exc_info=True)
