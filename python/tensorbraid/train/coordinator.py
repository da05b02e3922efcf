"""Threads that run beside the training loop, and their coordinator."""

import atexit
import contextlib
import sys
import threading
import time
import weakref

from tensorbraid import _core, errors
from tensorbraid.internal import arguments

__all__ = ["Coordinator", "LooperThread"]

_live = weakref.WeakSet()  # coordinators that may have threads of C++


class Coordinator:
    """Lets threads stop together: those of Python that are registered, and those of queue runners, which are in C++."""

    def __init__(self, clean_stop_exception_types=None):
        self._core = _core.Coordinator()
        with arguments.named("clean_stop_exception_types", "a tuple of classes of exceptions",
                             clean_stop_exception_types):
            self._clean = tuple(clean_stop_exception_types or (errors.OutOfRangeError,))
        self._lock = threading.Lock()
        self._exception = None
        self._registered = []
        self._joined = False
        _live.add(self)

    @classmethod
    def _wrap(cls, core):
        """The coordinator for one of a training loop."""
        coordinator = cls()
        coordinator._core = core
        return coordinator

    def request_stop(self, ex=None):
        """Asks all threads to stop. The first exception is kept for join; one of the clean types counts as none."""
        if isinstance(ex, tuple):  # as sys.exc_info returns
            ex = ex[1]
        with self._lock:
            if self._joined:
                if ex is not None:
                    raise ex
                return
            if isinstance(ex, self._clean):
                ex = None
            cancelled = isinstance(ex, errors.CancelledError) and self._core.should_stop()
            if ex is not None and self._exception is None and not cancelled:
                self._exception = ex
        self._core.request_stop(ex)

    def clear_stop(self):
        """Makes should_stop False again, so that the coordinator can be used for other threads."""
        with self._lock:
            self._core = _core.Coordinator()
            self._exception = None
            self._joined = False

    def should_stop(self):
        """Whether a stop was requested."""
        return self._core.should_stop()

    def wait_for_stop(self, timeout=None):
        """Blocks until a stop is requested, for at most `timeout` seconds. Returns whether it was."""
        return self._core.wait_for_stop(1e9 if timeout is None else timeout)

    @contextlib.contextmanager
    def stop_on_exception(self):
        """An exception inside of the `with` requests a stop, and ends there."""
        try:
            yield
        except Exception as error:  # whatever a thread raises is for join
            self.request_stop(error)

    def register_thread(self, thread):
        """Lets `join` wait for this thread, too."""
        with self._lock:
            self._registered.append(thread)

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        """Waits for the threads, and raises the exception with which one requested a stop.

        Threads of Python that have not ended `stop_grace_period_secs` after the request raise RuntimeError.
        """
        threads = [] if threads is None else arguments.items("threads", threads, "a list of threads")
        with self._lock:
            threads = list(dict.fromkeys(self._registered + [t for t in threads if not isinstance(t, _Runner)]))
        while any(t.is_alive() for t in threads) and not self.wait_for_stop(0.1):
            pass
        end = time.monotonic() + stop_grace_period_secs
        for thread in threads:
            thread.join(max(end - time.monotonic(), 0))
        error = None
        try:
            self._core.join()
        except errors.OpError as ended:
            error = ended
        live = [t.name for t in threads if t.is_alive()]
        with self._lock:
            self._joined = True
            self._registered = []
        if self._exception is not None:
            raise self._exception
        if error is not None:
            raise error
        if live and not ignore_live_threads:
            raise RuntimeError("Coordinator stopped with threads still running: " + " ".join(live))

    @property
    def joined(self):
        """Whether `join` has ended."""
        return self._joined

    def raise_requested_exception(self):
        """Raises the error with which a stop was requested, if there is one."""
        if self._exception is not None:
            raise self._exception
        self._core.raise_error()


class _Runner:
    """Stands for a thread of C++ in the lists that TensorFlow's functions return. Coordinator.join waits for it."""

    daemon = True

    def __init__(self, name, coordinator):
        self.name = name
        self._coordinator = coordinator

    def start(self):
        """Does nothing: the thread was started when it was made."""

    def join(self, timeout=None):
        """Waits until a stop is requested, for at most `timeout` seconds."""
        self._coordinator.wait_for_stop(timeout)

    def is_alive(self):
        return not self._coordinator.joined


class LooperThread(threading.Thread):
    """Calls run_loop, or `target`, once per interval until the coordinator stops; 0: without a pause."""

    def __init__(self, coord, timer_interval_secs, target=None, args=None, kwargs=None):
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__(daemon=True)
        self._coord = coord
        self._interval = timer_interval_secs
        self._call = (target, tuple(args or ()), dict(kwargs or {}))
        coord.register_thread(self)

    @staticmethod
    def loop(coord, timer_interval_secs, target, args=None, kwargs=None):
        """Makes such a thread, and starts it."""
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self):
        """Calls `run_loop` until a stop is requested."""
        with self._coord.stop_on_exception():
            self.start_loop()
            while not self._coord.should_stop():
                self.run_loop()
                if self._interval:
                    self._coord.wait_for_stop(self._interval)
            self.stop_loop()

    def start_loop(self):
        """Called once before the loop."""

    def stop_loop(self):
        """Called once after the loop."""

    def run_loop(self):
        """Runs one round of the thread's loop: calls the target."""
        target, args, kwargs = self._call
        if target:
            target(*args, **kwargs)


@atexit.register
def _end_threads():
    """The threads of C++ must not use a session while Python ends."""
    for coordinator in list(_live):
        try:
            coordinator._core._abandon()
        except Exception as error:  # the other coordinators still have to end
            print(f"a coordinator could not end its threads: {error}", file=sys.stderr)
