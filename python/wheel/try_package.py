"""Imports an installed package, measures that, and trains with it, also over gRPC."""

import subprocess
import sys
import time

import numpy as np


def memory():
    """The memory of this process, in MB."""
    with open("/proc/self/status", encoding="utf-8") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1]) / 1024


def measure():
    """The least time of five imports after NumPy's, in processes of their own, and the memory of one.

    The time is that of the processor, which is the same when other programs run.
    """
    code = "import numpy, time; t = time.process_time(); import tensorbraid; print(time.process_time() - t)"
    seconds = min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))
    before = memory()
    import tensorbraid  # noqa: F401

    print(f"import: {seconds:.3f} s, {memory() - before:.1f} MB")


def train(target=""):
    """Softmax regression of points whose class is the largest of their first three coordinates."""
    import tensorbraid as tf

    values = np.random.RandomState(0).randn(600, 8).astype(np.float32)
    labels = np.eye(3, dtype=np.float32)[values[:, :3].argmax(1)]
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 8])
        y = tf.placeholder(tf.float32, [None, 3])
        logits = tf.matmul(x, tf.Variable(tf.zeros([8, 3]))) + tf.Variable(tf.zeros([3]))
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=logits))
        step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1)), tf.float32))
        with tf.Session(target) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(200):
                session.run(step, {x: values, y: labels})
            accuracy = session.run(right, {x: values, y: labels})
    print(f"trained{' over gRPC' if target else ''}: accuracy {accuracy:.3f}")
    assert accuracy > 0.95, accuracy


def use_libraries():
    """One op of each library that a wheel contains."""
    import tensorbraid as tf

    with tf.Graph().as_default(), tf.Session() as session:
        image = tf.constant(np.arange(48, dtype=np.uint8).reshape(4, 4, 3))
        assert session.run(tf.image.decode_png(tf.image.encode_png(image))).shape == (4, 4, 3)
        assert session.run(tf.image.decode_jpeg(tf.image.encode_jpeg(image))).shape == (4, 4, 3)
        assert session.run(tf.strings.regex_replace("abc", "b+", "x")) == b"axc"
        assert session.run(tf.strings.unicode_transcode(b"\xe4", "ISO-8859-1", "UTF-8")) == "\xe4".encode()
        square = np.random.RandomState(0).randn(5, 5)
        s, u, v = session.run(tf.linalg.svd(square))
        np.testing.assert_allclose(u @ np.diag(s) @ v.T, square, atol=1e-9)
        kernel, pixels = np.ones([3, 3, 2, 4], np.float32), np.ones([1, 8, 8, 2], np.float32)
        convolution = session.run(tf.nn.conv2d(pixels, kernel, [1, 1, 1, 1], "VALID"))
        np.testing.assert_array_equal(convolution, np.full([1, 6, 6, 4], 18, np.float32))
    print("images, texts, matrices and convolutions: right")


start = time.perf_counter()
measure()
train()
import tensorbraid as tf  # noqa: E402

server = tf.train.Server.create_local_server()
train(server.target)
use_libraries()
print(f"{time.perf_counter() - start:.1f} s in all")
