"""Three users of one machine, for tests: the user of a job, root, and a stranger, who is neither.

The files of a build may be where no other user reaches them; then there is nothing to test (`require`).
"""

import os
import re
import shutil
import subprocess
import tempfile

USER = "nobody"
STRANGER = "daemon"
PYTHON = "/usr/bin/python3"  # another Python may be in a folder that only root can read


def as_user(name, command):
    """The command that runs `command` as this user, without any of root's rights."""
    return ["setpriv", "--reuid=" + name, "--regid=" + str(_group(name)), "--clear-groups"] + command


def _group(name):
    return int(subprocess.run(["id", "-g", name], check=True, stdout=subprocess.PIPE, text=True).stdout)


def _number(name):
    return int(subprocess.run(["id", "-u", name], check=True, stdout=subprocess.PIPE, text=True).stdout)


def require(test, *files):
    """Skips the test unless both users can read the files."""
    if os.geteuid() != 0:
        test.skipTest("only root can act as other users")
    for name in (USER, STRANGER):
        for file in files:
            if subprocess.run(as_user(name, ["test", "-r", file])).returncode != 0:
                test.skipTest("user %s cannot read %s" % (name, file))


def directory(test):
    """A new directory of the user."""
    path = tempfile.mkdtemp()
    test.addCleanup(shutil.rmtree, path, ignore_errors=True)
    shutil.chown(path, USER, _group(USER))
    return path


def _here(command):
    return command


def check_callers(test, program, text, on=_here):
    """Asks the tasks that say in `text` where they listen; `on` makes a command run on their machine. They serve their user
    and root, and refuse the stranger. Other users' clients refuse the tasks, unless they are told to trust all users."""
    addresses = re.findall(r" cluster: \w+/\d+ listens on (\S+)", text)
    test.assertTrue(addresses, text)
    user = _number(USER)
    refuses = "the process that listens there belongs to user %d" % user
    is_refused = "runs as user %d and serves this user and root only" % user
    for address in addresses:
        for name, flag, error in ((USER, [], ""), ("root", [], refuses), ("root", ["--insecure"], ""),
                                  (STRANGER, [], refuses), (STRANGER, ["--insecure"], is_refused)):
            with test.subTest(address=address, caller=name, flag=flag):
                done = subprocess.run(on(as_user(name, [program, "status", address] + flag)), cwd="/", text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                test.assertEqual(done.returncode == 0, not error, done.stdout)
                test.assertIn(error, done.stdout)


class Squatter:
    """Listens on a port as the stranger, and counts what it receives. Use it in a `with` statement."""

    _SCRIPT = """
import select, socket, sys
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen()
print("listens", flush=True)
while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
    connection, peer = listener.accept()
    print(len(connection.recv(64)), flush=True)
"""

    def __init__(self, address, on=_here):
        port = address.rsplit(":", 1)[1]
        self._process = subprocess.Popen(on(as_user(STRANGER, [PYTHON, "-c", self._SCRIPT, port])), cwd="/", text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout.readline() == "listens\n"

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._end()

    def _end(self):
        """Ends the process, which may run on another machine, and returns what it has counted since the start."""
        return self._process.communicate()[0] if self._process.returncode is None else ""

    def check_got_nothing(self, test, output):
        """Clients have connected, and have ended since. They have found the stranger there, have sent nothing, and say so in
        their output."""
        test.assertEqual(set(self._end().split()), {"0"})
        test.assertRegex(output, r"the process that listens there belongs to user %d" % _number(STRANGER))


# What a rank does in place of its program: the parameter server never listens, and the worker trains with it. It gets the
# path of `tensorbraid`, and the program with its arguments.
RANK = """
tensorbraid=$1; shift
eval "$("$tensorbraid" task)" || exit 99
echo "rank: $job $address"
[ "$job" = ps ] && exec sleep 1000
exec "$@" --ps_hosts="$ps_hosts" --worker_hosts="$worker_hosts" --job_name="$job" --task_index="$index"
"""


def addresses_of_ranks(text, job="\\w+"):
    return re.findall(r"rank: %s (\S+)" % job, text)
