"""Calls the public functions and classes of the package, and methods of what they return, with random arguments.

usage: fuzz.py [--seed=1] [--calls=5000] [--only=NUMBER] [--match=TEXT]

The calls are made in forked processes. A call may raise any exception. One that ends its process or does not return is
a mistake: it is printed with its number, and the program fails. --only repeats one call and prints it; --match calls
only what has TEXT in its name.
"""

import argparse
import faulthandler
import inspect
import os
import random
import resource
import signal
import sys
import tempfile
import time
import types
import warnings

import numpy as np

import tensorbraid as tf

# What ends the process, waits for others or for data by design, or starts a server or a thread of each call.
EXCLUDED = {"run", "join", "wait_for_stop", "main", "wait_for_session", "prepare_or_wait_for_session", "loop",
            "wait_for_new_checkpoint", "checkpoints_iterator", "evaluate_repeatedly", "evaluation_loop", "Server",
            "create_local_server", "start", "managed_session"}
SECONDS = 120  # within which a call must return, also on a busy machine
MEMORY = 16 << 30
NAMESPACES = 4  # of tf.a.b.c, how deep


def callables():
    """Pairs of a dotted name and a public function or class, each once, in the order of their names."""
    found, seen = {}, set()

    def walk(module, path, depth):
        if id(module) in seen or depth > NAMESPACES:
            return
        seen.add(id(module))
        members = [(name, getattr(module, name, None)) for name in dir(module) if not name.startswith("_")]
        members.sort(key=lambda member: isinstance(member[1], types.ModuleType))  # so that a function has a short name
        for name, value in members:
            if isinstance(value, types.ModuleType):
                if value.__name__.startswith("tensorbraid"):
                    walk(value, f"{path}.{name}", depth + 1)
            elif callable(value) and name not in EXCLUDED and not name.endswith("Error") and id(value) not in seen:
                seen.add(id(value))
                found[f"{path}.{name}"] = value

    walk(tf, "tf", 0)
    return sorted(found.items())


class Hostile:
    """Raises an error for everything that an argument is asked."""

    def __array__(self, *args, **kwargs):
        raise ArithmeticError("no array")

    def __getattr__(self, name):
        raise AttributeError(name) if name.startswith("__") else LookupError("no " + name)

    __len__ = __iter__ = __getitem__ = __float__ = __index__ = __bool__ = __hash__ = __eq__ = __call__ = __array__


class Lying(list):
    """A list that shrinks while it is read."""

    def __len__(self):
        if len(self.__dict__) == 0 and super().__len__():
            self.pop()
        return super().__len__() + 1


def plain(rng):
    """A value of Python or NumPy."""
    recursive = [1]
    recursive.append(recursive)
    numbers = [0, 1, 2, 3, -1, -7, 100, 2**31 - 1, 2**31, 2**63 - 1, 2**63, -2**63, 10**30, 0.5, -0.0, 1e300,
               float("nan"), float("inf"), 1j, True, False]
    texts = ["", "a", "a/b", "b:0", "é", "\0", "x" * 1000, b"\xff\0", "float32", "SAME", "sum", "/cpu:0", "/job:ps"]
    dtypes = [np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_, np.complex64, np.float16, np.object_,
              "S3", "U2", "M8[s]", [("a", "i4")]]
    kinds = [
        lambda: None, lambda: rng.choice(numbers), lambda: rng.choice(numbers), lambda: rng.choice(texts),
        lambda: [rng.choice(numbers) for _ in range(rng.randint(0, 4))],
        lambda: [[rng.choice(numbers[:6]) for _ in range(2)] for _ in range(rng.randint(1, 3))],
        lambda: np.zeros([rng.choice([0, 1, 2, 5]) for _ in range(rng.randint(0, 4))], rng.choice(dtypes)),
        lambda: np.asfortranarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4))[::-1, :, ::2],
        lambda: np.random.RandomState(rng.randint(0, 9)).rand(2, 3).astype(np.float32),
        lambda: [1, [2, "a"], 3.5], lambda: recursive, lambda: {"a": 1, 2: [3]}, lambda: {}, lambda: (),
        lambda: object(), lambda: Hostile(), lambda: Lying([1, 2, 3]),
        lambda: rng.choice([int, dict, Hostile, tf.Tensor, tf.Session]),
        lambda: (lambda *args, **kwargs: args[0] if args else 1.0), lambda: (lambda *args: 1 / 0), lambda: iter([1, 2]),
        lambda: range(3), lambda: slice(1, None), lambda: ..., lambda: {1, 2}, lambda: [2**31, 2**31], lambda: [2**40],
        lambda: memoryview(b"abcd"), lambda: [None, None], lambda: [Hostile()],
    ]
    return rng.choice(kinds)()


