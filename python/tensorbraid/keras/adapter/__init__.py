"""What TensorFlow 1.15's tf.keras had beyond the library Keras 2.3.1, as changes of the library's modules."""

__all__ = []
