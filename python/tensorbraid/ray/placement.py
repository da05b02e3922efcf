"""The placement group of a job: where Ray runs its tasks."""

import os
import socket
import sys
import time

from tensorbraid import errors
from tensorbraid.ray import actors, shape

__all__ = []

_SAY_EVERY_S = 10
_NODE_DEATH_S = 60  # how long to wait until Ray knows that a node has died


def import_ray():
    """The package ray. ImportError, with what to do, if it is not installed."""
    try:
        import ray
        import ray.util
    except ImportError as error:
        raise ImportError("%s has no package ray (%s): install it there, pip install ray, or use the Python of an "
                          "environment that has it" % (sys.executable, error)) from error
    ray.cloudpickle.register_pickle_by_value(actors)
    return ray


def check_address(address):
    """ConnectionError if nothing listens at the "host:port" of a cluster; Ray itself would try it for minutes.

    "auto" is the address in RAY_ADDRESS. Addresses of other forms are left to Ray.
    """
    if address == "auto":
        address = os.environ.get("RAY_ADDRESS", "auto")
    host, _, port = address.rpartition(":")
    if "/" in host or not host or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except OSError as error:
        raise ConnectionError("no Ray cluster answers at %s (%s); 'ray start --head' prints the address of one"
                              % (address, error)) from error


def _node_name(node):
    """The host name and the address, or only one if they are the same."""
    host, address = node["NodeManagerHostname"], node["NodeManagerAddress"]
    return address if host in ("", address) else "%s (%s)" % (host, address)


class Placement:
    """A bundle of resources on a ray node for each task. Use it in a `with` statement, which gives them back."""

    def __init__(self, job, wait_s, say):
        """Waits until the cluster has the resources; `say` gets a line of text now and then.

        ResourceExhaustedError, which names what is asked and what is free, if it has not within `wait_s` seconds.
        """
        self._ray = import_ray()
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        self._strategy = PlacementGroupSchedulingStrategy
        self._job = job
        self._group = self._ray.util.placement_group(job.resources, strategy=job.placement)
        try:
            self._wait(wait_s, say)
            table = self._ray.util.placement_group_table(self._group)
            self._node_ids = [table["bundles_to_node_id"][i] for i in range(len(job.tasks))]
            known = {node["NodeID"]: node for node in self._ray.nodes()}
            self.nodes = [_node_name(known[node_id]) for node_id in self._node_ids]  # of the tasks, in words
            self.hosts = [known[node_id]["NodeManagerAddress"] for node_id in self._node_ids]
        except BaseException:
            self._remove()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._remove()

    def _remove(self):
        self._ray.util.remove_placement_group(self._group)

    def _wait(self, wait_s, say):
        give_up = time.monotonic() + wait_s
        say_at = time.monotonic() + min(1, wait_s)
        while not self._group.wait(max(0, min(say_at, give_up) - time.monotonic())):
            if time.monotonic() >= give_up:
                raise errors.ResourceExhaustedError(
                    None, None, "Ray has not placed the tasks within %g s: %s. Ask for less, wait longer, add nodes, "
                    "or end other jobs" % (wait_s, self._want()))
            if time.monotonic() >= say_at:
                say("waiting for Ray to place the tasks: " + self._want())
                say_at = time.monotonic() + _SAY_EVERY_S

    def find_again(self, number, wait_s, say, ends):
        """Waits until the bundle of this task is on a node that lives: its own, or the one to which Ray moves it.

        ResourceExhaustedError if it is not within `wait_s` seconds, or when the event `ends` is set.
        """
        give_up = time.monotonic() + wait_s
        say_at = time.monotonic() + min(_SAY_EVERY_S, wait_s)
        while True:
            table = self._ray.util.placement_group_table(self._group)
            node_id = table["bundles_to_node_id"].get(number)
            node = next((node for node in self._ray.nodes() if node["NodeID"] == node_id and node["Alive"]), None)
            if node is not None and table["state"] == "CREATED":
                self._node_ids[number] = node_id
                self.nodes[number] = _node_name(node)
                self.hosts[number] = node["NodeManagerAddress"]
                return
            if ends.wait(0.5) or time.monotonic() >= give_up:
                raise errors.ResourceExhaustedError(None, None, "Ray has no other node for %s within %g s: %s"
                                                    % (self._job.tasks[number], wait_s, self._want()))
            if time.monotonic() >= say_at:
                say("waiting for Ray to place %s again: %s" % (self._job.tasks[number], self._want()))
                say_at = time.monotonic() + _SAY_EVERY_S

    def _want(self):
        """The requested, the existing and the free resources, in words."""
        asked = {name for each in self._job.resources for name in each}
        alive = [node for node in self._ray.nodes() if node["Alive"]]

        def of_asked(resources):
            return shape.amounts({name: resources.get(name, 0) for name in asked})

        parts = ["they ask for %s, placed by %s" % (shape.request(self._job.resources), self._job.placement)]
        parts.append("the nodes have " + ", ".join(
            "%s: %s" % (_node_name(node), of_asked(node["Resources"])) for node in alive))
        parts.append("free in all: " + of_asked(self._ray.available_resources()))
        for kind in {shape.amounts(each): each for each in self._job.resources}.values():
            if not any(all(node["Resources"].get(name, 0) >= amount for name, amount in kind.items())
                       for node in alive):
                parts.append("no node has %s" % shape.amounts(kind))
        if self._job.placement == "STRICT_SPREAD" and len(alive) < len(self._job.tasks):
            parts.append("STRICT_SPREAD needs %d nodes" % len(self._job.tasks))
        return "; ".join(parts)

    def start_actor(self, number, actor_class, *arguments, **options):
        """Starts an actor that has the resources of the task of this number, and returns its handle."""
        resources = dict(self._job.resources[number])
        where = self._strategy(self._group, number)
        return self._ray.remote(max_restarts=0, **options)(actor_class).options(
            num_cpus=resources.pop("CPU", 0), num_gpus=resources.pop("GPU", 0), memory=resources.pop("memory", None),
            resources=resources, scheduling_strategy=where).remote(*arguments)

    def why_lost(self, number, error):
        """Why the actor of this task is gone, in words, given Ray's error. May wait until Ray knows it itself."""
        # When a node dies, Ray first sees that a connection has ended, and a while later that the node does not answer.
        unavailable = isinstance(error, self._ray.exceptions.ActorUnavailableError)
        give_up = time.monotonic() + (_NODE_DEATH_S if unavailable else 0)
        while not self._is_dead(self._node_ids[number]):
            if time.monotonic() >= give_up:
                break
            time.sleep(0.5)
        else:
            return "its ray node has died"
        # Ray adds a list of common causes. The detail makes it superfluous.
        text = " ".join(str(error).split()).partition(" Some common causes")[0].rpartition("Worker exit detail: ")[2]
        return "%s (Ray says: %s)" % ("Ray cannot reach it" if unavailable else "its process has died", text)

    def _is_dead(self, node_id):
        return not any(node["NodeID"] == node_id and node["Alive"] for node in self._ray.nodes())
