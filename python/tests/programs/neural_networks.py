"""tf.nn: activations, losses, convolutions, pools, normalization, embeddings. Prints values and gradients."""

import numpy as np


def show(session, tensors):
    for value in session.run(tensors):
        print(*[repr(float(number)) for number in np.asarray(value).ravel()])


def activations(tf, x):
    nn = tf.nn
    return [nn.relu(x), nn.relu6(x * 4.0), nn.elu(x), nn.selu(x), nn.crelu(x), nn.leaky_relu(x), nn.leaky_relu(x, 0.1),
            nn.softplus(x), nn.softsign(x), nn.sigmoid(x), nn.tanh(x), nn.swish(x), nn.softmax(x), nn.softmax(x, axis=0),
            nn.softmax(x, dim=0), nn.log_softmax(x), nn.log_softmax(x, axis=0), nn.zero_fraction(nn.relu(x)),
            nn.l2_loss(x), nn.bias_add(x, [1.0, 2.0, 3.0]), nn.l2_normalize(x, 1), nn.l2_normalize(x, dim=[0, 1]),
            nn.xw_plus_b(x, np.ones([3, 2], np.float32), [0.5, 1.5]), nn.dropout(x, keep_prob=1.0),
            nn.relu_layer(x, np.ones([3, 2], np.float32), [0.5, 1.5]), nn.dropout(x, rate=0.5, seed=3),
            nn.dropout(x, 0.3, noise_shape=[1, 3], seed=4)]


def losses(tf, x, y):
    nn = tf.nn
    soft = nn.softmax(y)
    cube, cube_labels = tf.reshape(x, [2, 1, 3]), tf.reshape(soft, [2, 1, 3])
    return [nn.softmax_cross_entropy_with_logits(labels=soft, logits=x),
            nn.softmax_cross_entropy_with_logits(labels=soft, logits=x, dim=0),
            nn.softmax_cross_entropy_with_logits_v2(labels=cube_labels, logits=cube),
            nn.softmax_cross_entropy_with_logits_v2(labels=cube_labels, logits=cube, axis=1),
            nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=x),
            nn.sparse_softmax_cross_entropy_with_logits(labels=[[2], [0]], logits=cube),
            nn.sigmoid_cross_entropy_with_logits(labels=soft, logits=x),
            nn.weighted_cross_entropy_with_logits(soft, x, 3.0), nn.log_poisson_loss(soft, x),
            nn.log_poisson_loss(soft * 9.0, x, compute_full_loss=True)]


