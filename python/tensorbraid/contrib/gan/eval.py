"""tf.contrib.gan.eval: summaries of GANs, grids of images, and scores of generated images by a classifier."""

import math
import sys

import numpy as np

import tensorbraid as tf
from tensorbraid.contrib.gan.namedtuples import CycleGANModel

__all__ = [
    "add_cyclegan_image_summaries", "add_gan_model_image_summaries", "add_gan_model_summaries",
    "add_image_comparison_summaries", "add_regularization_loss_summaries", "add_stargan_image_summaries",
    "classifier_score", "classifier_score_from_logits", "frechet_classifier_distance",
    "frechet_classifier_distance_from_activations", "get_graph_def_from_disk", "image_grid", "image_reshaper",
    "python_image_grid", "run_image_classifier"]

eval_utils = summaries = classifier_metrics = sys.modules[__name__]  # TensorFlow has the functions in these modules


# Images.

def image_grid(input_tensor, grid_shape, image_shape=(32, 32), num_channels=3):
    """Images [rows * columns, ...] side by side, as a batch of one image. `grid_shape` is (rows, columns).

    An image may be a vector of the numbers of image_shape and num_channels.
    """
    rows, columns = grid_shape
    height, width = image_shape
    count, *sizes = input_tensor.shape.as_list()
    if rows * columns != count:
        raise ValueError(f"Grid shape {grid_shape} incompatible with minibatch size {count}.")
    if len(sizes) not in (1, 3):
        raise ValueError("Unrecognized input tensor format.")
    if sizes not in ([height * width * num_channels], [height, width, num_channels]):
        raise ValueError(f"Image shape and number of channels incompatible with input tensor. {input_tensor.shape} vs "
                         f"{(height, width, num_channels)}")
    images = tf.reshape(input_tensor, [rows, columns, height, width, num_channels])
    return tf.reshape(tf.transpose(images, [0, 2, 1, 3, 4]), [1, rows * height, columns * width, num_channels])


def image_reshaper(images, num_cols=None):
    """Images of 1 or 3 channels side by side, as a batch of one image. Rows are filled up with black images.

    By default there are as many columns as rows, or one more.
    """
    images = tf.unstack(images) if isinstance(images, tf.Tensor) else list(images)
    for image in images:
        image.shape.assert_has_rank(3)
        image.shape.assert_is_fully_defined()
        if image.shape.as_list()[-1] not in (1, 3):
            raise ValueError("image_reshaper only supports 1 or 3 channel images.")
    columns = num_cols or math.ceil(math.sqrt(len(images)))
    images += [tf.zeros_like(images[-1])] * (-len(images) % columns)
    rows = [tf.concat(images[start:start + columns], 1) for start in range(0, len(images), columns)]
    return tf.expand_dims(tf.concat(rows, 0), 0)


def _check_images(*batches):
    for batch in batches:
        batch.shape.assert_has_rank(4)
        batch.shape[1:].assert_is_fully_defined()


# Summaries of models.

def _of_both_models(add_summaries, cyclegan_model, name):
    """Calls a function with each model of a CycleGANModel, in a name scope that has the direction and the name."""
    for direction in ("x2y", "y2x"):
        with tf.name_scope(f"cyclegan_{direction}_{name}"):
            add_summaries(getattr(cyclegan_model, f"model_{direction}"))


def add_gan_model_summaries(gan_model):
    """Adds histograms of the variables of the generator and of the discriminator."""
    if isinstance(gan_model, CycleGANModel):
        _of_both_models(add_gan_model_summaries, gan_model, "summaries")
        return
    for scope, variables in (("generator_variables", gan_model.generator_variables),
                             ("discriminator_variables", gan_model.discriminator_variables)):
        with tf.name_scope(scope):
            for variable in variables:
                tf.summary.histogram(variable.name, variable)


