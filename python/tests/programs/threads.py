"""Threads that train one network together, as in A3C: each has a copy of the network, computes gradients of its copy,
and applies them to the shared variables. The threads take turns, so that the losses are the same each time."""

import threading

import numpy as np

THREADS, TURNS = 3, 12


def network(tf, name, states):
    """A policy and an estimate of the value."""
    with tf.variable_scope(name):
        hidden = tf.layers.dense(states, 8, tf.nn.relu, kernel_initializer=tf.glorot_uniform_initializer(seed=1))
        policy = tf.layers.dense(hidden, 3, tf.nn.softmax, kernel_initializer=tf.glorot_uniform_initializer(seed=2))
        value = tf.layers.dense(hidden, 1, kernel_initializer=tf.glorot_uniform_initializer(seed=3))
    return policy, tf.squeeze(value, [1]), tf.trainable_variables(name)


class Worker:
    def __init__(self, tf, index, shared, optimizer):
        self.states = tf.placeholder(tf.float32, [None, 4])
        self.actions, self.rewards = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])
        policy, value, variables = network(tf, "worker%d" % index, self.states)
        advantage = self.rewards - value
        chosen = tf.reduce_sum(policy * tf.one_hot(self.actions, 3), 1)
        entropy = -tf.reduce_sum(policy * tf.log(policy + 1e-8))
        self.loss = (0.5 * tf.reduce_sum(tf.square(advantage)) - 0.01 * entropy
                     - tf.reduce_sum(tf.log(chosen) * tf.stop_gradient(advantage)))
        gradients, _ = tf.clip_by_global_norm(tf.gradients(self.loss, variables), 5.0)
        self.train = optimizer.apply_gradients(zip(gradients, shared))
        self.pull = tf.group(*[own.assign(theirs) for own, theirs in zip(variables, shared)])
        self.random = np.random.RandomState(index)

    def turn(self, session):
        states = self.random.rand(16, 4)
        session.run(self.pull)
        loss, _ = session.run([self.loss, self.train], {
            self.states: states, self.actions: self.random.randint(0, 3, 16), self.rewards: states.sum(1)})
        print(repr(float(loss)))


def run(tf):
    with tf.device("/cpu:0"):
        count = tf.Variable(0, trainable=False)
        increment = count.assign_add(1)
        shared = network(tf, "shared", tf.placeholder(tf.float32, [None, 4]))[2]
        optimizer = tf.train.RMSPropOptimizer(0.01)
        workers = [Worker(tf, i, shared, optimizer) for i in range(THREADS)]
    coordinator = tf.train.Coordinator()
    turns = threading.Condition()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def work(index):
            while not coordinator.should_stop():
                with turns:
                    turns.wait_for(lambda: coordinator.should_stop() or session.run(count) % THREADS == index)
                    if coordinator.should_stop():
                        return
                    with coordinator.stop_on_exception():
                        workers[index].turn(session)
                        if session.run(increment) == THREADS * TURNS:
                            coordinator.request_stop()
                    turns.notify_all()

        threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
        for thread in threads:
            thread.start()
        coordinator.join(threads)
        for value in session.run(shared):
            print(*[repr(float(number)) for number in value.ravel()])
