"""TensorFlow's examples, as far as programs import them."""
