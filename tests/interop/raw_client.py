"""A client that can send requests which TensorFlow's client would not send: it sends bytes over gRPC."""
import grpc
from google.protobuf import text_format
from tensorflow.core.framework import graph_pb2

# The deadline of each call, which gRPC enforces. A server that has not answered by then counts as hung.
PATIENCE_S = 120


def _varint(n):
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    """The bytes of one field of a message: bytes and text with their length, integers as varints."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value & 2**64 - 1)
    if isinstance(value, str):
        value = value.encode()
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def around(size, *levels):
    """Nested messages whose innermost content is `size` bytes at the end: returns all bytes before this content, so
    that it need not be copied. Each level is the number of the field that holds the inner message, and the bytes of the
    fields before that field. The innermost level comes first."""
    start = b""
    for number, before in levels:
        start = before + _varint(number << 3 | 2) + _varint(len(start) + size) + start
    return start


def graph(text):
    """A GraphDef from its text, as bytes."""
    return text_format.Parse(text, graph_pb2.GraphDef()).SerializeToString()


class RawClient:
    """A client of one server. Its calls raise grpc.RpcError."""

    def __init__(self, target):
        self.channel = grpc.insecure_channel(target[len("grpc://"):], [
            ("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1),
            ("grpc.use_local_subchannel_pool", 1)])

    def close(self):
        self.channel.close()

    def start(self, method, request):
        """Starts a call and returns its future."""
        return self.channel.unary_unary("/tensorflow.MasterService/" + method).future(request, timeout=PATIENCE_S)

    def call(self, method, request):
        return self.start(method, request).result()

    def create_session(self, graph_def):
        return self.create_session_of(field(1, graph_def))

    def create_session_of(self, request):
        answer = self.call("CreateSession", request)
        assert answer[0] == 10, answer
        return answer[2:2 + answer[1]].decode()

    def extend_session(self, handle, graph_def, version):
        return self.call("ExtendSession", field(1, handle) + field(2, graph_def) + field(3, version))

    def run_request(self, handle, fetches=(), targets=(), feeds=(), timeout_ms=0):
        request = field(1, handle)
        for name, tensor in feeds:
            request += field(2, field(1, name) + field(2, tensor))
        for fetch in fetches:
            request += field(3, fetch)
        for target in targets:
            request += field(4, target)
        if timeout_ms:
            request += field(5, field(2, timeout_ms))
        return request

    def run(self, *args, **kwargs):
        return self.call("RunStep", self.run_request(*args, **kwargs))

    def close_session(self, handle):
        return self.call("CloseSession", field(1, handle))
