"""tf.gfile, tf.logging, tf.compat, tf.resource_loader."""

import contextlib
import io
import logging
import os
import pathlib
import tempfile
import unittest

import tensorbraid as tf


class GFileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def test_files_are_written_and_read_as_text_or_bytes(self):
        with tf.gfile.GFile(self.path("f"), "w") as file:
            file.write("é\n")
            file.write(b"2\n")
        with tf.gfile.Open(self.path("f")) as file:
            self.assertEqual(file.readline(), "é\n")
            self.assertEqual(file.tell(), 3)
            self.assertEqual(list(file), ["2\n"])
            file.seek(0)
            self.assertEqual(file.readlines(), ["é\n", "2\n"])
        self.assertEqual(tf.gfile.FastGFile(self.path("f"), "rb").read(), "é\n2\n".encode())
        self.assertEqual(tf.io.gfile.GFile(self.path("f"), "rb").size(), 5)
        self.assertEqual(tf.gfile.GFile("file://" + self.path("f"), "rb").read(3), "é\n".encode())

    def test_a_writer_that_writes_nothing_makes_no_file(self):
        tf.gfile.GFile(self.path("f"), "w").close()
        self.assertFalse(tf.gfile.Exists(self.path("f")))

    def test_errors_are_those_of_their_code(self):
        path = self.path("missing")
        for call in (lambda: tf.gfile.GFile(path).read(), lambda: tf.gfile.Remove(path), lambda: tf.gfile.Stat(path),
                     lambda: tf.gfile.DeleteRecursively(path), lambda: tf.gfile.ListDirectory(path),
                     lambda: tf.gfile.Rename(path, path + "2"), lambda: tf.gfile.MkDir(self.path("a", "b"))):
            with self.assertRaisesRegex(tf.errors.NotFoundError, self.dir):
                call()
        for mode, call in (("w", lambda file: file.read()), ("r", lambda file: file.write("x"))):
            with self.assertRaises(tf.errors.PermissionDeniedError):
                call(tf.gfile.GFile(path, mode))
        with self.assertRaises(tf.errors.InvalidArgumentError):
            tf.gfile.GFile(path, "x")
        with self.assertRaisesRegex(tf.errors.UnimplementedError, "'hdfs' not implemented"):
            tf.gfile.Exists("hdfs://host/file")
        with self.assertRaises(TypeError):
            tf.gfile.Exists(5)

    def test_directories(self):
        tf.gfile.MakeDirs(self.path("a", "b"))
        tf.gfile.MakeDirs(self.path("a", "b"))
        tf.gfile.MkDir(self.path("a"))
        self.assertEqual(tf.gfile.ListDirectory(self.path("a")), ["b"])
        for name in ("x", "y"):
            with tf.gfile.GFile(self.path("a", name), "w") as file:
                file.write(name)
        self.assertEqual(sorted(tf.gfile.ListDirectory(self.path("a"))), ["b", "x", "y"])
        self.assertEqual(tf.gfile.Glob([self.path("a", "x*"), self.path("?", "y")]), [self.path("a", "x"),
                                                                                    self.path("a", "y")])
        self.assertEqual([(top, sorted(files)) for top, _, files in tf.gfile.Walk(self.path("a"))],
                         [(self.path("a"), ["x", "y"]), (self.path("a", "b"), [])])
        self.assertTrue(tf.gfile.IsDirectory(self.path("a")))
        self.assertTrue(tf.gfile.Stat(self.path("a")).is_directory)
        self.assertEqual(tf.gfile.Stat(self.path("a", "x")).length, 1)
        with self.assertRaises(tf.errors.FailedPreconditionError):
            tf.gfile.Remove(self.path("a"))
        with self.assertRaises(tf.errors.FailedPreconditionError):
            tf.gfile.MakeDirs(self.path("a", "x", "z"))
        with self.assertRaises(tf.errors.AlreadyExistsError):
            tf.gfile.Copy(self.path("a", "x"), self.path("a", "y"))
        tf.gfile.Copy(self.path("a", "x"), self.path("a", "y"), overwrite=True)
        self.assertEqual(tf.gfile.GFile(self.path("a", "y")).read(), "x")
        with self.assertRaises(tf.errors.AlreadyExistsError):
            tf.gfile.Rename(self.path("a", "x"), self.path("a", "y"))
        tf.gfile.Rename(self.path("a", "x"), self.path("a", "z"))
        tf.gfile.DeleteRecursively(self.path("a"))
        self.assertFalse(tf.gfile.Exists(self.path("a")))


class LoggingTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(tf.logging.set_verbosity, tf.logging.get_verbosity())

    def test_messages_below_the_verbosity_are_hidden(self):
        self.assertEqual(tf.logging.get_verbosity(), tf.logging.WARN)
        with self.assertLogs("tensorflow", tf.logging.INFO) as logs:
            tf.logging.debug("hidden")
            tf.logging.info("step %d", 5)
            tf.logging.fatal("bad")
            tf.logging.log_if(tf.logging.INFO, "hidden", False)
        self.assertEqual(logs.output, ["INFO:tensorflow:step 5", "CRITICAL:tensorflow:bad"])
        tf.logging.set_verbosity("ERROR")
        self.assertEqual(tf.logging.get_verbosity(), tf.logging.ERROR)

    def test_messages_are_counted_by_their_line(self):
        with self.assertLogs("tensorflow", tf.logging.INFO) as logs:
            for i in range(5):
                tf.logging.log_every_n(tf.logging.INFO, "every %d", 2, i)
                tf.logging.log_first_n(tf.logging.INFO, "first %d", 2, i)
        self.assertEqual([line.rsplit(":")[-1] for line in logs.output],
                         ["every 0", "first 0", "first 1", "every 2", "every 4"])

    def test_messages_go_to_stderr_as_tensorflow_writes_them(self):
        text = io.StringIO()
        handler = logging.getLogger("tensorflow").handlers[0]
        with contextlib.ExitStack() as stack:
            stack.callback(handler.setStream, handler.stream)
            handler.setStream(text)
            tf.logging.warning("careful")
        self.assertEqual(text.getvalue(), "WARNING:tensorflow:careful\n")


class CompatTest(unittest.TestCase):
    def test_text_and_bytes(self):
        self.assertEqual(tf.compat.as_bytes("é"), b"\xc3\xa9")
        self.assertEqual(tf.compat.as_text(b"\xc3\xa9"), "é")
        self.assertEqual(tf.compat.as_str(b"a"), "a")
        self.assertEqual(tf.compat.as_str_any(5), "5")
        self.assertEqual(tf.compat.path_to_str(pathlib.Path("a/b")), "a/b")
        for convert in (tf.compat.as_bytes, tf.compat.as_text):
            with self.assertRaisesRegex(TypeError, "Expected binary or unicode string, got 5"):
                convert(5)
        self.assertEqual(tf.compat.dimension_value(tf.Dimension(4)), 4)
        self.assertEqual(tf.compat.dimension_at_index(tf.TensorShape([1, 2]), 1).value, 2)

    def test_compat_v1_is_the_package(self):
        import tensorbraid.compat.v1 as v1

        self.assertIs(v1, tf)
        self.assertIs(tf.compat.v1, tf)
        self.assertEqual(tf.VERSION, tf.__version__)

    def test_resources_are_beside_the_calling_file(self):
        self.assertEqual(tf.resource_loader.get_path_to_datafile("x"),
                         os.path.join(os.path.dirname(os.path.abspath(__file__)), "x"))
        self.assertIn(b"resource_loader", tf.resource_loader.load_resource("test_files.py"))


if __name__ == "__main__":
    unittest.main()
