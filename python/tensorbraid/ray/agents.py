"""Starts an agent of `tensorbraid launch --on=ray` for each task, and carries the messages (docs/design/0026).

Requests come from standard input, and events go to standard output. Both are lines of JSON that name their node.
"""

import contextlib
import itertools
import json
import os
import signal
import sys
import threading

from tensorbraid import errors
from tensorbraid.ray import actors
from tensorbraid.ray.placement import Placement, check_address, import_ray

__all__ = []

# How long the agents have to end their tasks. The launcher waits a little longer.
_END_WAIT_S = 4


def node_names(nodes):
    """Names for the agents of the tasks: each has the name of its ray node, and a number if the node has several."""
    names, seen = [], {}
    for node in nodes:
        seen[node] = seen.get(node, 0) + 1
        names.append(node if seen[node] == 1 else "%s #%d" % (node, seen[node]))
    return names


class Channel:
    """The standard output for messages. What anything else prints there goes to standard error from now on.

    Thread-safe. When the launcher is gone, what it would have read is dropped: its requests end, too, which ends the
    job.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._file = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def send(self, node, event):
        """An event of a node; of the job as a whole, if it is ""."""
        self.pass_on(node, [json.dumps({"node": node, **event}).encode()])

    def pass_on(self, node, lines):
        """Lines of a node's agent."""
        # As a channel that several agents share has them (message_pieces.h).
        with self._lock, contextlib.suppress(BrokenPipeError):
            self._file.write(b"".join(b"@%s=%s\n" % (node.encode(), line) for line in lines))
            self._file.flush()

    def say(self, text):
        """A line for the user."""
        with contextlib.suppress(BrokenPipeError):
            sys.stderr.write(text + "\n")
            sys.stderr.flush()

    def refuse(self, node, code, message):
        """The event that a node cannot be used, or, if `node` is "", that the job cannot be started."""
        self.send(node, {"event": "refused", "why": {"code": code, "message": message}})


class _Agents:
    """The agents of the tasks that are placed."""

    def __init__(self, ray, place, program, wait_s, channel):
        self._ray = ray
        self._place = place
        self._program = program
        self._wait_s = wait_s
        self._channel = channel
        self._closing = threading.Event()
        self._naming = threading.Lock()
        self._ranks, self._actors = {}, {}  # of the agents, also of those that were lost, by name
        for rank, name in enumerate(node_names(place.nodes)):
            self._start(rank, name)

    def _start(self, rank, name):
        groups = {"in": 1, "out": 1}  # threads that do not wait for each other
        self._ranks[name] = rank
        self._actors[name] = self._place.start_actor(rank, actors.AgentActor, self._program, name,
                                                     concurrency_groups=groups)

    def _hello(self, name):
        rank = self._ranks[name]
        self._channel.send(name, {"event": "hello", "rank": rank, "host": self._place.hosts[rank]})

    def run(self, requests):
        """Carries messages until `requests` end and the agents have ended."""
        names = list(self._actors)
        for name in names:
            self._hello(name)
        replacements = []
        threading.Thread(target=self._pass_requests_on, args=(requests, replacements), daemon=True).start()
        # A handler may run within any call of Ray, so it calls nothing of Ray itself.
        signal.signal(signal.SIGTERM, lambda *unused: threading.Thread(target=self._close, daemon=True).start())
        self._carry(names)
        self._closing.wait()  # until then, agents may be replaced
        for thread in replacements:
            thread.join()

    def _carry(self, names):
        """Passes on what these agents say until they have ended."""
        reads = {self._read(name): name for name in names}
        begun = dict.fromkeys(names, b"")  # the beginnings of lines
        last_error = dict.fromkeys(names, b"")
        reports = []
        while reads:
            done, _ = self._ray.wait(list(reads))
            name = reads.pop(done[0])
            try:
                output, error, end = self._ray.get(done[0])
            except self._ray.exceptions.RayError as failure:
                reports.append(threading.Thread(target=self._report_loss, args=(name, failure), daemon=True))
                reports[-1].start()
                continue
            *lines, begun[name] = (begun[name] + output).split(b"\n")
            self._channel.pass_on(name, lines)
            if error:
                last_error[name] = error.strip().split(b"\n")[-1]
                for line in error.splitlines():
                    self._channel.say("%s: %s" % (name, line.decode(errors="replace")))
            if end is None:
                reads[self._read(name)] = name
            else:
                why = "its agent has ended with exit code %d: %s" % (end, last_error[name].decode(errors="replace"))
                self._channel.refuse(name, errors.UNAVAILABLE, why)
        for report in reports:
            report.join()

    def _report_loss(self, name, failure):
        why = self._place.why_lost(self._ranks[name], failure)
        self._channel.refuse(name, errors.UNAVAILABLE, why)

    def _read(self, name):
        return self._actors[name].read.options(concurrency_group="out").remote()

    def _pass_requests_on(self, requests, replacements):
        for line in requests:
            request = json.loads(line)
            name = request["node"]
            if request["do"] == "replace":
                replacements.append(threading.Thread(target=self._replace, args=(name,), daemon=True))
                replacements[-1].start()
            else:
                self._actors[name].write.options(concurrency_group="in").remote(line)
        self._close()

    def _replace(self, lost):
        """Starts another agent in place of one that is lost, and carries its messages until it has ended."""
        rank = self._ranks[lost]
        try:
            self._place.find_again(rank, self._wait_s, self._channel.say, self._closing)
        except (errors.ResourceExhaustedError, self._ray.exceptions.RayError) as error:
            code = getattr(error, "error_code", errors.UNAVAILABLE)
            self._channel.refuse(lost, code, " ".join(str(error).split()))  # the launcher waits for an answer
            return
        node = self._place.nodes[rank]
        with self._naming:
            name = next(name for name in itertools.chain([node], ("%s #%d" % (node, n) for n in itertools.count(2)))
                        if name not in self._actors)
            self._start(rank, name)
        self._hello(name)
        self._carry([name])

    def _close(self):
        """Lets the agents end, and with them `run`."""
        # With this process, Ray ends the actors that do not end by themselves.
        timer = threading.Timer(_END_WAIT_S, os._exit, args=(1,))
        timer.daemon = True
        timer.start()
        self._closing.set()
        for actor in list(self._actors.values()):
            actor.close.options(concurrency_group="in").remote()


def start(shape, options, channel):
    """Runs agents for the tasks of this shape until standard input ends. `options` are those of `__main__`."""
    ray = import_ray()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the launcher decides what Ctrl-C means
    environment = {"working_dir": options.sync} if options.sync else None
    check_address(options.address)
    ray.init(address=options.address, log_to_driver=False, logging_level="ERROR", runtime_env=environment)
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit(128 + signal.SIGTERM))

    with Placement(shape, options.wait_s, channel.say) as place:
        _Agents(ray, place, options.program, options.wait_s, channel).run(sys.stdin.buffer)
