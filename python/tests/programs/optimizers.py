"""Every optimizer takes some steps on a small loss: prints the variables, the slots, and what schedules compute."""

import numpy as np


def optimizers(tf, step):
    rate = tf.constant(0.1)
    return [
        tf.train.GradientDescentOptimizer(0.1),
        tf.train.GradientDescentOptimizer(learning_rate=rate),
        tf.train.MomentumOptimizer(0.1, 0.9),
        tf.train.MomentumOptimizer(learning_rate=0.1, momentum=0.9, use_nesterov=True),
        tf.train.AdadeltaOptimizer(1.0),
        tf.train.AdagradOptimizer(0.1),
        tf.train.AdagradOptimizer(0.1, initial_accumulator_value=0.5),
        tf.train.AdamOptimizer(),
        tf.train.AdamOptimizer(0.05, beta1=0.8, beta2=0.99, epsilon=1e-6),
        tf.train.RMSPropOptimizer(0.01),
        tf.train.RMSPropOptimizer(0.01, decay=0.8, momentum=0.7, epsilon=1e-5),
        tf.train.RMSPropOptimizer(0.01, centered=True),
        tf.train.FtrlOptimizer(0.5),
        tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.1, l2_regularization_strength=0.2,
                               l2_shrinkage_regularization_strength=0.1),
        tf.train.AdagradDAOptimizer(0.5, step, l1_regularization_strength=0.05),
        tf.train.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=0.05),
        tf.train.ProximalAdagradOptimizer(0.1, l2_regularization_strength=0.05),
    ]


def show(value):
    for number in np.ravel(value):
        print(repr(float(number)))


def train_with_each(tf):
    for number in range(len(optimizers(tf, tf.train.get_or_create_global_step()))):
        with tf.Graph().as_default():
            step = tf.train.get_or_create_global_step()
            optimizer = optimizers(tf, step)[number]
            w = tf.Variable([[1.0, -2.0], [0.5, 3.0]], name="w", use_resource=True)
            # TensorFlow's proximal gradient descent does not take a float64 variable.
            kind = np.float32 if "Proximal" in type(optimizer).__name__ else np.float64
            b = tf.Variable(np.array([0.25, -0.5], kind), name="b", use_resource=True)
            x = tf.placeholder(tf.float32, [None, 2])
            y = tf.matmul(x, w) + tf.cast(b, tf.float32)
            loss = tf.reduce_mean(tf.square(y))
            train = optimizer.minimize(loss, global_step=step)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                for i in range(6):
                    session.run(train, {x: [[1.0, 0.1 * i], [-0.5, 2.0], [0.0, 1.0]]})
                    show(session.run(w))
                    show(session.run(b))
                for slot in optimizer.get_slot_names():
                    show(session.run(optimizer.get_slot(w, slot)))
                print(len(optimizer.variables()), len(tf.global_variables()), int(session.run(step)))


def schedules(tf):
    with tf.Graph().as_default():
        step = tf.placeholder(tf.int64, [])
        train = tf.train
        rates = [
            train.exponential_decay(0.1, step, 10, 0.5),
            train.exponential_decay(0.1, tf.cast(step, tf.float32) * 4.0, 10, 0.5, staircase=True),
            train.natural_exp_decay(0.1, step, 10, 0.5),
            train.natural_exp_decay(0.1, step, 10, 0.5, staircase=True),
            train.inverse_time_decay(0.1, step, 10, 0.5),
            train.inverse_time_decay(0.1, step, 10, 0.5, staircase=True),
            train.polynomial_decay(0.1, step, 10, 0.01),
            train.polynomial_decay(0.1, step, 10, 0.01, power=0.5, cycle=True),
            train.piecewise_constant(step, [3, 10], [1.0, 0.5, 0.25]),
            train.piecewise_constant(tf.cast(step, tf.float32), [2.5, 10.0], [1.0, 0.5, 0.25]),
            train.cosine_decay(0.1, step, 20, alpha=0.1),
            train.cosine_decay_restarts(0.1, step, 7),
            train.cosine_decay_restarts(0.1, step, 7, t_mul=1.0, m_mul=0.5, alpha=0.1),
            train.linear_cosine_decay(0.1, step, 20, num_periods=0.7, alpha=0.1, beta=0.01),
        ]
        with tf.Session() as session:
            for value in (0, 1, 3, 4, 9, 10, 11, 19, 20, 21, 40):
                for number in session.run(rates, {step: value}):
                    show(number)


def gradients(tf):
    """compute_gradients and apply_gradients, with a var_list, a grad_loss and a rate that changes."""
    with tf.Graph().as_default():
        step = tf.train.create_global_step()
        a = tf.Variable([1.0, 2.0], name="a", use_resource=True)
        b = tf.Variable([3.0, 4.0], name="b", use_resource=True)
        rate = tf.train.exponential_decay(0.5, step, 2, 0.5, staircase=True)
        optimizer = tf.train.MomentumOptimizer(rate, 0.5)
        pairs = optimizer.compute_gradients(a * a * b, [a, b], grad_loss=tf.constant([2.0, 0.5]))
        doubled = [(2.0 * gradient, variable) for gradient, variable in pairs]
        train = optimizer.apply_gradients(doubled, global_step=step, name="train")
        only_a = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(a * b), var_list=[a])
        average = tf.train.ExponentialMovingAverage(0.9, num_updates=step)
        with tf.control_dependencies([train]):
            averaged = average.apply([a, b])
        plain = tf.train.ExponentialMovingAverage(0.5)
        mean = plain.apply([a])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(5):
                session.run(averaged)
                session.run(only_a)
                session.run(mean)
                for value in (a, b, average.average(a), average.average(b), plain.average(a), rate, step):
                    show(session.run(value))
        print(len(tf.trainable_variables()), len(tf.global_variables()), len(average.variables_to_restore()))


def run(tf):
    schedules(tf)
    gradients(tf)
    train_with_each(tf)
