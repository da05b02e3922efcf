"""`python -m tensorbraid.ray`: the agents of `tensorbraid launch --on=ray`, which runs this command."""

import argparse
import os
import sys

from tensorbraid import errors
from tensorbraid.ray import agents
from tensorbraid.ray.shape import Shape, parse_resources


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m tensorbraid.ray", description=__doc__)
    parser.add_argument("--ps", type=int, default=1, help="number of parameter servers")
    parser.add_argument("--workers", type=int, default=2, help="number of workers")
    parser.add_argument("--chief", action="store_true", help="name the first worker chief/0")
    parser.add_argument("--evaluator", action="store_true", help="add the task evaluator/0")
    parser.add_argument("--resources", help="of each task: CPU=1,GPU=1")
    parser.add_argument("--ps_resources", help="of each parameter server, if they are others")
    parser.add_argument("--placement", default="SPREAD", help="the strategy of the placement group")
    parser.add_argument("--wait_s", type=float, default=300, help="how long to wait for the resources")
    parser.add_argument("--address", default="auto", help="of the Ray cluster")
    parser.add_argument("--sync", help="a directory that Ray brings to the nodes")
    parser.add_argument("--program", required=True, help="tensorbraid on the nodes")
    options = parser.parse_args(arguments)
    os.environ.setdefault("RAY_RUNTIME_ENV_IGNORE_GITIGNORE", "1")  # programs are built, so git ignores them
    channel = agents.Channel()
    try:
        resources, ps_resources = (text and parse_resources(text) for text in (options.resources, options.ps_resources))
        job = Shape(options.ps, options.workers, resources, ps_resources, options.placement, options.chief,
                    options.evaluator)
        agents.start(job, options, channel)
    except (ImportError, RuntimeError, ValueError, ConnectionError, errors.OpError) as error:
        channel.refuse("", code_of(error), " ".join(str(error).split()))


def code_of(error):
    """The code that fits an exception. A cluster that cannot be reached raises several kinds."""
    if isinstance(error, ImportError):
        return errors.FAILED_PRECONDITION
    if isinstance(error, ValueError):
        return errors.INVALID_ARGUMENT
    return getattr(error, "error_code", errors.UNAVAILABLE)


if __name__ == "__main__":
    main(sys.argv[1:])
