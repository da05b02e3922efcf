"""tensorflow.python.keras.utils."""
