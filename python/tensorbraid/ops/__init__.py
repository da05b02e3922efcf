"""The ops by subject, and Python's operators. tf, tf.math, tf.linalg and so on take their names from here."""
