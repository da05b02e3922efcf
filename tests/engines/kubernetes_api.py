"""The API server of kubernetes_cluster.py: what kubectl asks of it."""
import base64
import http.server
import json
import re
import threading
import urllib.parse

# By the name in paths: the kind, and the root of its paths.
RESOURCES = {
    "pods": ("Pod", "/api/v1"),
    "services": ("Service", "/api/v1"),
    "secrets": ("Secret", "/api/v1"),
    "configmaps": ("ConfigMap", "/api/v1"),
    "persistentvolumeclaims": ("PersistentVolumeClaim", "/api/v1"),
    "jobs": ("Job", "/apis/batch/v1"),
    "networkpolicies": ("NetworkPolicy", "/apis/networking.k8s.io/v1"),
    "poddisruptionbudgets": ("PodDisruptionBudget", "/apis/policy/v1"),
}
ROOTS = sorted({root for _, root in RESOURCES.values()})


def version_of(root):
    """The API version of the paths that begin with `root`, such as batch/v1."""
    return root.removeprefix("/apis/").removeprefix("/api/")


def selects(query, item):
    """Whether the selectors of a query, of labels and of the name, choose an object."""
    labels, fields = ([part.split("=", 1) for part in query.get(name, "").split(",") if part]
                      for name in ("labelSelector", "fieldSelector"))  # fmt: skip
    assert all(field == "metadata.name" for field, _ in fields), f"no other fields are known here: {fields}"
    metadata = item["metadata"]
    return all(metadata.get("labels", {}).get(name) == value for name, value in labels) and all(
        metadata["name"] == name for _, name in fields)  # fmt: skip


def serve(cluster):
    """Starts the server, on a free port of this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (Handler,), {"cluster": cluster}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def fields_of(message):
    """The fields of a message of Protocol Buffers: pairs of a number and an integer or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        number, wire = divmod(varint(), 8)
        value = varint()
        if wire == 2:
            value, at = message[at : at + value], at + value
        else:
            assert wire == 0, f"no wire type {wire} is known here"
        yield number, value


def parse(body):
    """The object in the body of a request. `kubectl create secret` sends its object as Protocol Buffers."""
    magic = b"k8s\0"
    if not body.startswith(magic):
        return json.loads(body) if body else {}
    unknown = dict(fields_of(body.removeprefix(magic)))
    assert dict(fields_of(unknown[1])) == {1: b"v1", 2: b"Secret"}, "other kinds are expected as JSON"
    secret = list(fields_of(unknown[2]))
    name = dict(fields_of(dict(secret)[1]))[1]
    pairs = [dict(fields_of(value)) for number, value in secret if number == 2]
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name.decode()}, "type": dict(secret)[3].decode(),
            "data": {pair[1].decode(): base64.b64encode(pair[2]).decode() for pair in pairs}}  # fmt: skip


class Refusal(Exception):
    """An answer of the API server other than success."""

    def __init__(self, code, reason, message):
        super().__init__(message)
        self.status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
                       "message": message}  # fmt: skip


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
            self.route(url.path, query, parse(body))
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
            versions = [version_of(root) for root in ROOTS if root.startswith("/apis/")]
            groups = [{"groupVersion": version, "version": version.split("/")[1]} for version in versions]
            return self.answer(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
                {"name": group["groupVersion"].split("/")[0], "versions": [group], "preferredVersion": group}
                for group in groups]})  # fmt: skip
        if path in ROOTS:
            verbs = ["create", "delete", "get", "list", "patch", "watch"]
            return self.answer(200, {"kind": "APIResourceList", "groupVersion": version_of(path), "resources": [
                {"name": name, "singularName": kind.lower(), "namespaced": True, "kind": kind, "verbs": verbs}
                for name, (kind, root) in RESOURCES.items() if root == path]})  # fmt: skip
        if path.startswith("/openapi/v3"):
            return self.answer(200, self.describe(path.removeprefix("/openapi/v3")))
        found = re.fullmatch(r"(/api/v1|/apis/[a-z.0-9]+/v1)/namespaces/default/([a-z]+)(?:/([^/]+))?(/log)?", path)
        if found is None or found[1] != RESOURCES.get(found[2], ("", ""))[1]:
            raise Refusal(404, "NotFound", "the server could not find the requested resource")
        root, kind, name, is_log = found.groups()
        verb = {"POST": "create", "DELETE": "delete", "PATCH": "patch", "GET": "get" if name else "list"}[self.command]
        if verb == "list" and query.get("watch") in ("true", "1"):
            verb = "watch"
        if (verb, kind) in self.cluster.forbidden:
            group = version_of(root).rpartition("/")[0]
            raise Refusal(403, "Forbidden", f'{kind} is forbidden: User "test" cannot {verb} resource "{kind}" in API '
                          f'group "{group}" in the namespace "default"')  # fmt: skip
        if verb == "create":
            return self.answer(201, self.cluster.create(kind, body))
        if verb == "delete":
            return self.answer(200, self.cluster.delete(kind, name, body.get("gracePeriodSeconds", 30)))
        if verb == "patch":
            return self.answer(200, self.cluster.patch(kind, name, body))
        if verb == "watch":
            return self.send_events(kind, int(query["resourceVersion"]), query)
        if verb == "list":
            with self.cluster.lock:
                return self.answer(200, {"kind": RESOURCES[kind][0] + "List", "apiVersion": version_of(root),
                                         "metadata": {"resourceVersion": str(self.cluster.versions)},
                                         "items": self.cluster.list(kind, query)})  # fmt: skip
        with self.cluster.lock:
            item = self.cluster.objects.get((kind, name))
            container = self.cluster.containers.get(name)
        if item is None:
            raise Refusal(404, "NotFound", f'{kind} "{name}" not found')
        if not is_log:
            return self.answer(200, item)
        if container is None:
            raise Refusal(400, "BadRequest", f'container "task" in pod "{name}" is waiting to start: '
                          "ContainerCreating")  # fmt: skip
        return self.send_log(container, query)

    def describe(self, root):
        """The part of the API's description that kubectl needs: that the server validates the objects itself."""
        if not root:
            return {"paths": {path.strip("/"): {"serverRelativeURL": f"/openapi/v3{path}"} for path in ROOTS}}
        parameter = {"name": "fieldValidation", "in": "query"}
        *group, version = version_of(root).split("/")
        return {"openapi": "3.0.0", "paths": {f"{root}/{name}": {"patch": {
            "parameters": [parameter], "x-kubernetes-group-version-kind":
            {"group": "".join(group), "version": version, "kind": kind}}}
            for name, (kind, r) in RESOURCES.items() if r == root}}  # fmt: skip

    def send_events(self, kind, version, query):
        """Answers a watch, which goes on until the client or the cluster ends."""
        cluster = self.cluster
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        while not cluster.has_ended and not cluster.is_down:
            with cluster.changed:
                events = [(v, e) for v, k, e in cluster.events
                          if v > version and k == kind and selects(query, e["object"])]  # fmt: skip
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
            stamp = "%Y-%m-%dT%H:%M:%S.%f000Z " if query.get("timestamps") == "true" else ""
            self.wfile.write(b"".join(when.strftime(stamp).encode() + line for when, line in chosen))
