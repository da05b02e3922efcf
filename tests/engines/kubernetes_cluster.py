"""A small cluster for the test `kubernetes_launch`: an API server that the real kubectl talks to, and three nodes.

It has the kinds of objects that `tensorbraid launch --on=kubernetes` and deploy/kubernetes/base use, with Kubernetes'
rules for deletion, owners, watches and deadlines of jobs, for the expansion of $(NAME), and for the output and the last
message of containers. The controllers make the pods of Indexed Jobs. Each object is validated by
Kubernetes' schemas. Each pod runs in namespaces of its own (pods.py). An image is a path on this machine where programs
are looked for, or a name of Cluster.images.

It does less than Kubernetes: nodes run no probes and limit no memory; an emptyDir is the machine's own directory; a Job
has no back-off and no policy for failed pods; of all kinds only a Job can be changed. (The test `kubernetes` runs the
probes.)
"""
import base64
import copy
import datetime
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import threading

import kubernetes_api
import kubernetes_tools
import pods
from kubernetes_api import Refusal

NODES = ["node-1", "node-2", "node-3"]
GPUS = 0  # of the node
# What a kubelet keeps of the last message of a container: the end of its file, and of that an equal share for each
# container of the pod.
MAX_MESSAGE, MAX_MESSAGES_OF_POD = 4096, 12 * 1024
JOB_LABEL, INDEX_LABEL = "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-completion-index"
RESTART_AFTER_S = 1  # of a container; a kubelet waits longer after each end


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def expand(text, known):
    """Kubernetes' expansion of $(NAME) in commands and variables. A variable that is not known stays as it is."""

    def replace(found):
        return "$" if found[1] == "$" else known.get(found[1].strip("()"), found[0])

    return re.sub(r"\$(\$|\([^)]*\)|)", replace, text)


