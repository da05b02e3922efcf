"""Shares work among processes of this machine. Each process takes the next item when it is free."""
import multiprocessing
import os
import signal
from multiprocessing import connection

# A process starts as a copy of this process, so that it need not import modules again. A copy of TensorFlow works as
# long as TensorFlow has not run anything.
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
        # Closes this process's copies of the main process's ends of the pipes. Otherwise the pipes would stay open when
        # the main process ends, and the workers would wait for ever.
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
        """Waits for the end of the process, and kills the processes that it has started. Returns its exit code."""
        self._process.join()
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        return self._process.exitcode


def share(items, count, serve, report):
    """Runs serve(items, report) in `count` processes; `items` is an iterator over the items that the process is to do.
    A call of report there calls `report` here, in this process. Returns the items that were not done, with reasons:
    [(item, reason)]. If a process ends early, the item that it had is not done, and the other processes do the rest.
    The item is None if a process failed before its first item or after its last one."""
    rest = iter(items)
    workers, undone = [], []
    try:
        while True:
            # Processes start one after another, so that no two of them choose the same ports.
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
