"""Trains small networks: prints the loss of each step. Weights begin with the values of seeds."""

import numpy as np


def initial(tf, seed):
    return tf.glorot_uniform_initializer(seed=seed)


def train(tf, steps, feeds, train_op, *losses):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(steps):
            for loss in session.run([train_op, *losses], feeds(step))[1:]:
                print(repr(float(loss)))


def digits(count, size):
    """Made images of ten classes, and their labels."""
    random = np.random.RandomState(0)
    labels = random.randint(0, 10, count)
    images = random.rand(10, size, size, 1)[labels] + 0.2 * random.randn(count, size, size, 1)
    return images.astype(np.float32), labels


def batches(arrays, size):
    count = len(arrays[0])
    return lambda step: [array[step * size % count:step * size % count + size] for array in arrays]


def perceptron(tf):
    """Two hidden layers with dropout, weight decay, a falling learning rate and Adam."""
    data = batches(digits(256, 8), 32)
    images, labels = tf.placeholder(tf.float32, [None, 8, 8, 1]), tf.placeholder(tf.int64, [None])
    x = tf.layers.flatten(images)
    for i, units in enumerate((32, 16)):
        x = tf.layers.dense(x, units, tf.nn.relu, kernel_initializer=initial(tf, i + 1))
        x = tf.nn.dropout(x, rate=0.2, seed=i + 5)
    logits = tf.layers.dense(x, 10, kernel_initializer=initial(tf, 3))
    decay = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if "kernel" in v.name])
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits) + 1e-3 * decay
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.01, step, 10, 0.5, staircase=True)
    train_op = tf.train.AdamOptimizer(rate).minimize(loss, step)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
    train(tf, 40, lambda k: dict(zip((images, labels), data(k))), train_op, loss, accuracy)


def convolutional(tf):
    """Convolutions with batch normalization and pooling, and momentum."""
    data = batches(digits(128, 12), 16)
    images, labels = tf.placeholder(tf.float32, [None, 12, 12, 1]), tf.placeholder(tf.int64, [None])
    training = tf.placeholder_with_default(True, [])
    x = images
    for i, filters in enumerate((4, 8)):
        x = tf.layers.conv2d(x, filters, 3, padding="same", kernel_initializer=initial(tf, i + 1))
        x = tf.nn.relu(tf.layers.batch_normalization(x, training=training))
        x = tf.layers.max_pooling2d(x, 2, 2)
    logits = tf.layers.dense(tf.layers.flatten(x), 10, kernel_initializer=initial(tf, 3))
    loss = tf.losses.softmax_cross_entropy(tf.one_hot(labels, 10), logits, label_smoothing=0.1)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True).minimize(loss)
    train(tf, 25, lambda k: dict(zip((images, labels), data(k))), train_op, loss)


def autoencoder(tf):
    """A variational autoencoder, whose noise has a seed."""
    data = batches(digits(128, 6), 32)
    images = tf.placeholder(tf.float32, [None, 6, 6, 1])
    flat = tf.clip_by_value(tf.layers.flatten(images), 0.0, 1.0)
    hidden = tf.layers.dense(flat, 16, tf.nn.tanh, kernel_initializer=initial(tf, 1))
    mean = tf.layers.dense(hidden, 4, kernel_initializer=initial(tf, 2))
    log_variance = tf.layers.dense(hidden, 4, kernel_initializer=initial(tf, 3))
    code = mean + tf.exp(log_variance / 2) * tf.random_normal(tf.shape(mean), seed=4)
    hidden = tf.layers.dense(code, 16, tf.nn.tanh, kernel_initializer=initial(tf, 5))
    logits = tf.layers.dense(hidden, 36, kernel_initializer=initial(tf, 6))
    rebuilt = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=flat, logits=logits), 1)
    distance = -0.5 * tf.reduce_sum(1 + log_variance - mean ** 2 - tf.exp(log_variance), 1)
    loss = tf.reduce_mean(rebuilt + distance)
    train_op = tf.train.RMSPropOptimizer(0.003).minimize(loss)
    train(tf, 40, lambda k: {images: data(k)[0]}, train_op, loss, tf.reduce_mean(distance))


def adversarial(tf):
    """A GAN: two optimizers, each with the variables of a scope, and a discriminator that is built twice."""
    random = np.random.RandomState(3)
    real = tf.placeholder(tf.float32, [None, 2])
    noise = tf.placeholder(tf.float32, [None, 3])

    def discriminator(x):
        with tf.variable_scope("discriminator", reuse=tf.AUTO_REUSE):
            x = tf.layers.dense(x, 8, tf.nn.leaky_relu, name="hidden", kernel_initializer=initial(tf, 1))
            return tf.layers.dense(x, 1, name="score", kernel_initializer=initial(tf, 2))

    with tf.variable_scope("generator"):
        hidden = tf.layers.dense(noise, 8, tf.nn.softplus, kernel_initializer=initial(tf, 3))
        made = tf.layers.dense(hidden, 2, kernel_initializer=initial(tf, 4))
    cross_entropy = tf.nn.sigmoid_cross_entropy_with_logits
    on_real, on_made = discriminator(real), discriminator(made)
    d_loss = (tf.reduce_mean(cross_entropy(labels=tf.ones_like(on_real), logits=on_real))
              + tf.reduce_mean(cross_entropy(labels=tf.zeros_like(on_made), logits=on_made)))
    g_loss = tf.reduce_mean(cross_entropy(labels=tf.ones_like(on_made), logits=on_made))
    d_train = tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(d_loss, var_list=tf.trainable_variables("discriminator"))
    g_train = tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(
        g_loss, var_list=tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "generator"))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(40):
            feeds = {real: random.randn(32, 2) * 0.2 + [1.0, -1.0], noise: random.randn(32, 3)}
            print(repr(float(session.run([d_loss, d_train], feeds)[0])))
            print(repr(float(session.run([g_loss, g_train], feeds)[0])))
        print(*[repr(float(number)) for number in session.run(made, feeds).ravel()])


def run(tf):
    for part in (perceptron, convolutional, autoencoder, adversarial):
        with tf.Graph().as_default():
            part(tf)
