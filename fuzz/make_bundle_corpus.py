"""Writes corpus/bundle/seeds from the bundles in src/checkpoint/testdata. bundle_fuzz.cc describes the format."""

import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
TESTDATA = os.path.join(HERE, "..", "src", "checkpoint", "testdata")
SEEDS = os.path.join(HERE, "corpus", "bundle", "seeds")
TRAILER = 5
FOOTER = 48


def varint(data, at):
  value = shift = 0
  while True:
    value |= (data[at] & 0x7F) << shift
    at, shift = at + 1, shift + 7
    if data[at - 1] < 0x80:
      return value, at


def first_block(index):
  """The data block of a small table, without its trailer."""
  at = len(index) - FOOTER
  _, at = varint(index, at)
  _, at = varint(index, at)
  offset, at = varint(index, at)
  # The data block is followed by the empty meta block of 8 bytes, then by the index block.
  return index[:offset - 8 - 2 * TRAILER]


def entries(block):
  count = struct.unpack("<I", block[-4:])[0]
  end, at, key = len(block) - 4 * (count + 1), 0, b""
  while at < end:
    shared, at = varint(block, at)
    added, at = varint(block, at)
    size, at = varint(block, at)
    key = key[:shared] + block[at:at + added]
    at += added
    yield key, block[at:at + size]
    at += size


def write(name, mode, index, data):
  with open(os.path.join(SEEDS, name), "wb") as f:
    f.write(bytes([mode]) + struct.pack("<H", len(index)) + index + data)


def main():
  os.makedirs(SEEDS, exist_ok=True)
  for name in ["all", "part_0", "part_1"]:
    with open(os.path.join(TESTDATA, name + ".index"), "rb") as f:
      index = f.read()
    with open(os.path.join(TESTDATA, name + ".data-00000-of-00001"), "rb") as f:
      data = f.read()
    block = first_block(index)
    write(name + ".bundle", 0, index, data)
    write(name + ".block", 1, block, data)
    listed = b"".join(bytes([len(k)]) + k + bytes([len(v)]) + v for k, v in entries(block))
    write(name + ".entries", 2, listed, data)


if __name__ == "__main__":
  main()
