"""Processes of this machine that share work. Each takes the next item when it is free."""
import multiprocessing
import os
import signal
from multiprocessing import connection

# A process starts as a copy of this one, so that what is imported is there at once. TensorFlow can be copied as long as
# it has not run anything.
_FORK = multiprocessing.get_context("fork")


class _Worker:
    def __init__(self, serve, others):
        self.pipe, their_pipe = _FORK.Pipe()
        self._process = _FORK.Process(target=self._main, args=(serve, their_pipe, others))
        self._process.start()
        their_pipe.close()
        self.item = None

    def _main(self, serve, pipe, others):
        os.setpgrp()
        # If another process had a copy of these ends, it would not be noticed that this program has ended.
        for worker in [self, *others]:
            worker.pipe.close()

        def items():
            try:
                while True:
                    pipe.send(None)
                    item = pipe.recv()
                    if item is None:
                        return
                    yield item
            except (EOFError, BrokenPipeError):  # this program was ended
                return

        serve(items(), lambda *result: pipe.send(result))

    def join(self):
        """Waits for the end of the process; what it has started ends with it. Returns how it ended."""
        self._process.join()
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        return self._process.exitcode


def share(items, count, serve, report):
    """Runs serve(items, report) in `count` processes, each with an iterator over the items that it is to do. What they
    report is reported here, in this process. Returns what was not done: [(item, reason)]. A process that ends early
    leaves the item that it was at undone, and the others do the rest. The item is None if a process failed before its
    first or after its last one."""
    rest = iter(items)
    workers, undone = [], []
    try:
        while True:
            # One after another, so that two do not choose the same ports.
            if count > 0:
                count -= 1
                workers.append(_Worker(serve, workers))
                ready = [workers[-1].pipe]
            elif workers:
                ready = connection.wait([w.pipe for w in workers])
            else:
                break
            for worker in [w for w in workers if w.pipe in ready]:
                try:
                    result = worker.pipe.recv()
                    if result is not None:
                        report(*result)
                        continue
                    worker.item = next(rest, None)
                    worker.pipe.send(worker.item)
                except (EOFError, BrokenPipeError, ConnectionResetError):
                    workers.remove(worker)
                    code = worker.join()
                    if worker.item is not None or code != 0:
                        undone.append((worker.item, f"its process ended with {code}"))
    finally:
        for worker in workers:
            worker.pipe.close()
            worker.join()
    return undone + [(item, "no process is left") for item in rest]
