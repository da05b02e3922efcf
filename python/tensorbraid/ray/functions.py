"""Runs a Python function as the tasks of a job."""

import re
import time

from tensorbraid import tf_logging
from tensorbraid.ray import actors, keys, placement
from tensorbraid.ray.shape import Shape
from tensorbraid.ray.task_errors import TaskError, TaskLostError, first_cause

__all__ = []

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # Ray colours the tracebacks


def run(function, args=(), kwargs=None, *, ps=1, workers=2, resources=None, ps_resources=None, placement="SPREAD",
        restarts=0, wait_s=300, grace_s=30, insecure=False):
    """Runs a function as each task of a cluster on Ray. Returns the results by the tasks' names, such as "worker/0".

    The function is called as `function(*args, **kwargs)` in an actor for each task, and finds its task by
    `tf.train.find_task()`. A parameter server calls `join` of its server. Each task reserves its resources, by default
    one CPU, in a placement group, whose strategy `placement` is one of Ray's. If `ray.init` was not called, this calls
    it without arguments, which uses the cluster that RAY_ADDRESS names, or makes one on this machine.

    The tasks have keys and certificates for this job only, which they and this make with the program `tensorbraid`,
    unless all are on one machine or `insecure` is True. No key leaves its task.

    When a task fails, the others have `grace_s` seconds to end by themselves. Then all are started again, at most
    `restarts` times; a function that saves checkpoints goes on from the latest. Blocks until the job has ended.

    Raises TaskError for an exception of the function, TaskLostError if a node or a process has died,
    ResourceExhaustedError if Ray does not place the tasks within `wait_s` seconds, and ValueError for wrong arguments.
    """
    if not callable(function):
        raise ValueError("function=%r: it must be callable; 'tensorbraid launch --on=ray' starts programs"
                         % (function,))
    shape = Shape(ps, workers, resources, ps_resources, placement)
    for name, value in (("restarts", restarts), ("wait_s", wait_s), ("grace_s", grace_s)):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
            raise ValueError("%s=%r: it must be a number that is not negative" % (name, value))
    if restarts != int(restarts):
        raise ValueError("restarts=%r: it must be a whole number" % (restarts,))
    return _Job(shape, (function, tuple(args), dict(kwargs or {})), wait_s, grace_s, insecure).run(restarts)


class _Job:
    def __init__(self, shape, call, wait_s, grace_s, insecure):
        self._ray = placement.import_ray()
        self._shape = shape
        self._call = call
        self._wait_s = wait_s
        self._grace_s = grace_s
        self._insecure = insecure
        if not self._ray.is_initialized():
            placement.check_address("auto")
            self._ray.init()

    def run(self, restarts):
        while True:
            with placement.Placement(self._shape, self._wait_s, tf_logging.warning) as place:
                started = [place.start_actor(number, actors.FunctionActor, task)
                           for number, task in enumerate(self._shape.tasks)]
                try:
                    return self._run_once(place, started)
                except TaskError as error:
                    if restarts == 0:
                        raise
                    restarts -= 1
                    tf_logging.warning("%s; the job is started again, and may be %d more times", error, restarts)
                finally:
                    for actor in started:
                        self._ray.kill(actor)

    def _run_once(self, place, started):
        is_local = len(set(place.hosts)) == 1
        makes_keys = not is_local and not self._insecure
        prepared = self._collect(place, [actor.prepare.remote(makes_keys) for actor in started], 0)
        for number, (_, _, problem) in enumerate(prepared):
            if problem:
                raise TaskError(self._shape.tasks[number], place.nodes[number], problem)
        ports, requests, _ = zip(*prepared, strict=True)
        environment = {} if is_local or makes_keys else {"TENSORBRAID_INSECURE": "1"}
        hosts = ["127.0.0.1"] * len(started) if is_local else place.hosts
        files = [{}] * len(started)
        if makes_keys:
            certificates, authority = keys.certify(hosts, requests)
            files = [{"TENSORBRAID_TLS_CERT": each, "TENSORBRAID_TLS_CA": authority} for each in certificates]
        addresses = ["%s:%d" % ("[%s]" % host if ":" in host else host, port)
                     for host, port in zip(hosts, ports, strict=True)]
        call = self._ray.put(self._call)
        results = self._collect(
            place, [actor.run.remote(call, {**environment, "TF_CONFIG": tf_config}, own) for
                    actor, tf_config, own in zip(started, self._shape.tf_configs(addresses), files, strict=True)],
            self._grace_s)
        return dict(zip(self._shape.tasks, results, strict=True))

    def _collect(self, place, references, grace_s):
        """The values of the references, one for each task. If one fails, waits `grace_s` for the others, and raises."""
        number_of = {reference: number for number, reference in enumerate(references)}
        values = [None] * len(references)
        failures = []
        give_up = None
        while number_of:
            left = None if give_up is None else max(0, give_up - time.monotonic())
            done, _ = self._ray.wait(list(number_of), timeout=left)
            if not done:
                break
            number = number_of.pop(done[0])
            task, node = self._shape.tasks[number], place.nodes[number]
            try:
                values[number] = self._ray.get(done[0])
                continue
            except self._ray.exceptions.RayTaskError as error:
                text = _COLOURS.sub("", str(error)).strip()
                failure = TaskError(task, node, "has failed: %s\n%s" % (text.splitlines()[-1], text))
                failure.__cause__ = error.cause
            except self._ray.exceptions.RayError as error:
                failure = TaskLostError(task, node, "was lost: " + place.why_lost(number, error))
                failure.__suppress_context__ = True  # Ray's error says the same at length
            failures.append(failure)
            if give_up is None:
                give_up = time.monotonic() + grace_s
                if number_of:
                    tf_logging.warning("%s; the others have %g s to end", str(failure).splitlines()[0], grace_s)
        if failures:
            raise first_cause(failures)
        return values