class Objects:
    """Objects of the package for arguments, made once for some calls."""

    def __init__(self):
        with tf.Graph().as_default():
            foreign = [tf.constant([1.0, 2.0]), tf.Variable(1.0), tf.no_op()]
        closed = tf.Session(graph=tf.Graph())
        closed.close()
        image = tf.constant(np.arange(96, dtype=np.float32).reshape(2, 4, 4, 3))
        matrix = tf.Variable(np.eye(3, dtype=np.float32))
        queue = tf.FIFOQueue(3, [tf.float32], [[]])
        data = tf.data.Dataset.from_tensor_slices(np.arange(6, dtype=np.float32).reshape(3, 2))
        self.made = [
            tf.constant(1.0), tf.constant([1, 2, 3]), tf.constant([[1.0, 2.0], [3.0, 4.0]]), image, tf.constant("text"),
            tf.constant(["a", "b"]), tf.constant([True, False]), tf.placeholder(tf.float32), tf.constant(3, tf.int64),
            tf.placeholder(tf.int32, [None, 2]), matrix, matrix.op, matrix.handle, tf.no_op(), closed, *foreign,
            tf.get_variable("parts", [4, 2], partitioner=tf.fixed_size_partitioner(2)), queue, data,
            tf.data.make_initializable_iterator(data), tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [3, 4]),
            tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 2]), tf.constant([5, 3])), tf.TensorShape(None),
            tf.TensorShape([2, None]), tf.Dimension(None), tf.get_default_graph(), tf.Session(), tf.train.Coordinator(),
            tf.train.GradientDescentOptimizer(0.1), tf.nn.rnn_cell.LSTMCell(2), tf.zeros_initializer(),
            tf.TensorArray(tf.float32, 3), tf.ConfigProto(), tf.train.Example(), tf.train.ClusterSpec({"ps": ["a:1"]}),
            tf.train.Saver([matrix]), tf.layers.Dense(2), tf.train.StopAtStepHook(last_step=1), tf.GraphKeys,
        ]
        self.dtypes = [tf.float32, tf.float64, tf.int32, tf.int64, tf.string, tf.bool, tf.uint8, tf.resource,
                       tf.variant, tf.complex64, tf.float16, tf.bfloat16]


def argument(rng, objects, name, default):
    """A value for the argument `name`, which often fits."""
    if default is not inspect.Parameter.empty and rng.random() < 0.4:
        return default
    if rng.random() < 0.7:
        if "dtype" in name or name.startswith("out_type"):
            return rng.choice(objects.dtypes)
        if "shape" in name or "size" in name:
            return rng.choice([[], [2], [2, 3], [None, 2], [-1], 2, [0], [2**31, 2**31], [2**62, 4], [1] * 300])
        if name in ("name", "scope", "shared_name", "container", "default_name"):
            return rng.choice([None, "n", "a/b/", "é", "", 3])
        if "axis" in name or "dim" in name:
            return rng.choice([0, 1, -1, 7, None, [0, 1]])
        if name.endswith(("_fn", "fn", "func", "function", "initializer", "body", "cond")):
            return rng.choice([lambda *a, **k: a[0] if a else 1.0, lambda *a: tf.constant(True), None,
                               tf.zeros_initializer()])
    return rng.choice(objects.made) if rng.random() < 0.6 else plain(rng)


def arguments(rng, objects, function):
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [argument(rng, objects, "", inspect.Parameter.empty) for _ in range(rng.randint(0, 3))], {}
    positional, named = [], {}
    for parameter in parameters:
        if parameter.kind == parameter.VAR_POSITIONAL:
            positional += [argument(rng, objects, "", parameter.empty) for _ in range(rng.randint(0, 3))]
        elif parameter.kind == parameter.VAR_KEYWORD:
            continue
        elif parameter.default is parameter.empty and rng.random() < 0.97 or rng.random() < 0.4:
            named[parameter.name] = argument(rng, objects, parameter.name, parameter.default)
    if rng.random() < 0.05:
        named[rng.choice(["no_such_argument", "name", "dtype", "self"])] = plain(rng)
    if positional:  # arguments before *args can only be given by position
        before = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        positional = [named.pop(name, None) for name in before] + positional
    return positional, named


def show(value):
    try:
        return repr(value)[:120]
    except Exception as error:
        return f"<{type(value).__name__}: repr raises {type(error).__name__}>"


