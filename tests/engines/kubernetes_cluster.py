"""A small cluster for the test `kubernetes_launch`: an API server that the real kubectl talks to, and three nodes.

It has pods, services, secrets and jobs, as far as `tensorbraid launch --on=kubernetes` needs them, with Kubernetes'
rules for deletion, owners, watches and deadlines of jobs, for the expansion of $(NAME), and for the output and the last
message of containers. Each object is validated by Kubernetes' schemas. Each pod runs in namespaces of its own
(pods.py). An image is a path on this machine where programs are looked for, or a name of Cluster.images.
"""
import base64
import copy
import datetime
import http.server
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import threading
import time
import urllib.parse

import kubernetes_tools
import pods

KINDS = {"pods": "Pod", "services": "Service", "secrets": "Secret", "jobs": "Job"}
GROUPS = {"/api/v1": ["pods", "services", "secrets"], "/apis/batch/v1": ["jobs"]}
NODES = ["node-1", "node-2", "node-3"]
GPUS = 0  # of the node
# What a kubelet keeps of the last message of a container: the end of its file, and of that an equal share for each
# container of the pod.
MAX_MESSAGE, MAX_MESSAGES_OF_POD = 4096, 12 * 1024


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def expand(text):
    """Kubernetes' expansion of $(NAME) in commands and variables, when no variable is known."""
    return re.sub(r"\$(\$|\([^)]*\)|)", lambda found: "$" if found[1] == "$" else found[0], text)


