"""Runs pods on this machine, for the tests `kubernetes` and `kubernetes_launch`. Needs the user root, and `ip`.

A pod is a set of namespaces: it has its own network with one address, its own host name, and processes that end with
it. A file of hosts, which this module changes when a pod moves, takes the place of DNS.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

BUILD = os.environ.get("TENSORBRAID_BUILD", "build/release")
DOMAIN = "default.svc"
PATIENCE_S = 150


def run(*command, **options):
    return subprocess.run(command, check=True, **options)


def await_true(what, holds):
    give_up = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < give_up, f"{what}: not within {PATIENCE_S} s"
        time.sleep(0.1)


def await_network(process):
    """Waits until a process that `unshare` has started is in a network of its own."""
    own = f"/proc/{process.pid}/ns/net"
    await_true("a network", lambda: os.readlink(own) != os.readlink("/proc/self/ns/net"))


class Node:
    """The machine on which the pods run: a network with a bridge, and the directories that pods mount."""

    def __init__(self, directory):
        self.directory = directory
        self.hosts = f"{directory}/hosts"
        self.addresses = {}
        self.next_address = 2
        # A process that keeps the network until its input ends.
        self.network = subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE)
        await_network(self.network)
        self.command("ip", "link", "add", "bridge0", "type", "bridge")
        self.command("ip", "address", "add", "10.77.0.1/24", "dev", "bridge0")
        self.command("ip", "link", "set", "bridge0", "up")

    def command(self, *command):
        run("nsenter", "-t", str(self.network.pid), "-n", *command)

    def new_address(self, host):
        """Gives a pod an address that no pod has had, and tells the other pods."""
        address = f"10.77.0.{self.next_address}"
        self.next_address += 1
        self.addresses[host] = address
        self.write_hosts()
        return address

    def forget(self, host, address):
        """A pod is gone. Another one may have its name."""
        if self.addresses.get(host) == address:
            del self.addresses[host]
            self.write_hosts()

    def write_hosts(self):
        lines = ["127.0.0.1 localhost"] + [f"{ip} {host}" for host, ip in self.addresses.items()]
        with open(self.hosts, "w", encoding="utf-8") as file:  # in place, because pods have mounted this file
            file.write("\n".join(lines) + "\n")

    def close(self):
        self.network.stdin.close()
        self.network.wait(timeout=PATIENCE_S)


def start_process(node, name, host, command, environment, stdout, mounts=()):
    """Starts a program in the network and the namespaces of a new pod `name`, which the others find as `host`.

    Each file of `mounts` is a mount there.
    """
    inside = (
        'read -r address && hostname "$1" && mount --bind "$2" /etc/hosts && ip link set lo up &&'
        ' ip link set eth0 up && ip address add "$address/24" dev eth0 && shift 2 &&'
        ' while [ "$1" != -- ]; do mount --bind "$1" "$1" && shift || exit 1; done && shift && exec setpriv --reuid=10001'
        ' --regid=10001 --clear-groups --no-new-privs --bounding-set=-all "$@" < /dev/null'
    )
    address = node.new_address(host)
    process = subprocess.Popen(
        ["unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "bash", "-c", inside,
         "pod", name, node.hosts, *mounts, "--", *command],
        stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.STDOUT, text=True, cwd=node.directory, env=environment,
    )  # fmt: skip
    await_network(process)
    link = "pod" + address.rsplit(".", 1)[1]
    node.command("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", str(process.pid))
    node.command("ip", "link", "set", link, "master", "bridge0", "up")
    process.stdin.write(f"{address}\n")
    process.stdin.close()
    return process


def signal_first(process, number):
    """Sends a signal to the first process of a pod of start_process. With SIGKILL all others end, too."""
    # (`unshare --kill-child` does not do it: setpriv, which changes the user, loses the signal.)
    for pid in subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True,
                              check=False).stdout.split():  # fmt: skip
        with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
            os.kill(int(pid), number)


class Pod:
    """A running pod of a template, with the environment that Kubeflow's operator sets."""

    def __init__(self, node, name, template, tf_config):
        self.name = name
        [self.container] = template["spec"]["containers"]
        # What the volumes and the image have.
        self.places = {"/etc/tensorbraid": f"{node.directory}/secrets", "/checkpoints": f"{node.directory}/checkpoints",
                       "/usr/share/tensorbraid/mnist": os.path.abspath("examples/data/mnist")}  # fmt: skip
        # The training goes on until the pods are told to stop, however fast this machine is.
        arguments = [re.sub("^--train_steps=.*", "--train_steps=1000000000", self.moved(argument))
                     for argument in self.container["args"]]  # fmt: skip
        arguments[0] = os.path.abspath(f"{BUILD}/examples/{arguments[0]}")
        self.log = open(f"{node.directory}/{name}.log", "w", encoding="utf-8")
        self.process = start_process(node, name, f"{name}.{DOMAIN}", arguments,
                                     {"PATH": os.environ["PATH"], "TF_CONFIG": json.dumps(tf_config)}, self.log)

    def moved(self, text):
        for path, place in self.places.items():
            text = text.replace(path, place)
        return text

    def probe(self, kind):
        """Whether the probe succeeds within its time."""
        command = [self.moved(word) for word in self.container[kind]["exec"]["command"]]
        try:
            done = subprocess.run(["nsenter", "-t", str(self.process.pid), "-n", "-m", *command], capture_output=True,
                                  timeout=self.container[kind]["timeoutSeconds"], check=False)  # fmt: skip
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def await_probe(self, kind):
        await_true(f"{kind} of {self.name}", lambda: self.probe(kind))

    def kill(self):
        signal_first(self.process, signal.SIGKILL)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=PATIENCE_S)

    def text(self):
        with open(self.log.name, encoding="utf-8") as file:
            return file.read()

    def tell_to_stop(self):
        """What deleting the pod does: SIGTERM for its first process."""
        signal_first(self.process, signal.SIGTERM)

    def must_end_well(self, seconds):
        code = self.process.wait(timeout=seconds)
        assert code == 0, f"{self.name} exited with {code}"


