"""Towers of one model on the four CPU devices of one server: every tower has a part of the batch and all variables, and
the mean of their gradients makes one update."""
import numpy as np
import tensorflow as tf

from models import batch_norm, conv, dense

tf1 = tf.compat.v1

TOWERS, BATCH, SIZE, CLASSES = 4, 16, 8, 3
CONFIG = tf1.ConfigProto(device_count={"CPU": TOWERS})


def _batch(seed):
    random = np.random.RandomState(seed)
    labels = random.randint(0, CLASSES, BATCH)
    images = random.rand(BATCH, SIZE, SIZE, 1) + np.linspace(0, 1, SIZE)[:, None] * labels[:, None, None, None]
    return images.astype(np.float32), labels


def _network(x):
    x = tf.nn.relu(batch_norm(conv(x, "conv", 6), "norm", tf.constant(True)))
    x = tf.nn.max_pool2d(x, 2, 2, "SAME")
    return dense(tf.nn.relu(dense(tf.reshape(x, [-1, 6 * (SIZE // 2) ** 2]), "hidden", 10)), "logits", CLASSES)


def _mean_of(towers):
    """The gradients of all towers as one list of (mean gradient, variable)."""
    return [(tf.reduce_mean(tf.stack([g for g, _ in pairs]), 0), pairs[0][1]) for pairs in zip(*towers)]


def _training(device_of_variables, optimizer, use_resource=False):
    def run(s):
        x = tf1.placeholder(tf.float32, [BATCH, SIZE, SIZE, 1])
        labels = tf1.placeholder(tf.int64, [BATCH])
        parts = list(zip(tf.split(x, TOWERS), tf.split(labels, TOWERS)))
        with tf1.device(device_of_variables(s)):
            step = tf1.train.get_or_create_global_step()
            opt = optimizer()
        setter = lambda tower: tf1.train.replica_device_setter(
            ps_tasks=1, ps_device=device_of_variables(s), worker_device=s.cpu(tower))
        losses, towers = [], []
        for i, (images, classes) in enumerate(parts):
            with tf1.device(setter(i)), tf1.name_scope(f"tower{i}"):
                with tf1.variable_scope("", reuse=i > 0, use_resource=use_resource):
                    losses.append(tf1.losses.sparse_softmax_cross_entropy(classes, _network(images)))
                towers.append(opt.compute_gradients(losses[-1]))
        # As usual in such programs, only the first tower updates the moving averages.
        updates = tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)[:2]
        with tf1.device(device_of_variables(s)):
            gradients = _mean_of(towers)
            # Variables may be read by reference, so no update may come before the last gradient.
            with tf1.control_dependencies([g for g, _ in gradients] + updates):
                train = opt.apply_gradients(gradients, global_step=step)
        s.init()
        for i in range(6):
            images, classes = _batch(i)
            s.run([train, losses], {x: images, labels: classes}, tolerance=1e-3)
        s.run(tf1.global_variables(), tolerance=1e-3)
    run.config = CONFIG
    return run


variables_on_the_first_device = _training(lambda s: s.cpu(0), lambda: tf1.train.MomentumOptimizer(0.1, 0.9))
variables_on_the_parameter_server = _training(lambda s: s.ps, lambda: tf1.train.AdamOptimizer(0.01))
resource_variables = _training(lambda s: s.cpu(3), lambda: tf1.train.AdagradOptimizer(0.1), use_resource=True)


def a_loop_over_the_devices(s):
    with tf1.device(s.cpu(0)):
        w = tf1.get_variable("w", initializer=np.linspace(-1, 1, 9, dtype=np.float32).reshape(3, 3))

    def body(i, a):
        for device in range(TOWERS):
            with tf1.device(s.cpu(device)):
                a = tf.tanh(tf.matmul(a, w) + float(device))
        return i + 1, a

    _, y = tf.while_loop(lambda i, _: i < 5, body, (0, tf.ones([2, 3])))
    s.init()
    s.run([y] + tf1.gradients(y, [w]), tolerance=1e-4)


def every_device_has_its_own_state(s):
    queues, variables = [], []
    for i in range(TOWERS):
        with tf1.device(s.cpu(i)):
            variables.append(tf1.get_variable(f"v{i}", initializer=[float(i), 1.0], use_resource=i % 2 == 1))
            queues.append(tf1.FIFOQueue(10, [tf.float32], [[2]]))
    s.init()
    # Each device passes a value to the next device through a queue there.
    for i in range(TOWERS):
        s.run(queues[(i + 1) % TOWERS].enqueue(variables[i] * 2.0))
    s.run([q.size() for q in queues])
    for i in range(TOWERS):
        with tf1.device(s.cpu(i)):
            s.run(tf1.assign_add(variables[i], queues[i].dequeue()))
    s.run(variables)


a_loop_over_the_devices.config = CONFIG
every_device_has_its_own_state.config = CONFIG
