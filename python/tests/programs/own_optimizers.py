"""Optimizers that the program writes itself, in the styles of public programs: prints variables and slots."""

import numpy as np

STEPS = 4


def show(*values):
    for value in values:
        print(*(repr(float(item)) for item in np.asarray(value).ravel()))


def optimizers(tf):
    """The classes, by name."""

    class Sign(tf.train.Optimizer):
        """PowerSign: dense updates only, by assignments in a group."""

        def __init__(self, rate=0.1, base=1.5, use_locking=False, name="Sign"):
            super().__init__(use_locking, name)
            self._rate, self._base = rate, base
            self._rate_t = self._base_t = None

        def _prepare(self):
            self._rate_t = tf.convert_to_tensor(self._call_if_callable(self._rate), name="rate")
            self._base_t = tf.convert_to_tensor(self._base, name="base")

        def _create_slots(self, var_list):
            for v in var_list:
                self._zeros_slot(v, "m", self._name)

        def _apply_dense(self, grad, var):
            rate = tf.cast(self._rate_t, var.dtype.base_dtype)
            base = tf.cast(self._base_t, var.dtype.base_dtype)
            m = self.get_slot(var, "m")
            m_t = tf.assign(m, tf.maximum(0.9 * m + 0.1, tf.abs(grad)))
            update = tf.assign_sub(var, rate * grad * tf.pow(base, tf.sign(grad) * tf.sign(m_t)))
            return tf.group(update, m_t)

        def _apply_sparse(self, grad, var):
            raise NotImplementedError("no rule for rows")

    class AmsGrad(tf.train.Optimizer):
        """Shared powers, three slots, rows, and `_finish`."""

        def __init__(self, rate=0.05, beta1=0.9, beta2=0.99, epsilon=1e-8, use_locking=False, name="AmsGrad"):
            super().__init__(use_locking, name)
            self._rate, self._beta1, self._beta2, self._epsilon = rate, beta1, beta2, epsilon

        def _create_slots(self, var_list):
            first = min(var_list, key=lambda v: v.name)
            self._create_non_slot_variable(self._beta1, "power1", first)
            self._create_non_slot_variable(self._beta2, "power2", first)
            for v in var_list:
                self._zeros_slot(v, "m", self._name)
                self._zeros_slot(v, "v", self._name)
                self._get_or_make_slot(v, tf.fill([3], 0.25), "seen", "Seen")

        def _powers(self, var):
            return (tf.cast(self._get_non_slot_variable(name, var.graph), var.dtype.base_dtype)
                    for name in ("power1", "power2"))

        def _step(self, var, m_t, v_t):
            power1, power2 = self._powers(var)
            rate = self._rate * tf.sqrt(1 - power2) / (1 - power1)
            seen = tf.assign_add(self.get_slot(var, "seen"), [1.0, 2.0, 3.0])
            return tf.group(tf.assign_sub(var, rate * m_t / (tf.sqrt(v_t) + self._epsilon)), m_t, v_t, seen)

        def _apply_dense(self, grad, var):
            m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
            m_t = tf.assign(m, self._beta1 * m + (1 - self._beta1) * grad)
            return self._step(var, m_t, tf.assign(v, self._beta2 * v + (1 - self._beta2) * grad * grad))

        def _apply_sparse(self, grad, var):
            m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
            m_t = tf.assign(m, self._beta1 * m)
            with tf.control_dependencies([m_t]):
                m_t = tf.scatter_add(m, grad.indices, (1 - self._beta1) * grad.values)
            v_t = tf.assign(v, self._beta2 * v)
            with tf.control_dependencies([v_t]):
                v_t = tf.scatter_add(v, grad.indices, (1 - self._beta2) * grad.values * grad.values)
            return self._step(var, m_t, v_t)

        def _finish(self, update_ops, name_scope):
            with tf.control_dependencies(update_ops):
                graph = tf.get_default_graph()
                power1 = self._get_non_slot_variable("power1", graph)
                power2 = self._get_non_slot_variable("power2", graph)
                last = [tf.assign(power1, power1 * self._beta1), tf.assign(power2, power2 * self._beta2)]
            return tf.group(*update_ops + last, name=name_scope)

    class Decay(tf.train.Optimizer):
        """apply_gradients alone, as in BERT: slots are variables of the program, and the caller counts the steps."""

        def __init__(self, rate, decay, name="Decay"):
            super().__init__(False, name)
            self.rate, self.decay = rate, decay

        def apply_gradients(self, grads_and_vars, global_step=None, name=None):
            made = []
            for grad, param in grads_and_vars:
                if grad is None or param is None:
                    continue
                m = tf.get_variable(param.op.name + "/m", shape=param.shape.as_list(), dtype=tf.float32, trainable=False,
                                    initializer=tf.zeros_initializer())
                next_m = 0.9 * m + 0.1 * tf.convert_to_tensor(grad)
                update = next_m / (tf.abs(next_m) + 0.01) + self.decay * param
                made.extend([param.assign(param - self.rate * update), m.assign(next_m)])
            return tf.group(*made, name=name)

    class Clipped(tf.train.AdamOptimizer):
        """A rule of the library, with gradients that are changed, and weights that decay before the update."""

        def compute_gradients(self, *args, **kwargs):
            return [(None if g is None else tf.clip_by_value(tf.convert_to_tensor(g), -1.0, 1.0), v)
                    for g, v in super().compute_gradients(*args, **kwargs)]

        def _apply_dense(self, grad, var):
            with tf.control_dependencies([grad]):
                decayed = var.assign_sub(0.01 * var)
            with tf.control_dependencies([decayed]):
                return super()._apply_dense(grad, var)

    class Lazy(tf.train.AdamOptimizer):
        """The library's rule, except for rows."""

        def _apply_sparse(self, grad, var):
            power1, power2 = self._get_beta_accumulators()
            rate = self._lr_t * tf.sqrt(1 - power2) / (1 - power1)
            m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
            m_rows = self._beta1_t * tf.gather(m, grad.indices) + (1 - self._beta1_t) * grad.values
            v_rows = self._beta2_t * tf.gather(v, grad.indices) + (1 - self._beta2_t) * tf.square(grad.values)
            change = rate * m_rows / (tf.sqrt(v_rows) + self._epsilon_t)
            return tf.group(tf.scatter_sub(var, grad.indices, change), tf.scatter_update(m, grad.indices, m_rows),
                            tf.scatter_update(v, grad.indices, v_rows))

    return {"sign": Sign, "ams": AmsGrad, "decay": Decay, "clipped": Clipped, "lazy": Lazy}


