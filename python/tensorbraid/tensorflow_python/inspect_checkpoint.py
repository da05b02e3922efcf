"""tensorflow.python.tools.inspect_checkpoint: prints the tensors of a checkpoint."""

import re

import numpy as np
import tensorbraid as tf

__all__ = ["print_tensors_in_checkpoint_file"]


def _count(reader, pattern=None):
    """The number of elements of all tensors, except those whose names match the regular expression `pattern`."""
    return sum(int(np.prod(shape)) for name, shape in reader.get_variable_to_shape_map().items()
               if pattern is None or not re.match(pattern, name))


def print_tensors_in_checkpoint_file(file_name, tensor_name, all_tensors, all_tensor_names=False,
                                     count_exclude_pattern=""):
    """Prints the tensors of a checkpoint with their dtypes and shapes, and with all_tensors, their values.

    With `tensor_name`, it prints this tensor only. At the end it prints the number of elements of all tensors, without
    those whose names match the regular expression `count_exclude_pattern`.
    """
    reader = tf.train.NewCheckpointReader(file_name)
    shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    if all_tensors or all_tensor_names or not tensor_name:
        for name in sorted(shapes):
            print(f"tensor: {name} ({tf.as_dtype(types[name]).name}) {list(shapes[name])}")
            if all_tensors:
                print(reader.get_tensor(name))
    else:
        print(f"tensor: {tensor_name} ({tf.as_dtype(types[tensor_name]).name}) {list(shapes[tensor_name])}")
        print(reader.get_tensor(tensor_name))
    print(f"# Total number of params: {_count(reader, count_exclude_pattern or None)}")
    if count_exclude_pattern:
        print(f"# Total number of params, with those that match {count_exclude_pattern}: {_count(reader)}")


def main():
    """The command: python -m tensorbraid -m tensorflow.python.tools.inspect_checkpoint --file_name=PATH."""
    tf.flags.DEFINE_string("file_name", "", "The path of the checkpoint.")
    tf.flags.DEFINE_string("tensor_name", "", "The name of a tensor to print, with its value.")
    tf.flags.DEFINE_boolean("all_tensors", False, "Print the values of all tensors.")
    tf.flags.DEFINE_boolean("all_tensor_names", False, "Print the names of all tensors.")
    flags = tf.flags.FLAGS

    def run(_):
        print_tensors_in_checkpoint_file(flags.file_name, flags.tensor_name, flags.all_tensors,
                                         flags.all_tensor_names)

    tf.app.run(run)


if __name__ == "__main__":
    main()
