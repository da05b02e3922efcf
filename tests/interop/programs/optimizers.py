"""Five steps of every optimizer of tf.compat.v1.train: on variables by reference and by handle, with dense gradients and
with those of embedding lookups, in which rows occur twice."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
train = tf1.train

OPTIMIZERS = {
    "gradient_descent": lambda step: train.GradientDescentOptimizer(0.1),
    "proximal_gradient_descent": lambda step: train.ProximalGradientDescentOptimizer(
        0.1, l1_regularization_strength=0.02, l2_regularization_strength=0.1),
    "momentum": lambda step: train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda step: train.MomentumOptimizer(0.1, 0.9, use_nesterov=True, use_locking=True),
    "adadelta": lambda step: train.AdadeltaOptimizer(1.0, epsilon=1e-4),
    "adagrad": lambda step: train.AdagradOptimizer(0.3),
    "adagrad_da": lambda step: train.AdagradDAOptimizer(0.3, step, l1_regularization_strength=0.01,
                                                        l2_regularization_strength=0.1),
    "proximal_adagrad": lambda step: train.ProximalAdagradOptimizer(0.3, l1_regularization_strength=0.01,
                                                                    l2_regularization_strength=0.1),
    "adam": lambda step: train.AdamOptimizer(0.1),
    "ftrl": lambda step: train.FtrlOptimizer(0.3, l1_regularization_strength=0.01, l2_regularization_strength=0.1),
    "ftrl_v2": lambda step: train.FtrlOptimizer(0.3, learning_rate_power=-0.6, l2_shrinkage_regularization_strength=0.05),
    "rms_prop": lambda step: train.RMSPropOptimizer(0.05, momentum=0.5),
    "centered_rms_prop": lambda step: train.RMSPropOptimizer(0.05, momentum=0.5, centered=True, epsilon=0.01),
}


def _program(make, use_resource, sparse):
    def run(s):
        with tf.device(s.ps):
            step = train.get_or_create_global_step()
            w = tf1.get_variable("w", initializer=np.linspace(-1, 1, 12, dtype=np.float32).reshape(6, 2),
                                 use_resource=use_resource)
            b = tf1.get_variable("b", initializer=np.float32([0.5, -0.5]), use_resource=use_resource)
        with tf.device(s.worker(0)):
            if sparse:
                x = tf.nn.embedding_lookup(w, [[1, 4], [4, 0]]) + b
            else:
                x = tf.matmul([[1.0, 0, -1, 2, 0.5, 0]], w) + b
            loss = tf.reduce_sum(tf.square(x - 0.3))
        optimizer = make(step)
        op = optimizer.minimize(loss, global_step=step)
        s.init()
        slots = [optimizer.get_slot(v, name) for v in (w, b) for name in optimizer.get_slot_names()]
        for _ in range(5):
            s.run([loss, op])
            s.run([w, b, step] + slots)
    return run


for _name, _make in OPTIMIZERS.items():
    for _resource in (False, True):
        for _sparse in (False, True):
            globals()["_".join([_name, "resource" if _resource else "reference", "sparse" if _sparse else "dense"])] = (
                _program(_make, _resource, _sparse))


def half_precision(s):
    for i, dtype in enumerate([tf.float16, tf.bfloat16, tf.float64]):
        with tf.device(s.ps):
            w = tf1.get_variable(f"w{i}", initializer=tf.constant([1.0, -2.0, 3.0], dtype), use_resource=True)
        op = train.MomentumOptimizer(0.25, 0.5).minimize(tf.reduce_sum(tf.square(w)), var_list=[w])
        s.init()
        for _ in range(3):
            s.run(op)
        s.run(w)


def exponential_moving_average(s):
    with tf.device(s.ps):
        w = tf1.get_variable("w", initializer=[1.0, 2.0])
    average = train.ExponentialMovingAverage(0.5)
    maintain = average.apply([w])
    s.init()
    for _ in range(3):
        s.run(tf1.assign_add(w, [1.0, -1.0]))
        s.run(maintain)
        s.run(average.average(w))


def partitioned_embedding(s):
    with tf.device(s.ps):
        table = tf1.get_variable("table", shape=[10, 3], partitioner=tf1.fixed_size_partitioner(3),
                                 initializer=tf1.ones_initializer())
        numbered = [tf1.assign(part, tf.reshape(tf.range(i, i + 3.0 * part.shape[0]), part.shape))
                    for i, part in enumerate(table)]
    for strategy in ("mod", "div"):
        rows = tf.compat.v1.nn.embedding_lookup(table, [[0, 9], [4, 4]], partition_strategy=strategy)
        op = train.AdagradOptimizer(0.5, name=f"adagrad_{strategy}").minimize(tf.reduce_sum(tf.square(rows)))
        s.init()
        s.run(numbered)
        s.run(rows)
        s.run(op)
        s.run(list(table))


def gradients_are_clipped(s):
    with tf.device(s.ps):
        w = tf1.get_variable("w", initializer=[3.0, 4.0])
        e = tf1.get_variable("e", initializer=np.ones([4, 2], np.float32))
    loss = tf.reduce_sum(tf.square(w)) + 5 * tf.reduce_sum(tf.nn.embedding_lookup(e, [1, 1, 3]))
    grads, norm = tf.clip_by_global_norm(tf1.gradients(loss, [w, e]), 1.0)
    op = train.GradientDescentOptimizer(1.0).apply_gradients(zip(grads, [w, e]))
    s.init()
    s.run([norm, op])
    s.run([w, e])