def train(tf, make, sparse, slots, with_step=True):
    """Trains a small model, and prints its variables and the slots."""
    tf.reset_default_graph()
    table = tf.get_variable("table", initializer=np.linspace(-1, 1, 8).reshape(4, 2).astype(np.float32))
    bias = tf.get_variable("bias", initializer=np.array([0.5, -0.25], np.float32))
    rows = tf.gather(table, [3, 1, 3]) if sparse else table
    loss = tf.reduce_mean(tf.square(rows + bias - 2.0)) + tf.reduce_sum(tf.pow(table if not sparse else rows, 3)) * 0.01
    step = tf.train.get_or_create_global_step()
    optimizer = make()
    train_op = optimizer.minimize(loss, global_step=step if with_step else None)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(STEPS):
            session.run(train_op)
        show(*session.run([loss, step, table, bias]))
        show(*session.run([optimizer.get_slot(v, name) for v in (table, bias) for name in slots]))
    print(len(tf.global_variables()), len(tf.trainable_variables()), len(optimizer.variables()),
          len(optimizer.get_slot_names()))


def run(tf):
    made = optimizers(tf)
    train(tf, made["sign"], False, ["m"])
    train(tf, lambda: made["sign"](rate=lambda: 0.2), False, ["m"], with_step=False)
    train(tf, made["ams"], False, ["m", "v", "seen"])
    train(tf, made["ams"], True, ["m", "v", "seen"])
    train(tf, lambda: made["decay"](0.1, 0.01), True, [], with_step=False)
    train(tf, lambda: made["clipped"](0.1), False, ["m", "v"])
    train(tf, lambda: made["lazy"](0.1), True, ["m", "v"])