def attempt(rng, objects, name, function, trace):
    """Calls `function`, then some methods of the result, and computes tensors of the result in a session."""
    positional, named = arguments(rng, objects, function)
    if trace:
        given = [show(a) for a in positional] + [f"{key}={show(value)}" for key, value in named.items()]
        print(f"{name}({', '.join(given)})", flush=True)
    result = function(*positional, **named)
    if trace:
        print("  returned", show(result), flush=True)
    show(result)
    if isinstance(result, (tf.Tensor, tf.Operation)) and rng.random() < 0.5:
        config, options = tf.ConfigProto(operation_timeout_in_ms=2000), tf.RunOptions(timeout_in_ms=2000)
        with tf.Session(graph=result.graph, config=config) as session:
            try:
                session.run(result.graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES) and [
                    v.initializer for v in result.graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)], options=options)
            except Exception:
                pass
            session.run(result, options=options)
    methods = [m for m in dir(type(result)) if not m.startswith("_") and m not in EXCLUDED] if rng.random() < 0.5 else [
        ]
    for method in rng.sample(methods, min(3, len(methods))):
        try:
            member = getattr(result, method)
        except Exception:
            continue
        if callable(member):
            try:
                attempt(rng, objects, f"  .{method}", member, trace)
            except Exception as error:
                if trace:
                    print("  raised", type(error).__name__, str(error)[:200], flush=True)


def work(seed, first, last, targets, progress, trace=False):
    """Makes the calls [first, last). The file `progress` has the number of the present one."""
    warnings.simplefilter("ignore")
    objects, scopes = None, []
    for number in range(first, last):
        rng = random.Random(seed * 1000003 + number)
        os.pwrite(progress, b"%12d" % number, 0)
        if objects is None or number % 25 == 0:
            scopes.append(tf.Graph().as_default())  # calls may leave graphs on the stack, so this one is never left
            scopes[-1].__enter__()
            objects = Objects()
        name, function = targets[rng.randrange(len(targets))]
        try:
            attempt(rng, objects, name, function, trace)
        except (Exception, SystemExit, GeneratorExit) as error:
            if trace:
                print("  raised", type(error).__name__, str(error)[:300], flush=True)


def child(seed, first, last, targets, progress):
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)
    os.dup2(devnull, 1)
    try:
        work(seed, first, last, targets, progress)
    except BaseException as error:
        sys.stderr.write(f"fuzz.py itself fails: {type(error).__name__}: {error}\n")
        raise
    os._exit(0)


def watch(pid, progress, log):
    """Waits for a child. Returns why it failed, or None."""
    seen, since = None, time.monotonic()
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return None if status == 0 else f"the process ended with status {status}"
        now = os.pread(progress, 12, 0)
        if now != seen:
            seen, since = now, time.monotonic()
        if time.monotonic() - since > SECONDS:
            os.kill(pid, signal.SIGABRT)  # faulthandler prints where it is
            time.sleep(1)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return f"it did not return within {SECONDS} s"
        time.sleep(0.02)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--only", type=int)
    parser.add_argument("--match", default="")
    options = parser.parse_args()
    targets = [target for target in callables() if options.match in target[0]]
    os.chdir(tempfile.mkdtemp())
    tf.logging.set_verbosity(tf.logging.FATAL)
    if options.only is not None:
        faulthandler.enable()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        with open("progress", "wb+") as progress:
            work(options.seed, options.only, options.only + 1, targets, progress.fileno(), trace=True)
        return
    failures, first = [], 0
    while first < options.calls:
        with open("progress", "wb+") as progress, open("log", "wb+") as log:
            last = min(first + 1000, options.calls)
            pid = os.fork()
            if pid == 0:
                os.dup2(log.fileno(), 2)
                child(options.seed, first, last, targets, progress.fileno())
            failure = watch(pid, progress.fileno(), log)
            if failure is None:
                first = last
                continue
            number = int(os.pread(progress.fileno(), 12, 0))
            name = targets[random.Random(options.seed * 1000003 + number).randrange(len(targets))][0]
            log.seek(0)
            text = log.read().decode(errors="replace")
            failures.append(name)
            print(f"call {number}, {name}: {failure}\n{text[-3000:]}", flush=True)
            first = number + 1
    print(f"{options.calls} calls of {len(targets)} functions and classes with seed {options.seed}, "
          f"{len(failures)} failures: {' '.join(failures)}")
    sys.exit(1 if failures else 0)


main()
