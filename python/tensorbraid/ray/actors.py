"""The actors of a job. Their code travels to the ray nodes, so it uses Python's own library only (see `placement`)."""

import os
import selectors
import socket
import subprocess
import sys

__all__ = []


class FunctionActor:
    """A task that is a Python function. The package must be installed on its node."""

    def __init__(self, task):
        self._task = task
        self._port = None
        self._files = {}  # contents, by the variables that name them

    def __repr__(self):  # Ray writes it before each line of the task's output
        return self._task

    def prepare(self, makes_key):
        """Takes a free port, and makes a key if it has to.

        Returns the port, the request for the key's certificate, and the reason why the node cannot run the task. Each
        of them may be None.
        """
        try:
            from tensorbraid import errors
            from tensorbraid.ray import keys
        except ImportError as error:
            return None, None, "cannot import tensorbraid in %s: %s" % (sys.executable, error)
        request = None
        try:
            if makes_key:
                self._files["TENSORBRAID_TLS_KEY"], request = keys.make_key()
        except errors.OpError as error:
            return None, None, error.message
        self._port = _hold_port()
        return self._port.getsockname()[1], request, None

    def run(self, call, environment, files):
        """Runs the function with these variables in the environment, and returns its result.

        `files` are contents of files by the variables that name them, as is the key. They are in memory and vanish with
        the process.
        """
        from tensorbraid.train import cluster

        os.environ.update(environment)
        for variable, content in {**files, **self._files}.items():
            file = os.memfd_create(variable)
            os.fchmod(file, 0o600)
            os.write(file, content.encode())
            os.environ[variable] = "/proc/%d/fd/%d" % (os.getpid(), file)
        function, args, kwargs = call
        try:
            return function(*args, **kwargs)
        except SystemExit as end:  # from Server.join, for example. Ray would take it for the actor's end.
            if end.code not in (None, 0):
                raise RuntimeError("the function has called sys.exit(%r)" % (end.code,)) from end
            return None
        finally:
            cluster.stop_servers()  # so the task leaves the cluster, as a program does when it ends


def _hold_port():
    """A socket that is bound to a free port, but does not listen, so that a server of this process can still take it."""
    for family in (socket.AF_INET6, socket.AF_INET):  # the first takes the addresses of both
        try:
            held = socket.socket(family)
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                held.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            held.bind(("", 0))
            return held
        except OSError:  # a system without IPv6
            if family == socket.AF_INET:
                raise


class AgentActor:
    """`tensorbraid agent` as a child process. Its node needs the program, and not the package.

    `write` and `close` belong to one concurrency group, and `read` to another, so that they do not wait for each other.
    """

    # When the actor ends, Ray kills its child sh and its process group. The agent is neither: it reads the end of its
    # input, and cleans up.
    _SCRIPT = (
        'p=$1; [ -x "$p" ] || p=$(command -v tensorbraid) || { echo "there is neither $1 nor tensorbraid in PATH; '
        'install it there, or name it with --remote_program" >&2; exit 127; }; "$p" agent --node="$2"; exit $?')

    def __init__(self, program, node):
        self._agent = subprocess.Popen(["sh", "-c", self._SCRIPT, "sh", program, node], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._agent.stdout, selectors.EVENT_READ)
        self._selector.register(self._agent.stderr, selectors.EVENT_READ)

    def write(self, lines):
        """Passes lines on to the agent."""
        try:
            self._agent.stdin.write(lines)
            self._agent.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass  # it has ended, which `read` reports; or it is closed

    def close(self):
        """Ends the agent's input, so the agent ends with its tasks."""
        try:
            self._agent.stdin.close()
        except BrokenPipeError:
            pass  # the agent has ended and does not read the remaining requests

    def read(self):
        """Waits for output. Returns what is there of standard output and error, and the exit code if that was all."""
        output = {self._agent.stdout: b"", self._agent.stderr: b""}
        while self._selector.get_map() and not any(output.values()):
            for key, _ in self._selector.select():
                got = os.read(key.fd, 1 << 18)
                output[key.fileobj] += got
                if not got:
                    self._selector.unregister(key.fileobj)
        end = None if any(output.values()) else self._agent.wait()
        return output[self._agent.stdout], output[self._agent.stderr], end
