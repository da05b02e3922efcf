"""Layers that TensorFlow 1.15's tf.keras has and the library has not."""

import tensorbraid as tf
from tensorbraid.keras import added_cells, configurations, dense_features
from tensorbraid.keras.adapter import op_layer
from tensorbraid.keras.adapter.loaded import loaded

__all__ = []


def _layer_normalization(layer):
    class LayerNormalization(layer):
        """Normalizes each sample along its axes, by default the last one, and scales it by learnt factors."""

        def __init__(self, axis=-1, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros",
                     gamma_initializer="ones", beta_regularizer=None, gamma_regularizer=None, beta_constraint=None,
                     gamma_constraint=None, **kwargs):
            super().__init__(**kwargs)
            self.axis = list(axis) if isinstance(axis, (list, tuple)) else axis
            self.epsilon, self.center, self.scale = epsilon, center, scale
            self._of_beta = _of_weight(beta_initializer, beta_regularizer, beta_constraint)
            self._of_gamma = _of_weight(gamma_initializer, gamma_regularizer, gamma_constraint)
            self.supports_masking = True

        def build(self, input_shape):
            axes = self.axis if isinstance(self.axis, list) else [self.axis]
            self._axes = sorted(axis % input_shape.ndims for axis in axes)
            shape = [input_shape[axis] for axis in self._axes]
            self.gamma = self.add_weight("gamma", shape, **self._of_gamma) if self.scale else None
            self.beta = self.add_weight("beta", shape, **self._of_beta) if self.center else None
            super().build(input_shape)

        def call(self, inputs):
            weight = self.beta if self.gamma is None else self.gamma
            kind = inputs.dtype
            if weight is not None:  # inputs of bfloat16 are normalized as the weights are, in float32
                inputs = tf.cast(inputs, weight.dtype)
            mean, variance = tf.nn.moments(inputs, self._axes, keep_dims=True)
            shape = [int(size) if axis in self._axes else 1 for axis, size in enumerate(inputs.shape.as_list())] \
                if None not in [inputs.shape.as_list()[axis] for axis in self._axes] else None
            beta, gamma = [None if values is None else tf.reshape(values, shape) for values in (self.beta, self.gamma)]
            return tf.cast(tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, self.epsilon), kind)

        def get_config(self):
            config = {"axis": self.axis, "epsilon": self.epsilon, "center": self.center, "scale": self.scale}
            for name, kinds in (("beta", self._of_beta), ("gamma", self._of_gamma)):
                for kind, value in kinds.items():
                    config[f"{name}_{kind}"] = loaded(f"{kind}s").serialize(value)
            return {**super().get_config(), **config}

    return LayerNormalization


def _of_weight(initializer, regularizer, constraint):
    return {"initializer": loaded("initializers").get(initializer),
            "regularizer": loaded("regularizers").get(regularizer), "constraint": loaded("constraints").get(constraint)}


def _attentions(layer):
    class Attention(layer):
        """Attention by products: queries, values and perhaps keys; the mask of the values hides some of them."""

        def __init__(self, use_scale=False, causal=False, **kwargs):
            super().__init__(**kwargs)
            self.use_scale, self.causal, self.supports_masking = use_scale, causal, True

        def build(self, input_shape):
            self.scale = self.add_weight("scale", (), initializer="ones") if self.use_scale else None
            super().build(input_shape)

        def scores(self, query, key):
            """How well each query fits to each key."""
            scores = tf.matmul(query, key, transpose_b=True)
            return scores if self.scale is None else scores * self.scale

        def call(self, inputs, mask=None):
            query, value = inputs[0], inputs[1]
            scores = self.scores(query, inputs[2] if len(inputs) > 2 else value)
            seen = None if mask is None or mask[1] is None else tf.expand_dims(mask[1], 1)
            if self.causal:
                past = tf.matrix_band_part(tf.ones(tf.shape(scores)[-2:], tf.bool), -1, 0)[tf.newaxis]
                seen = past if seen is None else tf.logical_and(seen, past)
            if seen is not None:
                scores -= 1e9 * tf.cast(tf.logical_not(seen), scores.dtype)
            result = tf.matmul(tf.nn.softmax(scores), value)
            if mask is not None and mask[0] is not None:
                result *= tf.cast(tf.expand_dims(mask[0], -1), result.dtype)
            return result

        def compute_mask(self, inputs, mask=None):
            return None if mask is None or mask[0] is None else tf.convert_to_tensor(mask[0])

        def get_config(self):
            return {**super().get_config(), "use_scale": self.use_scale, "causal": self.causal}

    class AdditiveAttention(Attention):
        """Attention by sums of queries and keys."""

        def __init__(self, use_scale=True, **kwargs):
            super().__init__(use_scale=use_scale, **kwargs)

        def build(self, input_shape):
            self.scale = self.add_weight("scale", [input_shape[0][-1]], initializer="glorot_uniform") \
                if self.use_scale else None
            layer.build(self, input_shape)

        def scores(self, query, key):
            """How well each query fits to each key."""
            sums = tf.tanh(tf.expand_dims(query, -2) + tf.expand_dims(key, -3))
            return tf.reduce_sum(sums if self.scale is None else sums * self.scale, -1)

    return Attention, AdditiveAttention


def change(layers):
    """Changes the library's module `layers`, and so what configurations of models may name."""
    layer = loaded("engine.base_layer").Layer
    for kind in (_layer_normalization(layer), *_attentions(layer), op_layer.layer_class(),
                 dense_features.classes(layer)[0], added_cells.abstract_rnn_cell()):
        kind.__qualname__ = kind.__name__
        setattr(layers, kind.__name__, kind)
    configurations.change(layers)
    layers.Wrapper = loaded("layers.wrappers").Wrapper
    layers.Convolution2DTranspose, layers.Convolution3DTranspose = layers.Conv2DTranspose, layers.Conv3DTranspose
    layers.SeparableConvolution1D, layers.SeparableConvolution2D = layers.SeparableConv1D, layers.SeparableConv2D
