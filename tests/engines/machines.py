"""Machines for tests: sets of namespaces of this one, connected by a switch.

A machine has its own network address, host name, processes, /tmp, /run and /dev/shm, and shares the other files. Killing it
is one signal. Everything vanishes with the process that made it, because the switch is in a namespace, too: a test calls
`enter()` first, which starts the test again within new namespaces, as a machine with the name login. Needs root.
"""

import os
import shlex
import signal
import subprocess
import sys

_ENTERED = "TENSORBRAID_TEST_MACHINES"
SKIPPED = 77  # the exit code
NETWORK = "10.77.0."
LOGIN = NETWORK + "1"  # the address of this process
_CHECKOUT = os.getcwd()  # where a test begins; it may go elsewhere


def own_tmp():
    """The lines of a shell script that replace /tmp, and keep the checkout if it is there."""
    mount = "mount -t tmpfs tmpfs /tmp"
    if not _CHECKOUT.startswith("/tmp/"):
        return mount
    keep = shlex.quote(_CHECKOUT)
    return "mount --bind %s /mnt; %s; mkdir -p %s; mount --bind /mnt %s; umount /mnt" % (keep, mount, keep, keep)


def has_entered():
    """Whether this process is the test in its namespaces, where it does not reach the network."""
    return os.environ.get(_ENTERED) == "1"


def enter(limit_s=280):
    """Goes on in namespaces of this test. Call it before anything else. The test ends after `limit_s` seconds."""
    if has_entered():
        _run("hostname", "login")
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(limit_s)
        return
    if os.geteuid() != 0 or subprocess.run(["unshare", "--net", "--mount", "--pid", "true"]).returncode != 0:
        print("this test makes namespaces, so it runs only as root, and not in a container without this right")
        sys.exit(SKIPPED)
    os.environ[_ENTERED] = "1"
    unshare = ["unshare", "--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    os.execvp(unshare[0], unshare + [sys.executable] + sys.argv)


def _too_long(*unused):
    raise SystemExit("the test takes too long")


def _run(*command):
    subprocess.run(command, check=True)


class Machines:
    """Starts machines with these names. Use it in a `with` statement."""

    def __init__(self, names, folder):
        self.address = {name: NETWORK + str(10 + i) for i, name in enumerate(names)}
        self._init = {}
        self._interface = {}
        _run("ip", "link", "set", "lo", "up")
        _run("ip", "link", "add", "switch", "type", "bridge")
        _run("ip", "address", "add", LOGIN + "/24", "dev", "switch")
        _run("ip", "link", "set", "switch", "up")
        hosts = os.path.join(folder, "hosts")
        with open(hosts, "w", encoding="utf-8") as file:
            file.write("127.0.0.1 localhost\n%s login\n" % LOGIN)
            for name, address in self.address.items():
                file.write("%s %s\n" % (address, name))
        _run("mount", "--bind", hosts, "/etc/hosts")
        for name in names:
            self.start(name)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        for name in list(self._init):
            self.kill(name)

    def start(self, name):
        """Starts a machine, for the first time or after kill()."""
        script = (
            "hostname %s; for d in /run /dev/shm; do mount -t tmpfs tmpfs $d; done; %s; mount -t proc proc /proc; "
            "ip link set lo up; echo ready; exec sleep infinity" % (name, own_tmp())
        )
        unshare = ["unshare", "--net", "--uts", "--mount", "--ipc", "--pid", "--fork", "--kill-child"]
        outer = subprocess.Popen(unshare + ["sh", "-c", script], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, text=True)
        with outer.stdout:
            assert outer.stdout.readline() == "ready\n"
        children = "/proc/%d/task/%d/children" % (outer.pid, outer.pid)
        with open(children, encoding="utf-8") as file:
            pid = int(file.read().split()[0])
        self._init[name] = (outer, pid)
        interface = self._interface[name] = "to-" + name
        # The same hardware address after each start: others remember it for a while.
        hardware = "02:00:00:00:00:%02x" % int(self.address[name].rsplit(".", 1)[1])
        _run("ip", "link", "add", interface, "type", "veth", "peer", "name", "eth0", "address", hardware,
             "netns", str(pid))
        _run("ip", "link", "set", interface, "master", "switch", "up")
        self.run(name, ["ip", "address", "add", self.address[name] + "/24", "dev", "eth0"])
        self.run(name, ["ip", "link", "set", "eth0", "up"])
        self.run(name, ["ip", "route", "add", "default", "via", LOGIN])

    def command(self, name, command):
        """The command that runs `command` on the machine."""
        return ["nsenter", "--target", str(self._init[name][1]), "--all", "--"] + command

    def run(self, name, command, **options):
        """Runs a command on the machine, and returns its standard output."""
        options.setdefault("check", True)
        return subprocess.run(self.command(name, command), stdout=subprocess.PIPE, text=True, **options).stdout

    def popen(self, name, command, **options):
        return subprocess.Popen(self.command(name, command), **options)

    def kill(self, name):
        """The machine loses its power: all its processes end at once, and the network answers no more."""
        outer, pid = self._init.pop(name)
        os.kill(pid, signal.SIGKILL)
        outer.wait()
        # The kernel removes the cable some time after the last process of a machine, and the next start() needs its name.
        # It may be gone already.
        subprocess.run(["ip", "link", "delete", self._interface[name]], stderr=subprocess.DEVNULL, check=False)

    def unplug(self, name):
        """Cuts the machine off the network. Its processes go on."""
        _run("ip", "link", "set", self._interface[name], "down")

    def plug_in(self, name):
        _run("ip", "link", "set", self._interface[name], "up")

    def processes(self, name):
        """The command lines on the machine, without the machine's own first process and the asking one."""
        lines = self.run(name, ["ps", "-eo", "pid=,args="]).splitlines()
        ignored = (" sleep infinity", " ps -eo", "<defunct>")  # the first process reaps nothing
        return [line.strip() for line in lines if not any(part in line for part in ignored)]