class Refusal(Exception):
    """An answer of the API server other than success."""

    def __init__(self, code, reason, message):
        super().__init__(message)
        self.status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
                       "message": message}  # fmt: skip


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
        [container] = spec["containers"]
        self.host = f"{spec['hostname']}.{spec['subdomain']}.{pod['metadata']['namespace']}.svc"
        self.places = {}
        self.directory = f"{cluster.directory}/{pod['metadata']['uid']}"
        for volume in spec["volumes"]:
            [mount] = [m["mountPath"] for m in container["volumeMounts"] if m["name"] == volume["name"]]
            self.places[mount] = self.bring(volume, spec["securityContext"]["fsGroup"])
        # As a kubelet does it: everybody may write the file, but not replace it, because it is mounted.
        self.message = f"{cluster.directory}/{pod['metadata']['uid']}-last/message"
        os.makedirs(os.path.dirname(self.message))
        with open(self.message, "wb"):
            os.chmod(self.message, 0o666)
        self.places[container["terminationMessagePath"]] = self.message
        image, places = self.cluster.images.get(container["image"], (container["image"], {}))
        self.places.update(places)
        command = [self.moved(expand(word)) for word in container["command"]]
        program = shutil.which(command[0], path=f"{image}:/usr/bin:/bin")
        if program is None:
            self.set_state({"terminated": {"exitCode": 128, "reason": "StartError", "message": "failed to create task:"
                            f" exec: \"{command[0]}\": executable file not found in $PATH"}}, "Failed")  # fmt: skip
            self.has_ended = True
            return
        environment = {"PATH": os.environ["PATH"]}
        environment.update({e["name"]: self.moved(expand(e["value"])) for e in container["env"]})
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
        os.makedirs(self.directory)
        for name, content in secret["data"].items():
            path = f"{self.directory}/{name}"
            with open(path, "wb") as file:
                file.write(base64.b64decode(content))
            os.chown(path, 0, group)
            os.chmod(path, volume["secret"]["defaultMode"])
        return self.directory

    def moved(self, text):
        for path, place in self.places.items():
            text = text.replace(path, place)
        return text

    def set_state(self, state, phase):
        with self.cluster.changed:
            if self.pod["spec"]["nodeName"] in self.cluster.silent_nodes:
                return
            self.pod["status"]["phase"] = phase
            self.pod["status"]["containerStatuses"] = [{"name": "task", "state": state}]
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
            self.set_state({"terminated": ended}, "Succeeded" if code == 0 else "Failed")
            self.cluster.node.forget(self.host, self.address)
            shutil.rmtree(self.directory, ignore_errors=True)
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
        handler = type("BoundHandler", (Handler,), {"cluster": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        threading.Thread(target=self.control_jobs, daemon=True).start()
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
            self.note("ADDED", item)
            return copy.deepcopy(item)

    def note(self, what, item):
        """Tells the watches of a change. REQUIRES: the lock is held."""
        self.versions += 1
        item["metadata"]["resourceVersion"] = str(self.versions)
        [kind] = [kind for kind, name in KINDS.items() if name == item["kind"]]
        self.events.append((self.versions, kind, {"type": what, "object": copy.deepcopy(item)}))
        self.changed.notify_all()

    def patch(self, kind, name, patch):
        """A merge of the `spec`."""
        with self.changed:
            item = self.objects.get((kind, name))
            if item is None:
                raise Refusal(404, "NotFound", f'{kind}.batch "{name}" not found')
            item["spec"].update(patch["spec"])
            self.note("MODIFIED", item)
            return copy.deepcopy(item)

    def control_jobs(self):
        """What the controllers of jobs, of finished jobs and of owners do."""
        while not self.has_ended:
            with self.changed:
                for (kind, name), item in list(self.objects.items()):
                    if kind != "jobs":
                        continue
                    spec = item["spec"]
                    assert spec["parallelism"] == spec["ttlSecondsAfterFinished"] == 0, "other jobs are not known here"
                    age = now() - datetime.datetime.fromisoformat(item["status"]["startTime"])
                    if age.total_seconds() >= spec["activeDeadlineSeconds"]:
                        self.remove(kind, name)
                uids = {item["metadata"]["uid"] for item in self.objects.values()}
                for (kind, name), item in list(self.objects.items()):
                    owners = item["metadata"].get("ownerReferences", [])
                    if owners and not any(owner["uid"] in uids for owner in owners):
                        self.delete(kind, name, item["spec"]["terminationGracePeriodSeconds"] if kind == "pods" else 0)
                self.changed.wait(0.2)

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
            if self.objects.get(("pods", name)) is pod:  # nobody has deleted it meanwhile
                self.containers[name] = Container(self, pod)
                self.changed.notify_all()

    def delete(self, kind, name, grace_s):
        with self.changed:
            item = self.objects.get((kind, name))
            if item is None:
                raise Refusal(404, "NotFound", f'{kind} "{name}" not found')
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

    def list(self, kind, selector):
        wanted = dict(part.split("=", 1) for part in selector.split(",") if part)
        with self.lock:
            return [item for (k, _), item in self.objects.items()
                    if k == kind and wanted.items() <= item["metadata"].get("labels", {}).items()]  # fmt: skip

    def names(self):
        with self.lock:
            return sorted(f"{kind}/{name}" for kind, name in self.objects)

    def kill(self, pod, reason="Error"):
        """The program of a pod dies."""
        with self.lock:
            container = self.containers[pod]
            container.reason = reason
        container.signal(signal.SIGKILL)


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers the requests of kubectl. Closes the connection after each."""

    cluster = None

    def log_message(self, *unused):
        pass

    def answer(self, code, content):
        body = json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_request(self):
        url = urllib.parse.urlsplit(self.path)
        query = {name: values[0] for name, values in urllib.parse.parse_qs(url.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            if self.cluster.is_down:
                raise Refusal(503, "ServiceUnavailable", "the server is currently unable to handle the request")
            self.route(url.path, query, json.loads(body) if body else {})
        except Refusal as refusal:
            self.answer(refusal.status["code"], refusal.status)
        except BrokenPipeError:
            pass  # kubectl has ended

    do_GET = do_POST = do_DELETE = do_PATCH = handle_request

    def route(self, path, query, body):
        if path == "/version":
            return self.answer(200, {"major": "1", "minor": "32", "gitVersion": "v1.32.0"})
        if path == "/api":
            return self.answer(200, {"kind": "APIVersions", "versions": ["v1"]})
        if path == "/apis":
            version = {"groupVersion": "batch/v1", "version": "v1"}
            return self.answer(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
                {"name": "batch", "versions": [version], "preferredVersion": version}]})  # fmt: skip
        if path in GROUPS:
            verbs = ["create", "delete", "get", "list", "patch", "watch"]
            version = path.removeprefix("/apis/").removeprefix("/api/")
            return self.answer(200, {"kind": "APIResourceList", "groupVersion": version, "resources": [
                {"name": kind, "singularName": KINDS[kind].lower(), "namespaced": True, "kind": KINDS[kind],
                 "verbs": verbs} for kind in GROUPS[path]]})  # fmt: skip
        found = re.fullmatch(
            r"(?:/api/v1|/apis/batch/v1)/namespaces/default/(pods|services|secrets|jobs)(?:/([^/]+))?(/log)?", path)
        if found is None:
            raise Refusal(404, "NotFound", "the server could not find the requested resource")
        kind, name, is_log = found.groups()
        verb = {"POST": "create", "DELETE": "delete", "PATCH": "patch", "GET": "get" if name else "list"}[self.command]
        if verb == "list" and query.get("watch") in ("true", "1"):
            verb = "watch"
        if (verb, kind) in self.cluster.forbidden:
            group = "batch" if kind == "jobs" else ""
            raise Refusal(403, "Forbidden", f'{kind} is forbidden: User "test" cannot {verb} resource "{kind}" in API '
                          f'group "{group}" in the namespace "default"')  # fmt: skip
        if verb == "create":
            return self.answer(201, self.cluster.create(kind, body))
        if verb == "delete":
            return self.answer(200, self.cluster.delete(kind, name, body.get("gracePeriodSeconds", 30)))
        if verb == "patch":
            return self.answer(200, self.cluster.patch(kind, name, body))
        if verb == "watch":
            return self.send_events(kind, int(query["resourceVersion"]), query.get("labelSelector", ""))
        if verb == "list":
            items = self.cluster.list(kind, query.get("labelSelector", ""))
            with self.cluster.lock:
                version = "batch/v1" if kind == "jobs" else "v1"
                return self.answer(200, {"kind": KINDS[kind] + "List", "apiVersion": version, "items": items,
                                         "metadata": {"resourceVersion": str(self.cluster.versions)}})  # fmt: skip
        with self.cluster.lock:
            item = self.cluster.objects.get((kind, name))
            container = self.cluster.containers.get(name)
        if item is None:
            raise Refusal(404, "NotFound", f'{kind} "{name}" not found')
        if not is_log:
            return self.answer(200, item)
        if container is None:
            raise Refusal(400, "BadRequest", f'container "task" in pod "{name}" is waiting to start')
        return self.send_log(container, query)

    def send_events(self, kind, version, selector):
        """Answers a watch, which goes on until the client or the cluster ends."""
        cluster = self.cluster
        wanted = dict(part.split("=", 1) for part in selector.split(",") if part)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        while not cluster.has_ended and not cluster.is_down:
            with cluster.changed:
                events = [(v, e) for v, k, e in cluster.events if v > version and k == kind
                          and wanted.items() <= e["object"]["metadata"]["labels"].items()]  # fmt: skip
                if not events:
                    cluster.changed.wait(1)
                    continue
            version = events[-1][0]
            self.wfile.write(b"".join(json.dumps(event).encode() + b"\n" for _, event in events))
            self.wfile.flush()

    def send_log(self, container, query):
        cluster = self.cluster
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        since = query.get("sinceTime", "")
        limit = cluster.cut_logs_after.pop(0) if cluster.cut_logs_after else None
        sent = 0
        while True:
            with cluster.changed:
                lines = container.log[sent:]
                if not lines and container.has_ended or limit is not None and limit <= 0:
                    return
                if not lines:
                    if query.get("follow") != "true":
                        return
                    cluster.changed.wait(1)
                    continue
            sent += len(lines)
            chosen = [(when, line) for when, line in lines if when.strftime("%Y-%m-%dT%H:%M:%SZ") >= since]
            if limit is not None:
                chosen, limit = chosen[:limit], limit - len(chosen)
            self.wfile.write(b"".join(when.strftime("%Y-%m-%dT%H:%M:%S.%f000Z ").encode() + line
                                      for when, line in chosen))  # fmt: skip