def images(tf, image, rng):
    nn = tf.nn
    kernel = rng.randn(3, 2, 3, 4).astype(np.float32)
    depthwise = rng.randn(3, 3, 3, 2).astype(np.float32)
    pointwise = rng.randn(1, 1, 6, 5).astype(np.float32)
    sequence = tf.reshape(image, [2, 36, 3])
    volume = tf.reshape(image, [2, 3, 2, 6, 3])
    cube = rng.randn(2, 2, 2, 3, 2).astype(np.float32)
    return [nn.conv2d(image, kernel, [1, 2, 1, 1], "SAME"), nn.conv2d(image, kernel, 2, "VALID"),
            nn.conv2d(image, kernel, strides=1, padding=[[0, 0], [1, 2], [0, 1], [0, 0]]),
            nn.conv2d(tf.stop_gradient(image), kernel, 1, "SAME", dilations=2), nn.atrous_conv2d(image, kernel, 2, "VALID"),
            nn.convolution(image, kernel, "SAME", strides=[2, 1]),
            nn.convolution(sequence, rng.randn(3, 3, 2).astype(np.float32), "VALID", dilation_rate=[2]),
            nn.conv1d(sequence, rng.randn(3, 3, 2).astype(np.float32), 2, "SAME"),
            nn.conv3d(volume, cube, [1, 1, 1, 2, 1], "SAME"),
            nn.depthwise_conv2d(image, depthwise, [1, 1, 1, 1], "SAME"),
            nn.depthwise_conv2d(image, depthwise, [1, 1, 1, 1], "VALID", rate=[2, 2]),
            nn.separable_conv2d(image, depthwise, pointwise, [1, 2, 2, 1], "SAME"),
            nn.conv2d_transpose(image, rng.randn(3, 3, 4, 3).astype(np.float32), [2, 12, 12, 4], [1, 2, 2, 1]),
            nn.conv2d_transpose(image, rng.randn(3, 3, 4, 3).astype(np.float32), [2, 8, 8, 4], 1, "VALID"),
            nn.conv1d_transpose(sequence, rng.randn(3, 4, 3).astype(np.float32), [2, 72, 4], 2),
            nn.conv3d_transpose(volume, rng.randn(2, 2, 2, 2, 3).astype(np.float32), [2, 3, 2, 12, 2], [1, 1, 1, 2, 1]),
            nn.max_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), nn.avg_pool(image, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"),
            nn.max_pool2d(image, 2, 1, "SAME"), nn.avg_pool2d(image, 2, 3, "VALID"), nn.max_pool1d(sequence, 3, 2, "SAME"),
            nn.avg_pool1d(sequence, 2, 2, "VALID"), nn.max_pool3d(volume, 2, 1, "SAME"),
            nn.avg_pool3d(volume, [1, 1, 1, 2, 1], [1, 1, 1, 2, 1], "VALID"), nn.pool(image, [2, 2], "MAX", "SAME"),
            nn.max_pool_with_argmax(image, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")[0],
            nn.dilation2d(image, kernel[:, :, :, 0], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
            nn.erosion2d(image, kernel[:, :, :, 0], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
            nn.lrn(image), nn.local_response_normalization(image, 2, 1.0, 0.5, 0.75)]


def normalization(tf, x, image):
    nn = tf.nn
    mean, variance = nn.moments(image, [0, 1, 2])
    kept = nn.moments(image, [1], keep_dims=True)
    scale, offset = tf.constant([1.0, 2.0, 3.0]), tf.constant([0.1, 0.2, 0.3])
    counts, mean_ss, variance_ss, shift = nn.sufficient_statistics(image, [0, 1], shift=0.5)
    return [mean, variance, *kept, *nn.weighted_moments(x, [0], [[1.0], [3.0]]), mean_ss, variance_ss,
            *nn.normalize_moments(counts, mean_ss, variance_ss, shift),
            nn.batch_normalization(image, mean, variance, offset, scale, 1e-3),
            nn.batch_normalization(image, mean, variance, None, None, 1e-3),
            nn.fused_batch_norm(image, scale, offset)[0], tf.stop_gradient(nn.fused_batch_norm(image, scale, offset)[1]),
            nn.fused_batch_norm(image, scale, offset, mean, variance, is_training=False)[0]]


def embeddings(tf, table, parts):
    nn = tf.nn
    ids = [[4, 0], [2, 4]]
    list_of_parts = [tf.Variable(np.arange(6.0).reshape(3, 2).astype(np.float32) * i) for i in (1, 2)]
    sampled = ([1, 3, 0], [[0.5], [0.2]], [0.5, 0.2, 0.7])
    x = tf.constant([[1.0, 2.0], [-1.0, 0.5]])
    biases = tf.Variable([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    arguments = dict(weights=table, biases=biases, labels=tf.constant([[2], [3]], tf.int64), inputs=x, num_sampled=3, num_classes=6,
                     sampled_values=sampled)
    return [nn.embedding_lookup(table, ids), nn.embedding_lookup(table, ids, max_norm=1.5),
            nn.embedding_lookup(parts, ids, "div"), nn.embedding_lookup(list_of_parts, ids),
            nn.embedding_lookup(list_of_parts, ids, partition_strategy="div"),
            nn.embedding_lookup(tf.constant([[1.0], [5.0], [2.0]]), [2, 0]),
            nn.embedding_lookup(tf.constant([[1.0], [5.0], [2.0]]), [2, 1], max_norm=3.0),
            nn.nce_loss(**arguments), nn.sampled_softmax_loss(**arguments),
            nn.nce_loss(**arguments, remove_accidental_hits=True)]


def others(tf, x):
    top = tf.nn.top_k(x, 2)
    true = tf.constant([[1], [2]], tf.int64)
    samplers = [tf.nn.uniform_candidate_sampler(true, 1, 3, True, 6, seed=5),
                tf.nn.log_uniform_candidate_sampler(true, 1, 3, True, 6, seed=5),
                tf.nn.fixed_unigram_candidate_sampler(true, 1, 3, False, 4, unigrams=(1.0, 2.0, 3.0, 4.0), seed=6),
                tf.nn.all_candidate_sampler(true, 1, 4, True)]
    return [top.values, top.indices, tf.nn.in_top_k(x, [0, 2], 1), *[value for s in samplers for value in s]]


def run(tf, target=""):
    rng = np.random.RandomState(0)
    x = tf.Variable(rng.randn(2, 3).astype(np.float32))
    y = tf.constant(rng.randn(2, 3).astype(np.float32))
    image = tf.Variable(rng.randn(2, 6, 6, 3).astype(np.float32))
    table = tf.get_variable("table", [6, 2], initializer=tf.random_normal_initializer(seed=2))
    parts = tf.get_variable("parts", [6, 2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2))
    groups = [activations(tf, x), losses(tf, x, y), images(tf, image, rng), normalization(tf, x, image),
              embeddings(tf, table, parts)]
    variables = [x, x, image, image, table]
    gradients = []
    for group, variable in zip(groups, variables):
        for tensor in group:
            gradient = tf.gradients(tensor, variable)[0]
            if gradient is not None:
                gradients.append(gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        for group in groups:
            show(session, group)
        show(session, others(tf, x))
        show(session, gradients)
