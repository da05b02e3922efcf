"""Methods that layers and models of TensorFlow 1.15's tf.keras have, and the library's have not."""

import functools

import tensorbraid as tf

__all__ = []


def _shape_of(spec):
    if not isinstance(spec, tf.TensorSpec):
        raise TypeError(f"compute_output_signature takes tf.TensorSpec, or a structure of them, not {spec!r}")
    return spec.shape


class OfLayers:
    """Methods of tf.keras.layers.Layer."""

    def compute_output_signature(self, input_signature):
        """The tf.TensorSpec of what `call` returns for inputs of these."""
        shapes = self.compute_output_shape(tf.nest.map_structure(_shape_of, input_signature))
        dtype = self.dtype or tf.nest.flatten(input_signature)[0].dtype
        several = isinstance(shapes, list)
        specs = [tf.TensorSpec(shape, dtype) for shape in (shapes if several else [shapes])]
        return specs if several else specs[0]

    def apply(self, inputs, *args, **kwargs):
        """The same as calling the layer."""
        return self(inputs, *args, **kwargs)

    @property
    def submodules(self):
        """All layers in this one."""
        return tuple(layer for own in self._layers for layer in (own, *own.submodules))

    @property
    def name_scope(self):
        """A name scope of the layer's name."""
        return tf.name_scope(f"{self.name}/")

    @classmethod
    def with_name_scope(cls, method):
        """A decorator: the operations of the method are in the layer's name scope."""
        @functools.wraps(method)
        def scoped(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


class OfModels:
    """Methods of tf.keras.Model."""

    @property
    def run_eagerly(self):
        """False: there is no eager execution."""
        return False

    @run_eagerly.setter
    def run_eagerly(self, value):
        check_eager(value, f"of the model {self.name}")


def check_eager(value, where):
    """Refuses run_eagerly=True."""
    if value:
        raise NotImplementedError(f"run_eagerly=True {where}: there is no eager execution")