def without_nulls(value):
    """An object without the fields that are null, which the API server drops."""
    if isinstance(value, dict):
        return {name: without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value


def claims_of(pod):
    """The names of the PersistentVolumeClaims that a pod mounts."""
    return [volume["persistentVolumeClaim"]["claimName"] for volume in pod["spec"].get("volumes", [])
            if "persistentVolumeClaim" in volume]  # fmt: skip


class Container:
    """The container of a pod on the node, and its log."""

    def __init__(self, cluster, pod):
        self.cluster = cluster
        self.pod = pod
        self.log = []  # (time, line)
        self.has_ended = False
        self.was_killed = False
        self.reason = "Error"  # for a bad end
        self.process = None
        spec = pod["spec"]
        before = cluster.containers.get(pod["metadata"]["name"])
        self.restarts = before.restarts + 1 if before else 0
        [container] = spec["containers"]
        self.host = f"{spec['hostname']}.{spec['subdomain']}.{pod['metadata']['namespace']}.svc"
        self.places = {}
        self.directory = f"{cluster.directory}/{pod['metadata']['uid']}"
        for volume in spec["volumes"]:
            if "emptyDir" in volume:
                continue
            [mount] = [m["mountPath"] for m in container["volumeMounts"] if m["name"] == volume["name"]]
            self.places[mount] = self.bring(volume, spec["securityContext"]["fsGroup"])
        # As a kubelet does it: everybody may write the file, but not replace it, because it is mounted.
        self.message = f"{cluster.directory}/{pod['metadata']['uid']}-last/message"
        os.makedirs(os.path.dirname(self.message), exist_ok=True)
        with open(self.message, "wb"):
            os.chmod(self.message, 0o666)
        self.places[container.get("terminationMessagePath", "/dev/termination-log")] = self.message
        image, places = self.cluster.images.get(container["image"], (container["image"], {}))
        self.places.update(places)
        variables = self.variables(container)
        # No image has an entry point.
        command = [self.moved(expand(word, variables))
                   for word in container.get("command", []) + container.get("args", [])]  # fmt: skip
        program = shutil.which(command[0], path=f"{image}:/usr/bin:/bin")
        if program is None:
            self.set_state({"terminated": {"exitCode": 128, "reason": "StartError", "message": "failed to create task:"
                            f" exec: \"{command[0]}\": executable file not found in $PATH"}}, "Failed")  # fmt: skip
            self.has_ended = True
            return
        environment = {"PATH": os.environ["PATH"], "HOSTNAME": spec["hostname"]}
        environment.update({name: self.moved(value) for name, value in variables.items()})
        assert spec["securityContext"]["runAsUser"] == 10001, "pods.py runs all programs as this user"
        reader, writer = pty.openpty() if container.get("tty") else os.pipe()
        self.process = pods.start_process(cluster.node, spec["hostname"], self.host, [program, *command[1:]],
                                          environment, writer, mounts=[self.message])
        self.address = cluster.node.addresses[self.host]
        os.close(writer)
        self.set_state({"running": {"startedAt": now().isoformat()}}, "Running")
        threading.Thread(target=self.follow, args=(reader,), daemon=True).start()

    def bring(self, volume, group):
        """Makes the directory of a volume."""
        if "persistentVolumeClaim" in volume:
            path = f"{self.cluster.directory}/{volume['persistentVolumeClaim']['claimName']}"
            os.makedirs(path, exist_ok=True)
            os.chown(path, 0, group)
            os.chmod(path, 0o775)
            return path
        secret = self.cluster.objects["secrets", volume["secret"]["secretName"]]
        directory = f"{self.directory}/{volume['name']}"
        os.makedirs(directory)
        for name, content in secret["data"].items():
            path = f"{directory}/{name}"
            with open(path, "wb") as file:
                file.write(base64.b64decode(content))
            os.chown(path, 0, group)
            os.chmod(path, volume["secret"]["defaultMode"])
        return directory

    def variables(self, container):
        """The variables of the environment that the pod gives, by name."""
        metadata = self.pod["metadata"]
        values = {}
        for source in container.get("envFrom", []):
            values.update(self.cluster.objects["configmaps", source["configMapRef"]["name"]]["data"])
        for variable in container.get("env", []):
            if "valueFrom" in variable:
                path = variable["valueFrom"]["fieldRef"]["fieldPath"]
                label = re.fullmatch(r"metadata\.labels\['(.*)'\]", path)
                values[variable["name"]] = metadata["labels"][label[1]] if label else metadata[path.split(".")[1]]
            else:
                values[variable["name"]] = expand(variable["value"], values)
        return values

    def moved(self, text):
        for path, place in self.places.items():
            text = text.replace(path, place)
        return text

    def set_state(self, state, phase):
        with self.cluster.changed:
            if self.pod["spec"]["nodeName"] in self.cluster.silent_nodes:
                return
            self.pod["status"]["phase"] = phase
            self.pod["status"]["containerStatuses"] = [
                {"name": "task", "state": state, "restartCount": self.restarts}]  # fmt: skip
            self.cluster.note("MODIFIED", self.pod)

    def follow(self, reader):
        """Reads the output until the program has ended."""
        rest = b""
        while True:
            try:
                got = os.read(reader, 65536)
            except OSError:  # a terminal's end
                got = b""
            if not got:
                break
            *lines, rest = (rest + got).split(b"\n")
            self.add([line + b"\n" for line in lines])
        if rest:
            self.add([rest])
        os.close(reader)
        code = self.process.wait()
        with self.cluster.changed:
            self.has_ended = True
            code = 137 if self.was_killed else code  # of which `unshare` makes another one
            ended = {"exitCode": code, "reason": "Completed" if code == 0 else self.reason}
            with open(self.message, "rb") as file:
                message = file.read()[-MAX_MESSAGE:].decode(errors="replace")
            if message:
                ended["message"] = message[: MAX_MESSAGES_OF_POD // len(self.pod["spec"]["containers"])]
            starts_again = self.pod["spec"].get("restartPolicy", "Always") == "Always"
            phase = "Running" if starts_again else "Succeeded" if code == 0 else "Failed"
            self.set_state({"terminated": ended}, phase)
            self.cluster.node.forget(self.host, self.address)
            shutil.rmtree(self.directory, ignore_errors=True)
            if starts_again:
                threading.Timer(RESTART_AFTER_S, self.cluster.start, (self.pod,)).start()
            self.cluster.changed.notify_all()

    def add(self, lines):
        with self.cluster.changed:
            self.log += [(now(), line) for line in lines]
            self.cluster.changed.notify_all()

    def signal(self, number):
        if self.process is not None and self.process.poll() is None:
            self.was_killed = self.was_killed or number == signal.SIGKILL
            pods.signal_first(self.process, number)


class Cluster:
    """Use it in a `with` statement. `kubectl` is a command that talks to it."""

    def __init__(self, directory, kubectl):
        self.directory = directory
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.objects = {}  # by kind and name
        self.containers = {}  # by name of the pod
        self.events = []  # (version, kind, event) of all changes, for watches
        self.node_of = {}  # by name of a pod, if it is not the first one
        self.waiting = {}  # by name of a pod whose container cannot be started: the state "waiting"
        self.silent_nodes = set()  # whose kubelets are not heard of any more
        self.forbidden = set()  # (verb, kind)
        self.refusals = {}  # by name of an object that may not be created: a Refusal
        self.is_down = False
        self.has_ended = False
        self.images = {}  # by name: the path of its programs, and where other paths of it are on this machine
        self.cut_logs_after = []  # numbers of lines after which the next answers with logs break off
        self.versions = 0
        self.created = []  # all objects that ever were
        self.node = pods.Node(directory)
        self.server = kubernetes_api.serve(self)
        threading.Thread(target=self.control, daemon=True).start()
        self.config = f"{directory}/kubeconfig"
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "test",
                       "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
                       "clusters": [{"name": "test", "cluster":
                                     {"server": f"http://127.0.0.1:{self.server.server_port}"}}],
                       "users": [{"name": "test", "user": {"token": "anything"}}]}, file)  # fmt: skip
        self.kubectl = f"{kubectl} --kubeconfig={self.config} --cache-dir={directory}/cache"

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.has_ended = True
        with self.lock:
            for kind, name in list(self.objects):
                self.remove(kind, name)
        self.server.shutdown()
        self.node.close()

    def create(self, kind, item):
        item = without_nulls(item)
        item["metadata"].setdefault("namespace", "default")
        name = item["metadata"]["name"]
        try:
            kubernetes_tools.validate_core(item)
        except SystemExit as error:
            raise Refusal(422, "Invalid", str(error)) from error
        with self.changed:
            if name in self.refusals:
                raise self.refusals[name]
            if (kind, name) in self.objects:
                raise Refusal(409, "AlreadyExists", f'{kind} "{name}" already exists')
            item["metadata"].update(uid=f"uid-{self.versions + 1}",
                                    creationTimestamp=now().strftime("%Y-%m-%dT%H:%M:%SZ"))  # fmt: skip
            self.objects[kind, name] = item
            self.created.append(item)
            if kind == "pods":
                self.schedule(item)
            if kind == "jobs":
                item["status"] = {"startTime": now().isoformat()}
                item["spec"]["selector"] = {"matchLabels": {JOB_LABEL: item["metadata"]["uid"]}}
            self.note("ADDED", item)
            return copy.deepcopy(item)

    def note(self, what, item):
        """Tells the watches of a change. REQUIRES: the lock is held."""
        self.versions += 1
        item["metadata"]["resourceVersion"] = str(self.versions)
        [kind] = [kind for kind, (name, _) in kubernetes_api.RESOURCES.items() if name == item["kind"]]
        self.events.append((self.versions, kind, {"type": what, "object": copy.deepcopy(item)}))
        self.changed.notify_all()

    def patch(self, kind, name, patch):
        """A merge of the `spec` of a job. kubectl always sends the selector of a PodDisruptionBudget, also unchanged."""
        if kind not in ("jobs", "poddisruptionbudgets"):
            raise Refusal(405, "MethodNotAllowed", f"{kind} are not changed here")
        with self.changed:
            item = self.objects.get((kind, name))
            if item is None:
                raise Refusal(404, "NotFound", f'{kind} "{name}" not found')
            item["spec"].update(patch["spec"])
            self.note("MODIFIED", item)
            return copy.deepcopy(item)

    def control(self):
        """What the controllers do."""
        while not self.has_ended:
            with self.changed:
                for (kind, _), item in list(self.objects.items()):
                    if kind == "jobs" and item["spec"].get("completionMode") == "Indexed":
                        self.control_indexed_job(item)
                    elif kind == "jobs":
                        self.control_empty_job(item)
                    elif kind == "persistentvolumeclaims" and "deletionTimestamp" in item["metadata"]:
                        self.end_claim(item)
                uids = {item["metadata"]["uid"] for item in self.objects.values()}
                for (kind, name), item in list(self.objects.items()):
                    owners = item["metadata"].get("ownerReferences", [])
                    if owners and not any(owner["uid"] in uids for owner in owners):
                        self.delete(kind, name, item["spec"]["terminationGracePeriodSeconds"] if kind == "pods" else 0)
                self.changed.wait(0.2)

    def control_empty_job(self, job):
        """The job of a launcher, which has no pods of its own: it ends by its deadline."""
        spec = job["spec"]
        assert spec["parallelism"] == spec["ttlSecondsAfterFinished"] == 0, "other jobs are not known here"
        age = now() - datetime.datetime.fromisoformat(job["status"]["startTime"])
        if age.total_seconds() >= spec["activeDeadlineSeconds"]:
            self.remove("jobs", job["metadata"]["name"])

    def control_indexed_job(self, job):
        """Makes a pod for each index until one has succeeded, and reports the state of the job."""
        status, name = job["status"], job["metadata"]["name"]
        phases = {}  # of the pods of each index
        for pod in self.pods_of(job):
            phase = "Terminating" if "deletionTimestamp" in pod["metadata"] else pod["status"]["phase"]
            phases.setdefault(int(pod["metadata"]["labels"][INDEX_LABEL]), []).append(phase)
        for index in range(job["spec"]["completions"]):
            if not {"Pending", "Running", "Succeeded"} & set(phases.get(index, [])):
                self.create_pod(job, f"{name}-{index}-{self.versions:05x}", f"{name}-{index}", job["spec"]["template"],
                                {JOB_LABEL: job["metadata"]["uid"], INDEX_LABEL: str(index)},
                                [{"name": "JOB_COMPLETION_INDEX",
                                  "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX_LABEL}']"}}}])
        done = sorted(index for index, seen in phases.items() if "Succeeded" in seen)
        report = {"succeeded": len(done), "completedIndexes": ",".join(map(str, done)),
                  "failed": sum(seen.count("Failed") for seen in phases.values())}  # fmt: skip
        if len(done) == job["spec"]["completions"]:
            report["conditions"] = [{"type": "Complete", "status": "True"}]
        if not report.items() <= status.items():
            status.update(report)
            self.note("MODIFIED", job)

    def create_pod(self, owner, name, hostname, template, labels, variables):
        """Makes a pod of a controller's template, with these labels and variables added."""
        pod = {"apiVersion": "v1", "kind": "Pod", **copy.deepcopy(template)}
        reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
                     "uid": owner["metadata"]["uid"], "controller": True}  # fmt: skip
        pod["metadata"].update(name=name, labels={**pod["metadata"]["labels"], **labels}, ownerReferences=[reference])
        pod["spec"].update(hostname=hostname)
        for container in pod["spec"]["containers"]:
            container["env"] = container.get("env", []) + variables
        self.create("pods", pod)

    def pods_of(self, owner):
        """The pods that a controller has made for its object."""
        uid = owner["metadata"]["uid"]
        return [item for (kind, _), item in self.objects.items() if kind == "pods"
                and any(reference["uid"] == uid for reference in item["metadata"].get("ownerReferences", []))]

    def end_claim(self, claim):
        """A PersistentVolumeClaim that is being deleted goes, with its files, when no pod mounts it any more."""
        name = claim["metadata"]["name"]
        if not any(kind == "pods" and name in claims_of(item) for (kind, _), item in self.objects.items()):
            shutil.rmtree(f"{self.directory}/{name}", ignore_errors=True)
            self.remove("persistentvolumeclaims", name)

    def schedule(self, pod):
        pod["status"] = {"phase": "Pending"}
        gpus = int(pod["spec"]["containers"][0]["resources"]["limits"].get("nvidia.com/gpu", 0))
        if gpus > GPUS:
            pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                                            "message": "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."}]
            return
        selected = self.objects["services", pod["spec"]["subdomain"]]["spec"]["selector"]
        assert selected.items() <= pod["metadata"]["labels"].items(), "the service does not select the pod"
        name = pod["metadata"]["name"]
        nodes = [node for node in [self.node_of.get(name, NODES[0]), *NODES] if node not in self.silent_nodes]
        pod["spec"]["nodeName"] = nodes[0]
        if name in self.waiting:
            pod["status"]["containerStatuses"] = [{"name": "task", "state": {"waiting": self.waiting[name]}}]
            return
        # On a thread of its own, as a kubelet does it.
        threading.Thread(target=self.start, args=(pod,), daemon=True).start()

    def start(self, pod):
        with self.changed:
            name = pod["metadata"]["name"]
            if self.objects.get(("pods", name)) is pod and "deletionTimestamp" not in pod["metadata"]:
                self.containers[name] = Container(self, pod)
                self.changed.notify_all()

    def delete(self, kind, name, grace_s):
        with self.changed:
            item = self.objects.get((kind, name))
            if item is None:
                raise Refusal(404, "NotFound", f'{kind} "{name}" not found')
            if kind == "persistentvolumeclaims":
                item["metadata"]["deletionTimestamp"] = now().strftime("%Y-%m-%dT%H:%M:%SZ")
                self.note("MODIFIED", item)
                return item
            container = self.containers.get(name)
            is_silent = kind == "pods" and item["spec"].get("nodeName") in self.silent_nodes
            if kind != "pods" or grace_s == 0 or not is_silent and (container is None or container.has_ended):
                self.remove(kind, name)
            elif "deletionTimestamp" not in item["metadata"]:
                end = now() + datetime.timedelta(seconds=grace_s)
                item["metadata"].update(deletionTimestamp=end.strftime("%Y-%m-%dT%H:%M:%SZ"),
                                        deletionGracePeriodSeconds=grace_s)  # fmt: skip
                self.note("MODIFIED", item)
                if is_silent:
                    return item
                container.signal(signal.SIGTERM)
                threading.Thread(target=self.end, args=(name, container, grace_s), daemon=True).start()
            return item

    def end(self, name, container, grace_s):
        """A pod that is being deleted: it is killed after its time, and goes when the program has ended."""
        try:
            container.process.wait(grace_s)
        except subprocess.TimeoutExpired:
            container.signal(signal.SIGKILL)
        with self.changed:
            self.changed.wait_for(lambda: container.has_ended)
        # A kubelet reports the end, and lets the pod go when its volumes are unmounted, which may be at once.
        with self.changed:
            if self.containers.get(name) is container:
                self.remove("pods", name)

    def remove(self, kind, name):
        with self.changed:
            item = self.objects.pop((kind, name))
            self.note("DELETED", item)
            if kind == "pods" and name in self.containers:
                self.containers.pop(name).signal(signal.SIGKILL)

    def lose_node(self, node):
        """A machine dies, and Kubernetes gives its pods up, as it does some time after."""
        with self.changed:
            self.silent_nodes.add(node)
            for (kind, name), item in list(self.objects.items()):
                if kind == "pods" and item["spec"].get("nodeName") == node:
                    self.containers[name].signal(signal.SIGKILL)
                    item["status"]["conditions"] = [
                        {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
                         "message": "Taint manager: deleting due to NoExecute taint"}]  # fmt: skip
                    self.note("MODIFIED", item)
                    self.delete(kind, name, item["spec"]["terminationGracePeriodSeconds"])

    def remove_node(self, node):
        """A machine is taken out of the cluster, and Kubernetes collects its pods."""
        with self.changed:
            self.silent_nodes.add(node)
            for (kind, name), item in list(self.objects.items()):
                if kind == "pods" and item["spec"].get("nodeName") == node:
                    item["status"].update(phase="Failed", conditions=[
                        {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC",
                         "message": "PodGC: node no longer exists"}])  # fmt: skip
                    self.note("MODIFIED", item)
                    self.remove(kind, name)

    def list(self, kind, query):
        """The objects that the selectors of a query choose."""
        with self.lock:
            return [item for (k, _), item in self.objects.items() if k == kind and kubernetes_api.selects(query, item)]

    def names(self):
        with self.lock:
            return sorted(f"{kind}/{name}" for kind, name in self.objects)

    def log(self, pod):
        """The output, since its last start, of the program of the newest pod whose name begins with `pod`."""
        with self.lock:
            logs = [container.log for name, container in self.containers.items() if name.startswith(pod)]
            return b"".join(line for _, line in logs[-1]).decode() if logs else ""

    def kill(self, pod, reason="Error"):
        """The program of a pod dies."""
        with self.lock:
            container = self.containers[pod]
            container.reason = reason
        container.signal(signal.SIGKILL)
