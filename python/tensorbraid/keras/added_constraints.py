"""A constraint that TensorFlow 1.15's tf.keras has and the library has not."""

import tensorbraid as tf

__all__ = []


def change(constraints):
    """Changes the library's module `constraints`."""
    class RadialConstraint(constraints.Constraint):
        """Makes each filter of a convolution a function of the distance to its middle, from its diagonal."""

        def __call__(self, w):
            shape = w.shape.as_list()
            if len(shape) != 4 or shape[0] != shape[1]:
                raise ValueError("The weight tensor must be of rank 4, and its filters square, but is of shape: "
                                 f"{shape}")
            size, start = shape[0], shape[0] // 2
            diagonal = tf.stack([w[index, index] for index in range(size)])
            # The ring around the middle, or around the middle four, that each element is in.
            rings = [[max(abs(2 * row - size + 1), abs(2 * column - size + 1)) // 2 for column in range(size)]
                     for row in range(size)]
            # As in TensorFlow: the middle is the element before it, ring i the element i - 1 after it.
            places = [start - 1, *range(start, size)] if size % 2 else [start - 1, *range(start + 1, size)]
            return tf.gather(diagonal, [[places[ring] for ring in row] for row in rings])

    RadialConstraint.__qualname__ = "RadialConstraint"
    constraints.RadialConstraint = constraints.radial_constraint = RadialConstraint
