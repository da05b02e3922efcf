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


def directory(test, owner=USER, parent=None):
    """A new directory of the user."""
    path = tempfile.mkdtemp(dir=parent)
    test.addCleanup(shutil.rmtree, path, ignore_errors=True)
    shutil.chown(path, owner, _group(owner))
    return path


def certificate(test, program, host, parent=None):
    """A new directory of the stranger, with a certificate for the host of an authority that the stranger has made."""
    path = directory(test, STRANGER, parent)
    subprocess.run(as_user(STRANGER, [program, "certs", path, "--hosts=" + host]), check=True, cwd="/",
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {"cert": os.path.join(path, host + ".pem"), "key": os.path.join(path, host + "-key.pem"),
            "ca": os.path.join(path, "ca.pem")}


def _here(command):
    return command


def addresses_of_tasks(test, text):
    """Where the tasks listen, as they say in `text`."""
    addresses = re.findall(r" cluster: \w+/\d+ listens on (\S+)", text)
    test.assertTrue(addresses, text)
    return addresses


def processes_of(pid):
    """The process and all that it has started, the oldest first."""
    found = [pid]
    for pid in found:  # which grows
        try:
            with open("/proc/%d/task/%d/children" % (pid, pid), encoding="utf-8") as file:
                found += map(int, file.read().split())
        except FileNotFoundError:  # it has ended
            pass
    return found


def addresses_of(pid):
    """Where a process listens. Of a process that says so itself, addresses_of_tasks needs no waiting."""
    lines = subprocess.run(["ss", "-Hltnp"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [line.split()[3] for line in lines if ",pid=%d," % pid in line]


def _status(program, caller, address, flags, on):
    return subprocess.run(on(as_user(caller, [program, "status", address] + flags)), cwd="/", text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def _check_status(test, program, addresses, cases, on):
    """Each case is a caller, its flags, and the error that it gets, or none."""
    for address in addresses:
        for caller, flags, error in cases:
            with test.subTest(address=address, caller=caller, flags=flags):
                done = _status(program, caller, address, flags, on)
                test.assertEqual(done.returncode == 0, not error, done.stdout)
                test.assertIn(error, done.stdout)


def check_callers(test, program, addresses, on=_here):
    """Asks the tasks that listen there; `on` makes a command run on their machine. They serve their user and root, and refuse
    the stranger. Other users' clients refuse the tasks, unless they are told to trust all users."""
    refuses = "the process that listens there belongs to user %d" % _number(USER)
    _check_status(test, program, addresses,
                  [(USER, [], ""), ("root", [], refuses), ("root", ["--insecure"], ""), (STRANGER, [], refuses)], on)
    check_stranger_is_refused(test, program, addresses, on)


def check_stranger_is_refused(test, program, addresses, on=_here):
    """The stranger's part of check_callers, also for a server that is no task and has no status."""
    is_refused = "runs as user %d and serves this user and root only" % _number(USER)
    _check_status(test, program, addresses, [(STRANGER, ["--insecure"], is_refused)], on)


# Connects by TLS, trusting every server, and says how many bytes of HTTP/2's greeting the server sends.
_TLS_CALLER = """
import socket, ssl, sys
host, port = sys.argv[1].rsplit(":", 1)
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
context.set_alpn_protocols(["h2"])
if len(sys.argv) > 2:
    context.load_cert_chain(sys.argv[2], sys.argv[3])
try:
    with socket.create_connection((host, int(port))) as plain, context.wrap_socket(plain) as connection:
        print(len(connection.recv(9)))
except OSError as error:
    print(0, error)
"""


def check_callers_with_certificates(test, program, addresses, key, others, on=_here):
    """Asks the tasks of a job that has made certificates; `key` is the file of one of its keys. They serve the job's user,
    who has the key. They refuse the stranger, who cannot read the key, without a certificate and with that of `others`,
    which another authority has signed."""
    folder = os.path.dirname(key)
    job = {name: os.path.join(folder, "tls_" + name) for name in ("cert", "key", "ca")}
    readable = subprocess.run(on(as_user(STRANGER, ["test", "-r", key]))).returncode == 0
    test.assertFalse(readable, "%s can read %s" % (STRANGER, key))
    _check_status(test, program, addresses, [
        (USER, _tls_flags(job), ""), (STRANGER, _tls_flags(job), "ermission denied"),
        (STRANGER, _tls_flags(others), "does not come from an authority in --tls_ca")], on)
    for address in addresses:
        for caller, files, served in ((USER, job, True), (STRANGER, others, False), (STRANGER, None, False)):
            with test.subTest(address=address, caller=caller, files=files):
                chain = [files["cert"], files["key"]] if files else []
                done = subprocess.run(on(as_user(caller, [PYTHON, "-c", _TLS_CALLER, address] + chain)), cwd="/",
                                      check=True, stdout=subprocess.PIPE, text=True)
                test.assertEqual(int(done.stdout.split()[0]) > 0, served, done.stdout)


def _tls_flags(files):
    return ["--tls_%s=%s" % item for item in files.items()]


class Squatter:
    """Listens on a port as the stranger, by TLS if it has a certificate, and counts what it receives. Use it in a `with`
    statement."""

    _SCRIPT = """
import select, socket, ssl, sys
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind((sys.argv[1], int(sys.argv[2])))
listener.listen()
context = None
if len(sys.argv) > 3:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.set_alpn_protocols(["h2"])
    context.load_cert_chain(sys.argv[3], sys.argv[4])
print("listens", flush=True)
while listener in select.select([listener, sys.stdin], [], [])[0]:  # after the end of the input, as long as clients wait
    connection, peer = listener.accept()
    try:
        if context:
            connection = context.wrap_socket(connection, server_side=True)
        print(len(connection.recv(64)), flush=True)
    except OSError:  # the client does not trust the certificate, and has ended
        print(0, flush=True)
"""

    def __init__(self, address, on=_here, certificate=None):
        host, port = address.rsplit(":", 1)
        if certificate:
            arguments = [host, port, certificate["cert"], certificate["key"]]
            self._error = "does not come from an authority in --tls_ca"
        else:
            arguments = ["127.0.0.1", port]
            self._error = "the process that listens there belongs to user %d" % _number(STRANGER)
        self._process = subprocess.Popen(on(as_user(STRANGER, [PYTHON, "-c", self._SCRIPT] + arguments)), cwd="/",
                                         text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
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
        test.assertEqual(set(self._end().split()), {"0"}, output)
        test.assertIn(self._error, output)


# Two scripts that the tasks of `tensorbraid launch` may run, with their program in the arguments. The first says where
# the key of the job is. With the second, the parameter server never listens.
SHOW_KEY = 'echo "key: $TENSORBRAID_TLS_KEY"; exec "$@"'
PS_THAT_SLEEPS = 'case "$*" in *--job_name=ps*) exec sleep 1000;; esac; exec "$@"'


def key_of_job(text):
    return re.search(r"key: (\S+)", text).group(1)


def address_of_ps(text):
    return re.search(r"ps/0 runs on (\S+), pid", text).group(1)


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
