"""Writes the checkpoints of this folder with TensorFlow. The tests read them and write the same bytes again.

    python make.py    # in a venv with tensorflow-cpu
"""

import os

import numpy as np
import tensorflow as tf

DTYPES = [
    tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16,
    tf.uint32, tf.uint64, tf.bool, tf.complex64, tf.complex128
]

# Version 1 does not support these.
V1_MISSING = [tf.bfloat16, tf.uint32, tf.uint64]


def save(prefix, tensors):
  """tensors: a list of (name, shape and slice, value)."""
  names, specs, values = zip(*sorted(tensors, key=lambda t: t[0]))
  tf.raw_ops.SaveV2(prefix=prefix, tensor_names=names, shape_and_slices=specs, tensors=values)


def main():
  os.chdir(os.path.dirname(os.path.abspath(__file__)))
  numbers = np.arange(6).reshape(2, 3)
  tensors = [("dtypes/" + d.name, "", tf.cast(numbers, d)) for d in DTYPES]
  tensors += [
      ("scalar", "", tf.constant(2.5)),
      ("empty", "", tf.zeros([3, 0, 2])),
      ("strings", "", tf.constant([[b"a", b""], [b"bytes \0\xff", b"x" * 300]])),
      ("no_strings", "", tf.constant([], tf.string)),
  ]
  rows = tf.reshape(tf.range(12, dtype=tf.float32), [4, 3])
  tensors += [
      ("by_row", "4 3 0,1:-", rows[:1]),
      ("by_row", "4 3 1,3:-", rows[1:]),
      ("by_column", "4 3 -:0,2", rows[:, :2]),
      ("by_column", "4 3 -:2,1", rows[:, 2:]),
      ("holes", "4 3 1,2:1,1", rows[1:3, 1:2]),
      ("far", "10000000000 3 9999999990,1:-", rows[:1]),
      ("string_parts", "3 0,1", tf.constant(["one"])),
      ("string_parts", "3 1,2", tf.constant(["two", "three"])),
  ]
  save("all", tensors)
  save("part_0", [("by_row", "4 3 0,1:-", rows[:1]), ("first", "", tf.constant([1, 2]))])
  save("part_1", [("by_row", "4 3 1,3:-", rows[1:]), ("second", "", tf.constant(["s"]))])
  # Three variants: the tensors of a sparse tensor.
  sparse = tf.io.serialize_sparse(tf.sparse.from_dense([[0, 7], [8, 0]]), out_type=tf.variant)
  save("variants", [("sparse", "", sparse)])
  for part in ["part_0", "part_1"]:
    for name in [part + ".index", part + ".data-00000-of-00001"]:
      tf.io.gfile.copy(name, "copy_" + name, overwrite=True)
  tf.raw_ops.MergeV2Checkpoints(
      checkpoint_prefixes=["copy_part_0", "copy_part_1"], destination_prefix="merged", delete_old_dirs=False)


def version_1():
  """Checkpoints of version 1."""
  os.chdir(os.path.dirname(os.path.abspath(__file__)))
  numbers = np.arange(6).reshape(2, 3)
  dtypes = [d for d in DTYPES if d not in V1_MISSING]
  tf.raw_ops.Save(
      filename="v1",
      tensor_names=["dtypes/" + d.name for d in dtypes] + ["strings", "scalar"],
      data=[tf.cast(numbers, d) for d in dtypes] +
      [tf.constant([b"a", b"", b"\0\xff"]), tf.constant(2.5)])
  rows = tf.reshape(tf.range(12, dtype=tf.float32), [4, 3])
  tf.raw_ops.SaveSlices(
      filename="v1_slices", tensor_names=["by_row", "by_row"], shapes_and_slices=["4 3 0,1:-", "4 3 1,3:-"],
      data=[rows[:1], rows[1:]])


if __name__ == "__main__":
  main()
  version_1()
