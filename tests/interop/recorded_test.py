#!/usr/bin/env python3
"""Tests of recorded.py: values come back as they were, and values that cannot be used end the process."""
import os
import sys
import tempfile
import unittest

import numpy as np

import recorded

VALUES = [None, True, 1, 1.5, "é", b"\xff\0", (1, [2, ()]), {"a": {1: (2,)}}, 1 + 2j,
          np.arange(6, dtype=np.float32).reshape(2, 3), np.array(3.0), np.zeros((0, 2), np.int8),
          np.array([b"a", b""], object), np.array(b"x", object), np.array(["ab", "c"]), np.array([1 + 2j], np.complex64),
          np.array([True, False]), np.array([np.nan, -np.inf, -0.0])]


class Recorded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "references", "values.json.xz")
        self.main = self.source("main", "import numpy as np\nfrom helpers.first import f\n")
        self.first = self.source("helpers/first", "import second\n")
        self.second = self.source("second", "")
        self.source("numbers", "")  # no file imports it

    def source(self, name, text):
        path = os.path.join(self.folder, name + ".py")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def sources(self):
        return recorded.sources(self.main, self.folder)

    def write(self, version=None, extra=""):
        recorded.write(self.path, self.sources(), version or recorded.pinned_version(), VALUES, extra)

    def assert_unusable(self, reason, extra=""):
        self.assertFalse(recorded.is_current(self.path, self.sources(), extra))
        with self.assertRaisesRegex(SystemExit, f"values.json.xz cannot be used: .*{reason}.* Run: the command"):
            recorded.read(self.path, self.sources(), "the command", extra)

    def test_values_come_back_as_they_were(self):
        self.write()
        self.assertTrue(recorded.is_current(self.path, self.sources()))
        values = recorded.read(self.path, self.sources(), "the command")
        self.assertEqual(len(values), len(VALUES))
        for value, wanted in zip(values, VALUES):
            self.assertIs(type(value), type(wanted))
            if isinstance(wanted, np.ndarray):
                self.assertEqual((value.dtype, value.shape), (wanted.dtype, wanted.shape))
                np.testing.assert_array_equal(value, wanted)
            else:
                self.assertEqual(value, wanted)

    def test_the_same_values_make_the_same_file(self):
        contents = []
        for _ in range(2):
            self.write()
            with open(self.path, "rb") as file:
                contents.append(file.read())
        self.assertEqual(*contents)

    def test_scalars_of_numpy_become_arrays(self):
        recorded.write(self.path, [], recorded.pinned_version(), [np.float64(2.5), np.complex128(1j), np.int64(3)])
        values = recorded.read(self.path, [], "the command")
        self.assertEqual([(v.dtype.name, v.shape, v.item()) for v in values],
                         [("float64", (), 2.5), ("complex128", (), 1j), ("int64", (), 3)])

    def test_the_sources_are_the_file_and_what_it_imports_from_the_folder(self):
        self.assertEqual(self.sources(), sorted([self.main, self.first, self.second]))

    def test_without_a_file_there_are_no_values(self):
        self.assert_unusable("it is missing")

    def test_values_are_of_no_use_after_a_change_of_a_source(self):
        self.write()
        self.source("second", "# changed\n")
        self.assert_unusable("changed.*second.py")

    def test_values_are_of_no_use_after_a_change_of_what_else_they_follow_from(self):
        self.write(extra="a")
        self.assert_unusable("changed", extra="b")

    def test_values_are_of_no_use_when_another_version_is_pinned(self):
        self.write()
        pinned = recorded.pinned_version
        self.addCleanup(setattr, recorded, "pinned_version", pinned)
        recorded.pinned_version = lambda: "9.9"
        self.assert_unusable(f"it is of TensorFlow {pinned()}, but make_venv pins 9.9")

    def test_another_version_is_not_recorded(self):
        with self.assertRaisesRegex(SystemExit, "this is TensorFlow 1.15.0"):
            self.write(version="1.15.0")
        self.assertFalse(os.path.exists(self.path))

    def test_what_is_no_value_is_not_recorded(self):
        with self.assertRaises(TypeError):
            recorded.write(self.path, [], recorded.pinned_version(), [sys])


if __name__ == "__main__":
    unittest.main()