def add_gan_model_image_summaries(gan_model, grid_size=4, model_summaries=True):
    """Adds summaries of grid_size² real and generated images, and those of add_gan_model_summaries."""
    if isinstance(gan_model, CycleGANModel):
        raise ValueError("`add_gan_model_image_summaries` does not take CycleGANModels. Please use "
                         "`add_cyclegan_image_summaries` instead.")
    _check_images(gan_model.real_data, gan_model.generated_data)
    for name in ("real_data", "generated_data"):
        images = getattr(gan_model, name)
        *shape, channels = images.shape.as_list()[1:]
        tf.summary.image(name, image_grid(images[:grid_size ** 2], (grid_size, grid_size), shape, channels), 1)
    if model_summaries:
        add_gan_model_summaries(gan_model)


def add_image_comparison_summaries(gan_model, num_comparisons=2, display_diffs=False):
    """Adds a summary of images: rows of inputs, generated data, real data and, optionally, the latter's differences."""
    rows = [gan_model.generator_inputs, gan_model.generated_data, gan_model.real_data]
    _check_images(*rows)
    for row in rows[1:]:
        row.shape.assert_is_compatible_with(rows[0].shape)
    if display_diffs:
        rows.append(tf.abs(tf.cast(rows[1], tf.float32) - tf.cast(rows[2], tf.float32)))
    images = [image for row in rows for image in tf.unstack(row[:num_comparisons])]
    tf.summary.image("image_comparison", image_reshaper(images, num_comparisons), 1)


def add_cyclegan_image_summaries(cyclegan_model):
    """Adds, for both directions, a summary of an input image, its translation and what comes back."""
    if not isinstance(cyclegan_model, CycleGANModel):
        raise ValueError(f"`cyclegan_model` was not a CycleGANModel. Instead, was {type(cyclegan_model)}")
    for scope, model, reconstructed in (
            ("x2y_image_comparison_summaries", cyclegan_model.model_x2y, cyclegan_model.reconstructed_x),
            ("y2x_image_comparison_summaries", cyclegan_model.model_y2x, cyclegan_model.reconstructed_y)):
        parts = [model.generator_inputs, model.generated_data, reconstructed]
        _check_images(*parts)
        with tf.name_scope(scope):
            images = [image for part in parts for image in tf.unstack(part[:1])]
            tf.summary.image("image_comparison", image_reshaper(images, len(images)), 1)


def add_stargan_image_summaries(stargan_model, num_images=2, display_diffs=False):
    """Adds a summary of images: a row for each input image, which has the image and its translations to all domains.

    With `display_diffs`, a second row of each image has the differences between the translations and the image.
    """
    _check_images(stargan_model.input_data)
    labels = stargan_model.input_data_domain_label
    labels.shape.assert_has_rank(2)
    labels.shape[1:].assert_is_fully_defined()
    domains, size = labels.shape.as_list()[1], stargan_model.input_data.shape.as_list()[1:]
    images = tf.expand_dims(stargan_model.input_data[:num_images], 1)
    copies = tf.tile(images, [1, domains, 1, 1, 1])
    targets = tf.tile(tf.eye(domains), [tf.shape(images)[0], 1])
    with tf.variable_scope(stargan_model.generator_scope, reuse=True):
        made = tf.reshape(stargan_model.generator_fn(tf.reshape(copies, [-1, *size]), targets), [-1, domains, *size])
    rows = [tf.concat([images, made], 1)]
    if display_diffs:
        rows.append(tf.concat([tf.zeros_like(images), made - copies], 1))
    height, width, channels = size
    grids = [tf.reshape(tf.transpose(row, [0, 2, 1, 3, 4]), [-1, height, (domains + 1) * width, channels])
             for row in rows]
    tf.summary.image("stargan_image_generation", tf.concat(grids, 1), num_images)


def add_regularization_loss_summaries(gan_model):
    """Adds summaries of the sums of the regularization losses of the generator and of the discriminator."""
    if isinstance(gan_model, CycleGANModel):
        _of_both_models(add_regularization_loss_summaries, gan_model, "regularization_loss_summaries")
        return
    for name, scope in (("generator", gan_model.generator_scope), ("discriminator", gan_model.discriminator_scope)):
        if scope:
            tf.summary.scalar(f"{name}_regularization_loss", tf.losses.get_regularization_loss(scope.name))


# Scores.

def get_graph_def_from_disk(filename):
    """The GraphDef in a file."""
    with tf.gfile.GFile(filename, "rb") as file:
        return tf.GraphDef.FromString(file.read())


