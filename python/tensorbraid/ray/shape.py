"""The tasks of a job and what each needs: names, resources, the cluster that they form. Works without Ray."""

import json
import math
import numbers

__all__ = []

PLACEMENTS = ("SPREAD", "PACK", "STRICT_SPREAD", "STRICT_PACK")  # Ray's words
MAX_TASKS = 1000


def check_resources(resources, name):
    """The resources as a dict of floats. ValueError, which names the argument, for anything else."""
    if not isinstance(resources, dict) or not resources:
        raise ValueError('%s=%r: it must be a dict of resources, such as {"CPU": 1, "GPU": 1}' % (name, resources))
    for key, amount in resources.items():
        is_number = isinstance(amount, numbers.Real) and not isinstance(amount, bool)
        if not isinstance(key, str) or not is_number or not math.isfinite(amount) or amount < 0:
            raise ValueError("%s: %r: %r is no amount of a resource; it must be a number that is not negative"
                             % (name, key, amount))
    if not any(resources.values()):
        raise ValueError("%s=%r: Ray places a task by what it needs, so one amount must be above 0" % (name, resources))
    return {key: float(amount) for key, amount in resources.items() if amount}


def parse_resources(text):
    """The resources that "CPU=1,GPU=0.5" names. ValueError for another text."""
    resources = {}
    for part in text.split(","):
        name, _, amount = part.partition("=")
        try:
            resources[name] = float(amount)
        except ValueError:
            raise ValueError("%r in %r: resources are given as in CPU=1,GPU=1" % (part, text)) from None
    return check_resources(resources, "resources")


class Shape:
    """The tasks of a job, parameter servers first, and the resources of each.

    With `chief`, the first worker is the task chief/0. With `evaluator`, the job has one more task, evaluator/0, with
    the resources of a worker.
    """

    def __init__(self, ps, workers, resources=None, ps_resources=None, placement="SPREAD", chief=False,
                 evaluator=False):
        for name, count, least in (("ps", ps, 0), ("workers", workers, 1)):
            if not isinstance(count, int) or isinstance(count, bool) or count < least:
                raise ValueError("%s=%r: it must be a whole number from %d on" % (name, count, least))
        if ps + workers + evaluator > MAX_TASKS:
            raise ValueError("ps=%d, workers=%d: a job has at most %d tasks" % (ps, workers, MAX_TASKS))
        if placement not in PLACEMENTS:
            raise ValueError("placement=%r: it must be one of %s" % (placement, ", ".join(PLACEMENTS)))
        self.placement = placement
        of_workers = check_resources({"CPU": 1} if resources is None else resources, "resources")
        of_ps = of_workers if ps_resources is None else check_resources(ps_resources, "ps_resources")
        jobs = (("ps", ps), ("chief", int(chief)), ("worker", workers - chief), ("evaluator", int(evaluator)))
        self.tasks = ["%s/%d" % (job, i) for job, count in jobs for i in range(count)]
        self.resources = [of_ps] * ps + [of_workers] * (workers + evaluator)

    def tf_configs(self, addresses):
        """The value of TF_CONFIG for each task, given the address of each."""
        cluster = {}
        for task, address in zip(self.tasks, addresses, strict=True):
            cluster.setdefault(task.split("/")[0], []).append(address)
        places = (task.split("/") for task in self.tasks)
        return [json.dumps({"cluster": cluster, "task": {"type": job, "index": int(index)}}) for job, index in places]


def amounts(resources):
    """The resources in words: "CPU 2, GPU 1"."""
    return ", ".join("%s %g" % item for item in sorted(resources.items()))


def request(resources):
    """The resources that a job requests, in words: "3 x (CPU 1), 1 x (CPU 2, GPU 1)"."""
    kinds = {}
    for each in resources:
        kinds[amounts(each)] = kinds.get(amounts(each), 0) + 1
    return ", ".join("%d x (%s)" % (count, kind) for kind, count in kinds.items())
