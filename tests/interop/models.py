"""Layers, cells and models that several programs train. tf.compat.v1.layers and tf.compat.v1.nn.rnn_cell need Keras 2,
so this file has layers and cells with the same interface. Initial values are the same in every run."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


class Noise:
    """An initializer with the same values in every run."""

    def __init__(self, seed, scale=0.6):
        self._seed, self._scale = seed, scale

    def __call__(self, shape, dtype=None, partition_info=None):
        values = np.random.RandomState(self._seed).uniform(-self._scale, self._scale, list(shape))
        return tf.constant(values.astype(np.float32))


class Cell:
    """A cell of a recurrent network. Its variables are on `device`; if that is "", the enclosing device scopes
    decide."""

    def __init__(self, device, name, inputs, units, columns, state):
        self.units, self._state, self._name = units, state, name
        with tf1.device(device), tf1.variable_scope(name):
            self.kernel = tf1.get_variable("kernel", [inputs + units, columns], initializer=Noise(inputs + columns))
            self.bias = tf1.get_variable("bias", [columns], initializer=Noise(units))

    @property
    def state_size(self):
        return (self.units,) * self._state if self._state > 1 else self.units

    @property
    def output_size(self):
        return self.units

    def zero_state(self, batch_size, dtype):
        zeros = lambda: tf.zeros(tf.stack([batch_size, self.units]), dtype)
        return tuple(zeros() for _ in range(self._state)) if self._state > 1 else zeros()

    def __call__(self, inputs, state, scope=None):
        with tf1.name_scope(self._name):
            return self.call(inputs, state)


class Basic(Cell):
    def __init__(self, device, name, inputs, units):
        super().__init__(device, name, inputs, units, units, 1)

    def call(self, inputs, state):
        output = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), self.kernel) + self.bias)
        return output, output


class Lstm(Cell):
    def __init__(self, device, name, inputs, units):
        super().__init__(device, name, inputs, units, 4 * units, 2)

    def call(self, inputs, state):
        c, h = state
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, h], 1), self.kernel), self.bias)
        i, j, f, o = tf.split(gates, 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return h, (c, h)


class Gru(Cell):
    def __init__(self, device, name, inputs, units):
        super().__init__(device, name, inputs, units, 2 * units, 1)
        with tf1.device(device), tf1.variable_scope(name):
            self.candidate = tf1.get_variable("candidate", [inputs + units, units], initializer=Noise(91))

    def call(self, inputs, state):
        gates = tf.sigmoid(tf.matmul(tf.concat([inputs, state], 1), self.kernel) + self.bias)
        r, u = tf.split(gates, 2, 1)
        c = tf.tanh(tf.matmul(tf.concat([inputs, r * state], 1), self.candidate))
        h = u * state + (1 - u) * c
        return h, h


class Stack(Cell):
    """Cells on top of each other, like MultiRNNCell."""

    def __init__(self, cells):
        self.cells, self._name = cells, "stack"

    @property
    def state_size(self):
        return tuple(c.state_size for c in self.cells)

    @property
    def output_size(self):
        return self.cells[-1].output_size

    def zero_state(self, batch_size, dtype):
        return tuple(c.zero_state(batch_size, dtype) for c in self.cells)

    def call(self, inputs, state):
        new = []
        for cell, old in zip(self.cells, state):
            inputs, now = cell(inputs, old)
            new.append(now)
        return inputs, tuple(new)


class OnDevice(Cell):
    """A cell that is computed on `device`, like DeviceWrapper."""

    def __init__(self, device, cell):
        self._device, self._cell, self._name = device, cell, "on_device"

    @property
    def state_size(self):
        return self._cell.state_size

    @property
    def output_size(self):
        return self._cell.output_size

    def zero_state(self, batch_size, dtype):
        with tf1.device(self._device):
            return self._cell.zero_state(batch_size, dtype)

    def call(self, inputs, state):
        with tf1.device(self._device):
            return self._cell(inputs, state)


def dense(x, name, units):
    inputs = int(x.shape[-1])
    with tf1.variable_scope(name):
        kernel = tf1.get_variable("kernel", [inputs, units], initializer=Noise(units, (6 / (inputs + units)) ** 0.5))
        bias = tf1.get_variable("bias", [units], initializer=tf1.zeros_initializer())
        return tf.nn.bias_add(tf.matmul(x, kernel), bias)


def conv(x, name, channels, size=3, strides=1):
    """Convolution without bias, which batch normalization would take away again."""
    shape = [size, size, int(x.shape[-1]), channels]
    with tf1.variable_scope(name):
        scale = (6 / (size * size * (shape[2] + channels))) ** 0.5
        kernel = tf1.get_variable("kernel", shape, initializer=Noise(channels, scale))
        return tf.nn.conv2d(x, kernel, strides, "SAME")


def batch_norm(x, name, training, momentum=0.8):
    """Batch normalization of [batch, height, width, channels]. `training` is a scalar boolean tensor. The updates of the
    moving averages are added to UPDATE_OPS."""
    shape = [int(x.shape[-1])]
    with tf1.variable_scope(name):
        gamma = tf1.get_variable("gamma", shape, initializer=tf1.ones_initializer())
        beta = tf1.get_variable("beta", shape, initializer=tf1.zeros_initializer())
        moving = [tf1.get_variable("moving_mean", shape, initializer=tf1.zeros_initializer(), trainable=False),
                  tf1.get_variable("moving_variance", shape, initializer=tf1.ones_initializer(), trainable=False)]
        y, *batch = tf1.cond(
            training, lambda: tf1.nn.fused_batch_norm(x, gamma, beta, epsilon=1e-3, is_training=True),
            lambda: tf1.nn.fused_batch_norm(x, gamma, beta, *moving, epsilon=1e-3, is_training=False))
        rate = tf1.cond(training, lambda: 1 - momentum, lambda: 0.0)
        for old, new in zip(moving, batch):
            tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, tf1.assign_sub(old, (old - new) * rate))
        return y


def train_op(loss, optimizer, clip, global_step, colocate=False):
    """A training step of gradients of a global norm of at most `clip`, after the updates of UPDATE_OPS. Clipping also
    makes the step deterministic: no variable is updated before all gradients, which read the variables, are known.
    With `colocate` every gradient is computed where its op is."""
    gradients, variables = zip(*optimizer.compute_gradients(loss, colocate_gradients_with_ops=colocate))
    clipped, norm = tf.clip_by_global_norm(gradients, clip)
    # Only the gradients wait for UPDATE_OPS. The update must not wait as a whole, because SyncReplicasOptimizer makes
    # operations there that also run without a batch.
    with tf1.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
        clipped = [tf.identity(g) for g in clipped]
    return optimizer.apply_gradients(zip(clipped, variables), global_step=global_step), norm


class Crnn:
    """Reads lines of characters: convolutions with batch normalization, LSTMs in both directions, CTC."""
    HEIGHT, CHARACTER, CLASSES, LONGEST = 8, 4, 4, 5

    def __init__(self, beam_search=False):
        self.images = tf1.placeholder(tf.float32, [None, self.HEIGHT, None, 1], "images")
        self.widths = tf1.placeholder(tf.int32, [None], "widths")
        self.labels = tf1.sparse_placeholder(tf.int32, name="labels")
        self.training = tf1.placeholder_with_default(True, [], "training")
        x = tf.nn.relu(batch_norm(conv(self.images, "conv1", 6), "norm1", self.training))
        x = tf.nn.max_pool2d(x, [2, 2], [2, 2], "SAME")
        x = tf.nn.relu(batch_norm(conv(x, "conv2", 8), "norm2", self.training))
        x = tf.nn.max_pool2d(x, [2, 1], [2, 1], "SAME")
        columns = self.HEIGHT // 4 * 8
        shape = tf.shape(x)
        x = tf.reshape(tf.transpose(x, [0, 2, 1, 3]), [shape[0], shape[2], columns])
        lengths = self.widths // 2
        outputs, _ = tf1.nn.bidirectional_dynamic_rnn(Lstm("", "forward", columns, 8), Lstm("", "backward", columns, 8), x,
                                                      lengths, dtype=tf.float32)
        logits = tf.reshape(dense(tf.reshape(tf.concat(outputs, 2), [-1, 16]), "logits", self.CLASSES + 1),
                            [shape[0], shape[2], self.CLASSES + 1])
        logits = tf.transpose(logits, [1, 0, 2])
        self.losses = tf1.nn.ctc_loss(self.labels, logits, lengths)
        self.loss = tf.reduce_mean(self.losses)
        if beam_search:
            decoded, _ = tf1.nn.ctc_beam_search_decoder(logits, lengths, beam_width=10, merge_repeated=False)
        else:
            decoded, _ = tf.nn.ctc_greedy_decoder(logits, lengths)
        self.decoded = decoded[0]
        self.error = tf.reduce_mean(tf.edit_distance(tf.cast(self.decoded, tf.int32), self.labels))

    def batch(self, random, size=8):
        """Values to feed: noisy lines of characters, whose labels they are."""
        lines = [random.randint(0, self.CLASSES, random.randint(2, self.LONGEST + 1)) for _ in range(size)]
        # A character is two steps of the network wide, and so is the space after it: CTC needs a blank between equal ones.
        shapes = np.random.RandomState(0).randint(0, 2, [self.CLASSES, self.HEIGHT, self.CHARACTER])
        width = 2 * self.CHARACTER * self.LONGEST
        images = random.uniform(0, 0.2, [size, self.HEIGHT, width, 1]).astype(np.float32)
        for image, line in zip(images, lines):
            for at, character in enumerate(line):
                start = 2 * self.CHARACTER * at
                image[:, start:start + self.CHARACTER, 0] += shapes[character]
        labels = tf1.SparseTensorValue(np.array([[i, j] for i, line in enumerate(lines) for j in range(len(line))], np.int64),
                                       np.concatenate(lines).astype(np.int32), np.array([size, self.LONGEST], np.int64))
        return {self.images: images, self.labels: labels,
                self.widths: np.array([2 * self.CHARACTER * len(line) for line in lines], np.int32)}