def run_image_classifier(tensor, graph_def, input_tensor, output_tensor, scope="RunClassifier"):
    """What the graph's tensors `output_tensor`, a name or a list, are if `input_tensor` is the tensor. Flat batches."""
    with tf.name_scope(scope):
        names = [output_tensor] if isinstance(output_tensor, str) else list(output_tensor)
        outputs = [tf.layers.flatten(output)
                   for output in tf.import_graph_def(graph_def, {input_tensor: tensor}, names, name="")]
    return outputs[0] if isinstance(output_tensor, str) else outputs


def _by_batches(images, classifier_fn, num_batches):
    """The classifier's results for the images, which it gets in so many batches."""
    parts = tf.stack(tf.split(images, num_batches))
    results = tf.map_fn(classifier_fn, parts, parallel_iterations=1, back_prop=False, name="RunClassifier")
    return tf.concat(tf.unstack(results, num_batches), 0)


def classifier_score(images, classifier_fn, num_batches=1):
    """The Inception score with any classifier, which gives logits. Source: Salimans et al., 2016."""
    return classifier_score_from_logits(_by_batches(images, classifier_fn, num_batches))


def classifier_score_from_logits(logits):
    """exp of the mean divergence of the classes of one image from those of all."""
    logits = tf.convert_to_tensor(logits)
    logits.shape.assert_has_rank(2)
    given = logits.dtype
    if given != tf.float64:
        logits = tf.cast(logits, tf.float64)
    probs, log_probs = tf.nn.softmax(logits), tf.nn.log_softmax(logits)
    divergences = tf.reduce_sum(probs * (log_probs - tf.log(tf.reduce_mean(probs, 0))), 1)
    return tf.cast(tf.exp(tf.reduce_mean(divergences)), given)


def _root(matrix, epsilon=1e-10):
    """The square root of a symmetric matrix, without the roots of very small singular values."""
    values, left, right = tf.svd(matrix)
    roots = tf.where(values < epsilon, values, tf.sqrt(values))
    return tf.matmul(tf.matmul(left, tf.diag(roots)), right, transpose_b=True)


def frechet_classifier_distance(real_images, generated_images, classifier_fn, num_batches=1):
    """The Fréchet Inception distance with any classifier, which gives activations. Source: Heusel et al., 2017."""
    return frechet_classifier_distance_from_activations(
        _by_batches(real_images, classifier_fn, num_batches), _by_batches(generated_images, classifier_fn, num_batches))


def frechet_classifier_distance_from_activations(real_activations, generated_activations):
    """The distance of two normal distributions, those of real and of generated activations."""
    real, generated = tf.convert_to_tensor(real_activations), tf.convert_to_tensor(generated_activations)
    given = real.dtype
    statistics = []
    for activations in (real, generated):
        activations.shape.assert_has_rank(2)
        activations = tf.cast(activations, tf.float64)
        mean = tf.reduce_mean(activations, 0)
        centred = activations - mean
        statistics.append((mean, tf.matmul(centred, centred, transpose_a=True) / tf.cast(
            tf.shape(activations)[0] - 1, tf.float64)))
    (mean, covariance), (other_mean, other_covariance) = statistics
    root = _root(other_covariance)
    trace = tf.trace(_root(tf.matmul(root, tf.matmul(covariance, root))))
    distance = (tf.trace(covariance + other_covariance) - 2.0 * trace
                + tf.reduce_sum(tf.squared_difference(mean, other_mean)))
    return tf.cast(distance, given)


def python_image_grid(input_array, grid_shape):
    """image_grid of an array [images, height, width, channels], without the batch."""
    rows, columns = grid_shape
    if rows * columns != input_array.shape[0]:
        raise ValueError(f"Grid shape {grid_shape} incompatible with minibatch size {input_array.shape[0]}.")
    if input_array.ndim != 4:
        raise ValueError("Unrecognized input array format.")
    _, height, width, channels = input_array.shape
    images = np.reshape(input_array, [rows, columns, height, width, channels])
    return np.reshape(np.transpose(images, [0, 2, 1, 3, 4]), [rows * height, columns * width, channels])
