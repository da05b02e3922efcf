"""tensorflow.python.keras.backend_config: the settings of tf.keras.backend."""

from tensorbraid.tensorflow_python.keras.settings import (epsilon, floatx, image_data_format, set_epsilon, set_floatx,
                                                          set_image_data_format)

__all__ = ["epsilon", "floatx", "image_data_format", "set_epsilon", "set_floatx", "set_image_data_format"]
