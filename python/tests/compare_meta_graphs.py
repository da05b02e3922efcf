"""Exchanges MetaGraphs with TensorFlow in both directions: the reader differentiates and trains the writer's graphs.

The graphs have conditionals, loops, TensorArrays, reference and resource variables, and queue runners.

Needs a Python with TensorFlow, and the package tensorbraid in PYTHONPATH. `--write FOLDER` and `--read FOLDER WRITER`
run one half, with the module that TENSORBRAID_COMPARED names.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def _loop(tf, x, v):
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x + v), [0, v + 0.0])[1]


def _cond(tf, x, v):
    return tf.cond(x > 1.0, lambda: x * x * v, lambda: x + 3.0)


def _cond_of_one_side(tf, x, v):
    return tf.cond(x > 1.0, lambda: tf.constant(4.0), lambda: v * x)


def _nested(tf, x, v):
    return tf.cond(x > 1.0, lambda: tf.cond(x > 2.0, lambda: v * x, lambda: v * v), lambda: x)


def _cond_in_loop(tf, x, v):
    def body(i, a):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * v, lambda: a + x * x)

    return tf.while_loop(lambda i, a: i < 5, body, [0, x])[1]


def _loop_in_cond(tf, x, v):
    return tf.cond(x > 1.0, lambda: _loop(tf, x, v), lambda: v)


def _loop_in_loop(tf, x, v):
    return tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, _loop(tf, a * 0.5, v)), [0, x])[1]


def _loop_without_gradient(tf, x, v):
    fixed = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * v), [0, x], back_prop=False)[1]
    return tf.cond(x > 1.0, lambda: fixed * v * x, lambda: tf.while_loop(lambda a: a < 4.0, lambda a: a * 2.0, [x * v],
                                                                         back_prop=False) + v)


def _map(tf, x, v):
    return tf.reduce_sum(tf.map_fn(lambda e: e * e * v, tf.stack([x, v, x + v])))


def _scan(tf, x, v):
    return tf.reduce_sum(tf.scan(lambda state, e: tf.tanh(state * v + e), tf.stack([x, v, x * v]), x))


def _gathered(tf, x, v):
    table = tf.get_variable("table", initializer=np.arange(6, dtype=np.float32).reshape(3, 2))
    return tf.reduce_sum(tf.nn.embedding_lookup(table, [2, 0, 2]) * x) + v


MODELS = {f.__name__: f for f in (_loop, _cond, _cond_of_one_side, _nested, _cond_in_loop, _loop_in_cond,
                                  _loop_in_loop, _loop_without_gradient, _map, _scan, _gathered)}
OPTIMIZERS = {"descent": lambda tf: tf.train.GradientDescentOptimizer(0.01),
              "momentum": lambda tf: tf.train.MomentumOptimizer(0.01, 0.9),
              "adam": lambda tf: tf.train.AdamOptimizer(0.01),
              "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.01),
              "adagrad": lambda tf: tf.train.AdagradOptimizer(0.01)}


def write(tf, folder):
    for name, model in MODELS.items():
        for resource in (False, True):
            for trains in (False, True):
                with tf.Graph().as_default(), tf.Session() as session:
                    tf.set_random_seed(7)
                    with tf.variable_scope("", use_resource=resource, initializer=tf.ones_initializer()):
                        x = tf.placeholder(tf.float32, [], "x")
                        v = tf.get_variable("v", initializer=1.5)
                        tf.get_variable("local", initializer=4.0, collections=["local_variables"], trainable=False)
                        y = tf.identity(model(tf, x, v), "y")
                        step = tf.train.get_or_create_global_step()
                        tf.add_to_collection("y", y)
                        if trains:
                            tf.add_to_collection("train_op", tf.train.AdamOptimizer(0.01).minimize(y, step))
                        saver = tf.train.Saver()
                        session.run(tf.global_variables_initializer())
                        saver.save(session, os.path.join(folder, f"{name}{int(resource)}{int(trains)}"))
    with tf.Graph().as_default():
        item = tf.train.range_input_producer(5, shuffle=False).dequeue()
        tf.add_to_collection("item", item)
        tf.train.export_meta_graph(os.path.join(folder, "queue.meta"))
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [], "x")
        tf.identity(tf.gradients(_loop(tf, x, 2.0), x)[0], "gradient")
        tf.train.export_meta_graph(os.path.join(folder, "gradient.meta"))
    for resource in (False, True):
        _write_scope(tf, os.path.join(folder, f"scope{int(resource)}.meta"), resource)


def _write_scope(tf, path, resource):
    """Exports one scope of a graph, with a loop, a branch and a variable. The scope uses a tensor from outside."""
    with tf.Graph().as_default():
        outside = tf.placeholder(tf.float32, [], "outside")
        with tf.variable_scope("tower", use_resource=resource):
            x = tf.identity(outside, "x")
            v = tf.get_variable("v", initializer=1.5)
            tf.get_variable("parts", [4, 2], partitioner=tf.fixed_size_partitioner(2))
            y = tf.add(_loop(tf, x, v), _cond(tf, x, v), "y")
        tf.get_variable("other", initializer=1.0)
        for value in (x, y, outside):
            tf.add_to_collection("values", value)
        tf.train.export_meta_graph(path, export_scope="tower")


def _read_scopes(tf, path):
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.constant(0.5), tf.constant(2.5)]
        for i, value in enumerate(inputs):
            tf.train.import_meta_graph(path, import_scope=f"copy{i}", input_map={"$unbound_inputs_outside": value})
        print("scope", [v.name for v in tf.trainable_variables()], [value.name for value in tf.get_collection("values")])
        session.run(tf.global_variables_initializer())
        trained = [v for v in tf.trainable_variables() if "parts" not in v.name]
        for y, v in zip(tf.get_collection("values")[1::2], trained):
            _show("scope", *session.run([y, *tf.gradients(y, [v])]))
        saved = tf.train.Saver().save(session, path + ".saved")
        print("scope", tf.train.list_variables(saved))


def _show(name, *values):
    for value in values:
        print(name, *[f"{float(number):.5g}" for number in np.ravel(value)])


def _differentiate(tf, path, name):
    for value in (0.5, 1.5, 2.5):
        with tf.Graph().as_default(), tf.Session() as session:
            saver = tf.train.import_meta_graph(path + ".meta")
            saver.restore(session, path)
            x, y = tf.get_default_graph().get_tensor_by_name("x:0"), tf.get_collection("y")[0]
            print(name, [[v.name for v in of()] for of in (tf.trainable_variables, tf.global_variables,
                                                          tf.local_variables)])
            gradients = tf.gradients(y, [x] + tf.trainable_variables())
            _show(name, session.run(y, {x: value}))
            for gradient in gradients:
                if gradient is None:
                    print(name, "None")
                else:
                    _show(name, session.run(tf.convert_to_tensor(gradient), {x: value}))


def _train(tf, path, name, optimizer, imported):
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(path + ".meta")
        y = tf.get_collection("y")[0]
        if imported:
            train = tf.get_collection("train_op")[0]
        else:
            train = OPTIMIZERS[optimizer](tf).minimize(y * y, tf.train.get_global_step())
        session.run(tf.global_variables_initializer())
        saver.restore(session, path)
        for _ in range(4):
            session.run(train, {"x:0": 1.25})
        for variable in tf.trainable_variables() + [tf.train.get_global_step()]:
            _show(f"{name} {optimizer} {variable.name}", session.run(variable))


def read(tf, folder, writer):
    for name in MODELS:
        for resource in (0, 1):
            for trains in (0, 1):
                path = os.path.join(folder, f"{name}{resource}{trains}")
                # The package's gradient of a loop uses TensorLists. TensorFlow cannot differentiate it again, since it makes
                # zeros of the lists. It cannot do so with its own gradient loops either.
                if not trains or writer == "tensorflow":
                    _differentiate(tf, path, f"{name}{resource}{trains}")
                if trains:
                    _train(tf, path, f"{name}{resource}{trains}", "imported", True)
                elif name in ("_loop", "_gathered"):
                    for optimizer in OPTIMIZERS:
                        _train(tf, path, f"{name}{resource}{trains}", optimizer, False)
    if writer == "tensorflow":
        _differentiate_gradient(tf, os.path.join(folder, "gradient.meta"))
    for resource in (0, 1):
        _read_scopes(tf, os.path.join(folder, f"scope{resource}.meta"))
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(os.path.join(folder, "queue.meta"))
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        print("queue", *[session.run(tf.get_collection("item")[0]) for _ in range(7)])
        coordinator.request_stop()
        coordinator.join(threads)


def _differentiate_gradient(tf, path):
    """The gradient loops of TensorFlow have no gradient."""
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(path)
        try:
            tf.gradients(graph.get_tensor_by_name("gradient:0"), graph.get_tensor_by_name("x:0"))
            print("second gradient: made")
        except Exception:  # an AttributeError of TensorFlow
            print("second gradient: refused")


def _module(name):
    if name == "tensorbraid":
        import tensorbraid

        return tensorbraid
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    return tf


def _run(module, *args):
    environment = dict(os.environ, TENSORBRAID_COMPARED=module)
    done = subprocess.run([sys.executable, __file__, *args], env=environment, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{module} {' '.join(args)} failed:\n{done.stdout[-2000:]}\n{done.stderr[-6000:]}")
    return done.stdout.splitlines()


def _differences(expected, got):
    """The lines of `got` that differ from `expected` by more than rounding."""
    wrong = [] if len(expected) == len(got) else [f"{len(got)} lines for {len(expected)}"]
    for one, other in zip(expected, got):
        words = list(zip(one.split(), other.split()))
        try:
            equal = one.split()[0] == other.split()[0] and all(
                a == b or abs(float(a) - float(b)) <= 2e-4 * max(1.0, abs(float(a))) for a, b in words)
        except ValueError:
            equal = False
        if not equal or len(one.split()) != len(other.split()):
            wrong.append(f"{one}   !=   {other}")
    return wrong


def main():
    if len(sys.argv) > 2:
        tf = _module(os.environ["TENSORBRAID_COMPARED"])
        return (write if sys.argv[1] == "--write" else read)(tf, *sys.argv[2:])
    failed = []
    for writer in ("tensorflow", "tensorbraid"):
        with tempfile.TemporaryDirectory() as folder:
            _run(writer, "--write", folder)
            expected, got = (_run(reader, "--read", folder, writer) for reader in ("tensorflow", "tensorbraid"))
            failed += [f"written by {writer}: {line}" for line in _differences(expected, got)]
            print(f"written by {writer}: {len(expected)} lines")
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
