"""Helpers of programs with several replicas: timeouts, the config of their sessions, and threads."""
import threading

import tensorflow as tf

tf1 = tf.compat.v1
# A step that takes longer than this counts as hung.
PATIENCE_MS = 60000
# At the end of synchronous training the chief's queue runner waits for gradients that no worker sends any more. The
# client waits this long for the queue runner, and then closes the session that it uses.
GRACE_SECONDS = 1


def config():
    return tf1.ConfigProto(operation_timeout_in_ms=PATIENCE_MS, allow_soft_placement=True)


class Threads:
    """Runs each replica on a thread of its own. join raises the first exception of any replica."""

    def __init__(self):
        self._threads = []
        self._errors = []

    def start(self, function, *args):
        def run():
            try:
                function(*args)
            except BaseException as e:  # pylint: disable=broad-except
                self._errors.append(e)
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self._threads.append(thread)

    def join(self, seconds=120):
        for thread in self._threads:
            thread.join(seconds)
        if self._errors:
            raise self._errors[0]
        if any(t.is_alive() for t in self._threads):
            raise TimeoutError("a replica does not end")
