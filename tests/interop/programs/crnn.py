"""A network that reads lines of characters, in training and decoding, with the variables on the parameter server."""
import numpy as np
import tensorflow as tf

from models import Crnn, train_op

tf1 = tf.compat.v1


def _training(use_resource, beam_search):
    def run(s):
        random = np.random.RandomState(4)
        with tf1.device(s.setter), tf1.variable_scope("", use_resource=use_resource):
            step = tf1.train.get_or_create_global_step()
            model = Crnn(beam_search)
            train, norm = train_op(model.loss, tf1.train.AdadeltaOptimizer(1.0, epsilon=1e-6), 3.0, step)
        s.init()
        for _ in range(8):
            s.run([train, model.losses, norm], model.batch(random), tolerance=2e-3)
        for training in (True, False):
            feeds = {**model.batch(random, 5), model.training: training}
            s.run([model.loss, model.decoded, model.error], feeds, tolerance=5e-3)
        s.run(tf1.global_variables(), tolerance=5e-3)
    return run


variables_by_reference = _training(False, False)
variables_by_handle = _training(True, False)
beam_search = _training(False, True)
