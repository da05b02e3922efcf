"""tensorflow.python.keras: the functions of it that the library Keras takes from TensorFlow."""
