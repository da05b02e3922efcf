"""A small cluster for the test `kubernetes_launch`: an API server that the real kubectl talks to, and one node.

It has pods, services and secrets, as far as `tensorbraid launch --on=kubernetes` needs them, with Kubernetes' rules
for deletion, for the expansion of $(NAME) and for the output of containers. Each object is validated by Kubernetes'
schemas. Each pod runs in namespaces of its own (pods.py). An image is a path on this machine where programs are
looked for.
"""
import base64
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

KINDS = {"pods": "Pod", "services": "Service", "secrets": "Secret"}
GPUS = 0  # of the node


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
        self.process = None
        spec = pod["spec"]
        [container] = spec["containers"]
        self.host = f"{spec['hostname']}.{spec['subdomain']}.{pod['metadata']['namespace']}.svc"
        self.places = {}
        self.directory = f"{cluster.directory}/{pod['metadata']['uid']}"
        for volume in spec["volumes"]:
            [mount] = [m["mountPath"] for m in container["volumeMounts"] if m["name"] == volume["name"]]
            self.places[mount] = self.bring(volume, spec["securityContext"]["fsGroup"])
        image = container["image"]
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
                                          environment, writer)
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
        with self.cluster.lock:
            self.pod["status"]["phase"] = phase
            self.pod["status"]["containerStatuses"] = [{"name": "task", "state": state}]

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
            self.set_state({"terminated": {"exitCode": code, "reason": "Completed" if code == 0 else "Error"}},
                           "Succeeded" if code == 0 else "Failed")  # fmt: skip
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
        self.forbidden = set()  # (verb, kind)
        self.is_down = False
        self.cut_logs_after = []  # numbers of lines after which the next answers with logs break off
        self.versions = 0
        self.created = []  # all objects that ever were
        self.node = pods.Node(directory)
        handler = type("BoundHandler", (Handler,), {"cluster": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
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
            if (kind, name) in self.objects:
                raise Refusal(409, "AlreadyExists", f'{kind} "{name}" already exists')
            self.versions += 1
            item["metadata"].update(uid=f"uid-{self.versions}", resourceVersion=str(self.versions),
                                    creationTimestamp=now().strftime("%Y-%m-%dT%H:%M:%SZ"))  # fmt: skip
            self.objects[kind, name] = item
            self.created.append(item)
            if kind == "pods":
                self.schedule(item)
        return item

    def schedule(self, pod):
        pod["status"] = {"phase": "Pending"}
        gpus = int(pod["spec"]["containers"][0]["resources"]["limits"].get("nvidia.com/gpu", 0))
        if gpus > GPUS:
            pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                                            "message": "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."}]
            return
        selected = self.objects["services", pod["spec"]["subdomain"]]["spec"]["selector"]
        assert selected.items() <= pod["metadata"]["labels"].items(), "the service does not select the pod"
        pod["spec"]["nodeName"] = "node-1"
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
            if kind != "pods" or grace_s == 0 or container is None or container.has_ended:
                self.remove(kind, name)
            elif "deletionTimestamp" not in item["metadata"]:
                end = now() + datetime.timedelta(seconds=grace_s)
                item["metadata"].update(deletionTimestamp=end.strftime("%Y-%m-%dT%H:%M:%SZ"),
                                        deletionGracePeriodSeconds=grace_s)  # fmt: skip
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
        time.sleep(1)  # as long as a kubelet may take until it lets a pod go, after it has reported the end
        with self.changed:
            if self.containers.get(name) is container:
                self.remove("pods", name)

    def remove(self, kind, name):
        del self.objects[kind, name]
        if kind == "pods" and name in self.containers:
            self.containers.pop(name).signal(signal.SIGKILL)

    def list(self, kind, selector):
        wanted = dict(part.split("=", 1) for part in selector.split(",") if part)
        with self.lock:
            return [item for (k, _), item in self.objects.items()
                    if k == kind and wanted.items() <= item["metadata"].get("labels", {}).items()]  # fmt: skip

    def names(self):
        with self.lock:
            return sorted(f"{kind}/{name}" for kind, name in self.objects)

    def kill(self, pod):
        """The program of a pod dies."""
        with self.lock:
            container = self.containers[pod]
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

    do_GET = do_POST = do_DELETE = handle_request

    def route(self, path, query, body):
        if path == "/version":
            return self.answer(200, {"major": "1", "minor": "32", "gitVersion": "v1.32.0"})
        if path == "/api":
            return self.answer(200, {"kind": "APIVersions", "versions": ["v1"]})
        if path == "/apis":
            return self.answer(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": []})
        if path == "/api/v1":
            verbs = ["create", "delete", "get", "list"]
            return self.answer(200, {"kind": "APIResourceList", "groupVersion": "v1", "resources": [
                {"name": kind, "singularName": name.lower(), "namespaced": True, "kind": name, "verbs": verbs}
                for kind, name in KINDS.items()]})  # fmt: skip
        found = re.fullmatch(r"/api/v1/namespaces/default/(pods|services|secrets)(?:/([^/]+))?(/log)?", path)
        if found is None:
            raise Refusal(404, "NotFound", "the server could not find the requested resource")
        kind, name, is_log = found.groups()
        verb = {"POST": "create", "DELETE": "delete", "GET": "get" if name else "list"}[self.command]
        if (verb, kind) in self.cluster.forbidden:
            raise Refusal(403, "Forbidden", f'{kind} is forbidden: User "test" cannot {verb} resource "{kind}" in API '
                          'group "" in the namespace "default"')  # fmt: skip
        if verb == "create":
            return self.answer(201, self.cluster.create(kind, body))
        if verb == "delete":
            return self.answer(200, self.cluster.delete(kind, name, body.get("gracePeriodSeconds", 30)))
        if verb == "list":
            items = self.cluster.list(kind, query.get("labelSelector", ""))
            with self.cluster.lock:
                return self.answer(200, {"kind": KINDS[kind] + "List", "apiVersion": "v1", "metadata": {},
                                         "items": items})  # fmt: skip
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
