"""What the package says to mistakes: the function, the argument, what was given and what is wanted.

`mistakes.txt` has the mistakes. A line of code is followed by the class of the error and by its message. Run this file
with --record to write the messages of the package into it; read what has changed.
"""

import collections
import os
import re
import shutil
import sys
import tempfile
import unittest

import numpy as np
import tensorbraid as tf

_TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mistakes.txt")
_FILE = "/program.py"  # the name of the program that makes the mistake
_NOT_OF_PYTHON = re.compile(
    r"std::|nb::|nanobind|_core\.|arg0|\bk[A-Z]\w+|\.cc:|\{\.|\b[A-Z]\w+::|incompatible function")


def rows():
    """Pairs of a line of code and the lines with the error."""
    with open(_TABLE, encoding="utf-8") as file:
        blocks = file.read().strip().split("\n\n")
    return [tuple(block.split("\n", 1)) for block in blocks]


def error_of(code, folder):
    """The class and the message of the error of a line of code, in a graph that has some tensors."""
    with tf.Graph().as_default():
        other_tensor = tf.constant(1.0, name="other")
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3], "x")
        w = tf.get_variable("w", [3, 2])
        names = {
            "tf": tf, "np": np, "sess": sess, "x": x, "w": w, "ints": tf.constant([1, 2], name="ints"),
            "text": tf.constant(["a"], name="text"), "loss": tf.reduce_sum(w, name="loss"), "folder": folder,
            "img": tf.zeros([1, 8, 8, 3], name="img"), "kernel": tf.zeros([3, 3, 3, 2], name="kernel"),
            "seq": tf.zeros([2, 4, 3], name="seq"), "cell": tf.nn.rnn_cell.GRUCell(3), "other_tensor": other_tensor}
        try:
            exec(compile(code, _FILE, "exec"), names)
        except Exception as error:
            kind = type(error).__name__
            text = re.sub(r" at 0x[0-9a-f]+", "", str(error)).replace(folder, "FOLDER")
            text = re.sub(r"test_messages\.py:\d+", "test_messages.py", text)  # of the tensors that all lines have
            text = re.sub(r"'_\d+_(?=\w+)", "'_N_", text)  # resources without a name are numbered
            return f"{kind}: {text}".replace("\n\n", "\n")
    return "no error"


def all_errors():
    """What `error_of` gives for each row, with a line of code for each mistake."""
    folder = tempfile.mkdtemp()
    try:
        return [(code, error_of(code, folder)) for code, _ in rows()]
    finally:
        shutil.rmtree(folder)


class MessagesTest(unittest.TestCase):
    maxDiff = None

    def test_each_mistake_has_its_message(self):
        errors = all_errors()
        for (code, wanted), (_, error) in zip(rows(), errors):
            with self.subTest(code):
                self.assertEqual(error, wanted)
        self.assertGreater(len(errors), 300)

    def test_messages_are_words_of_python(self):
        for code, message in rows():
            self.assertNotRegex(message, _NOT_OF_PYTHON, code)
            self.assertNotEqual(message, "no error", code)

    def test_errors_of_graphs_name_the_line_of_the_program(self):
        nodes = collections.Counter(
            bool(re.search(r"\((program|test_messages)\.py", message))
            for _, message in rows() if re.search(r": [A-Z]\w+ '[\w/]+' ", message))
        self.assertGreater(nodes[True], 30)
        self.assertEqual(nodes[False], 0)


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        recorded = "\n\n".join(f"{code}\n{error}" for code, error in all_errors())
        with open(_TABLE, "w", encoding="utf-8") as table:
            table.write(recorded + "\n")
    else:
        unittest.main()