def make_secrets(directory):
    """The files of the two secrets, made by the commands of deploy/kubernetes/README.md."""
    os.makedirs(f"{directory}/tls")
    os.makedirs(f"{directory}/token")
    run(f"{BUILD}/src/cli/tensorbraid", "certs", f"{directory}/certs", f"--hosts=*.{DOMAIN}", capture_output=True)
    for name, made in (("tls.crt", f"wildcard.{DOMAIN}.pem"), ("tls.key", f"wildcard.{DOMAIN}-key.pem"),
                       ("ca.crt", "ca.pem")):  # fmt: skip
        shutil.copy(f"{directory}/certs/{made}", f"{directory}/tls/{name}")
    with open(f"{directory}/token/token", "w", encoding="utf-8") as file:
        run("openssl", "rand", "-hex", "32", stdout=file)
    os.chmod(f"{directory}/token/token", 0o400)  # the pods own it here; kubelet gives 0440, owned by root


def train(templates):
    """Trains with the pods of a TFJob: {"ps": (template, number), "worker": (template, number)}."""
    with tempfile.TemporaryDirectory() as directory:
        make_secrets(f"{directory}/secrets")
        os.makedirs(f"{directory}/checkpoints")
        run("chown", "-R", "10001:10001", directory)
        node = Node(directory)
        cluster = {job: [f"train-{job}-{i}.{DOMAIN}:2222" for i in range(number)]
                   for job, (_, number) in templates.items()}  # fmt: skip
        pods = {}

        def start(job, index):
            tf_config = {"cluster": cluster, "task": {"type": job, "index": index}, "environment": "cloud"}
            pod = Pod(node, f"train-{job}-{index}", templates[job][0], tf_config)
            pods[pod.name] = pod
            return pod

        try:
            # The parameter server comes last: the workers live, but are not ready until they reach it.
            workers = [start("worker", index) for index in range(templates["worker"][1])]
            for worker in workers:
                worker.await_probe("startupProbe")
                worker.await_probe("livenessProbe")
                assert not worker.probe("readinessProbe"), "a worker is ready without its parameter server"
            ps = start("ps", 0)
            ps.await_probe("readinessProbe")
            for worker in workers:
                worker.await_probe("readinessProbe")
            await_true("a training", lambda: "step " in workers[1].text())
            # The pod of a worker comes back under its name, with another address.
            workers[1].kill()
            workers[1] = start("worker", 1)
            workers[1].await_probe("readinessProbe")
            await_true("a training that goes on", lambda: "step " in workers[1].text())
            for pod in pods.values():
                pod.tell_to_stop()
            grace = templates["ps"][0]["spec"]["terminationGracePeriodSeconds"]
            for pod in pods.values():
                pod.must_end_well(grace)
            assert os.path.exists(f"{directory}/checkpoints/mnist/checkpoint"), "the chief has saved no checkpoint"
            print(f"{len(pods)} pods of the TFJob have trained; the probes were right, a pod moved, and all ended well")
        except BaseException:
            for pod in pods.values():
                print(f"--- {pod.name} (exit code {pod.process.poll()})\n{pod.text()[-3000:]}")
            raise
        finally:
            for pod in pods.values():
                pod.kill()
            node.close()
