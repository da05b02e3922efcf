"""The network of the tutorial "MNIST mechanics 101", from which programs import it: two hidden layers of ReLUs."""

import math

from tensorbraid import losses, nn, summary, train
from tensorbraid.internal import graphs, variables
from tensorbraid.ops import math_ops

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def _layer(scope, values, inputs, units):
    with graphs.name_scope(scope):
        deviation = 1.0 / math.sqrt(float(inputs))
        weights = variables.Variable(math_ops.truncated_normal([inputs, units], stddev=deviation), name="weights")
        biases = variables.Variable(math_ops.zeros([units]), name="biases")
        return math_ops.matmul(values, weights) + biases


def inference(images, hidden1_units, hidden2_units):
    """The logits of images, a tensor [batch, IMAGE_PIXELS]."""
    hidden = nn.relu(_layer("hidden1", images, IMAGE_PIXELS, hidden1_units))
    hidden = nn.relu(_layer("hidden2", hidden, hidden1_units, hidden2_units))
    return _layer("softmax_linear", hidden, hidden2_units, NUM_CLASSES)


def loss(logits, labels):
    """The mean cross entropy of labels, integers in [0, NUM_CLASSES)."""
    return losses.sparse_softmax_cross_entropy(labels=math_ops.to_int64(labels), logits=logits)


def training(loss, learning_rate):
    """The operation that makes a step of gradient descent. The loss is summarised, and the steps are counted."""
    summary.scalar("loss", loss)
    steps = variables.Variable(0, name="global_step", trainable=False)
    return train.GradientDescentOptimizer(learning_rate).minimize(loss, global_step=steps)


def evaluation(logits, labels):
    """How many of the labels have the largest logit, as an int32."""
    return math_ops.reduce_sum(math_ops.cast(nn.in_top_k(logits, labels, 1), "int32"))
