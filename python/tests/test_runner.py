"""python -m tensorbraid: imports of TensorFlow, the check before the start, arguments and status."""

import contextlib
import importlib
import io
import os
import signal
import subprocess
import sys
import tempfile
import tomllib
import unittest

import numpy as np

from tensorbraid.runner import main as runner

SLIM = """
import tensorflow as tf
from tensorflow import nn as network
from tensorflow.python.framework import ops, dtypes
import numpy as np
n = tf.nn

def later(x, tf=None):
    return tf.no_such_thing

class Model(object):
    def build(self, x):
        return n.softmxa(x)
"""


class RunnerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def write(self, text, name="script.py"):
        path = os.path.join(self.dir, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def run_script(self, text, *args, options=()):
        command = [sys.executable, "-m", "tensorbraid", *options, self.write(text), *args]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.dir)

    def refused(self, text):
        """What the runner prints about a script that it does not run, without the folder."""
        path = self.write("print('has run')\n" + text)
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            self.assertEqual(runner.main([path]), 2)
        self.assertEqual(output.getvalue(), "")
        return errors.getvalue().replace(self.dir + "/", "")

    def write_bytes(self, data, name="script.py"):
        path = os.path.join(self.dir, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def test_a_syntax_error_beside_what_may_be_python_2(self):
        errors = self.refused(" import os\nprint('a', 1)\n")
        self.assertIn("script.py:2: syntax error: unexpected indent", errors)

    def test_the_version_of_tensorflow_that_programs_ask_for(self):
        done = self.run_script("""
            import importlib.metadata, pkg_resources
            print(pkg_resources.get_distribution("Tensorflow").version, importlib.metadata.version("tensorflow"))
            try:
                pkg_resources.get_distribution("no-such-thing")
            except pkg_resources.DistributionNotFound:
                print("not found")
            """.replace("\n            ", "\n"))
        self.assertEqual(done.stdout, "1.15.0+deeprec 1.15.0+deeprec\nnot found\n", done.stderr)
        without = self.run_script("import sys\nsys.path = [path for path in sys.path if 'site-packages' not in path]\n"
                                  "sys.modules.pop('pkg_resources', None)\nimport pkg_resources\n"
                                  "print(pkg_resources.get_distribution('tensorflow').version)")
        self.assertEqual(without.stdout, "1.15.0+deeprec\n", without.stderr)

    def test_sources_are_read_in_their_encoding(self):
        script = b"import tensorflow as tf, helper\nname = 'caf\xe9'\nprint(ascii(name), ascii(helper.name))\n"
        module = b"name = 'na\xefve'\nimport tensorflow as tf\n"
        latin, mark = b"# -*- coding: latin-1 -*-\n", b"\xef\xbb\xbf"
        as_utf8 = {encoded: encoded.decode("latin-1").encode() for encoded in (script, module)}
        for options in ((), ("--python2",)):
            for encode in (lambda text: latin + text, lambda text: b"#!/usr/bin/python\n" + latin + text,
                           as_utf8.get, lambda text: mark + as_utf8[text]):
                self.write_bytes(encode(module), "helper.py")
                ran = subprocess.run([sys.executable, "-m", "tensorbraid", *options, self.write_bytes(encode(script))],
                                     capture_output=True, text=True, cwd=self.dir)
                self.assertEqual((ran.stdout, ran.stderr), ("'caf\\xe9' 'na\\xefve'\n", ""))

    def test_bytes_of_another_encoding_are_named(self):
        for data, message in ((b"import os\n\nname = 'caf\xe9'\n", "script.py:3: the byte 0xe9 is invalid in utf-8"),
                              (b"name = 'caf\xe9'\n", "script.py:1: the byte 0xe9 is invalid in utf-8, and the file"),
                              (b"# coding: latin-17\n", "script.py:1: unknown encoding: latin-17"),
                              (b"#\n# coding: ascii\nx = '\xe9'\n", "script.py:3: the byte 0xe9 is invalid in ascii")):
            errors = io.StringIO()
            with contextlib.redirect_stderr(errors):
                self.assertEqual(runner.main([self.write_bytes(data)]), 2)
            self.assertIn(message, errors.getvalue())
        self.write_bytes(b"\nname = '\xe9'\n", "helper.py")
        self.assertIn("helper.py:2: syntax error: the byte 0xe9 is invalid in utf-8", self.refused("import helper\n"))

    def test_a_converted_copy_declares_the_encoding_that_it_has(self):
        output = io.StringIO()
        path = self.write_bytes(b"# vim: set fileencoding=latin-1 :\nprint 'caf\xe9'\n")
        with contextlib.redirect_stdout(output):
            self.assertEqual(runner.main(["--python2", "--check", path]), 0)
        self.assertTrue(output.getvalue().startswith("# vim: set fileencoding=utf-8 :\n"))
        self.assertIn("caf\u00e9", output.getvalue())

    def test_tensorflow_means_this_package(self):
        ran = self.run_script(
            "import tensorflow as tf\n"
            "import tensorflow.compat.v1 as v1\n"
            "from tensorflow.examples.tutorials.mnist import input_data\n"
            "from tensorflow.python.framework import ops\n"
            "from tensorflow.python.ops import math_ops, nn_ops\n"
            "from tensorflow.python.platform import gfile, flags\n"
            "from tensorflow.python.training import training\n"
            "from tensorflow.core.framework import graph_pb2\n"
            "import tensorflow.nn as nn\n"
            "assert tf is v1 and nn is tf.nn and ops.Graph is tf.Graph and gfile.Exists is tf.gfile.Exists\n"
            "assert math_ops.reduce_sum is tf.reduce_sum and nn_ops.softmax is tf.nn.softmax\n"
            "assert graph_pb2.GraphDef is tf.GraphDef and training.ClusterSpec is tf.train.ClusterSpec\n"
            "assert input_data.read_data_sets\n"
            "tf.disable_v2_behavior()\n"
            "x = tf.placeholder(tf.float32)\n"
            "print(tf.__name__, tf.Session().run(x * 2, {x: 3}))\n")
        self.assertEqual((ran.returncode, ran.stdout), (0, "tensorbraid 6.0\n"), ran.stderr)

    def test_all_names_of_a_file_are_imported(self):
        ran = self.run_script("from tensorflow.python.ops.rnn_cell import *\n"
                              "from tensorflow.python.ops.rnn_cell_impl import *\n"
                              "import tensorflow as tf\n"
                              "assert RNNCell is tf.nn.rnn_cell.RNNCell and GRUCell is tf.nn.rnn_cell.GRUCell\n"
                              "assert sum([1, 2]) == 3\n"
                              "from tensorflow.python import ops, math_ops, state_ops, control_flow_ops\n"
                              "from tensorflow.python.ops import array_ops, nn\n"
                              "assert math_ops.cast is tf.cast and state_ops.assign is tf.assign\n"
                              "assert ops.convert_to_tensor is tf.convert_to_tensor and nn.relu is tf.nn.relu\n"
                              "assert control_flow_ops.group is tf.group and array_ops.stack is tf.stack\n")
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_the_script_is_main_and_gets_its_arguments(self):
        self.write("VALUE = 7\n", "helper.py")
        ran = self.run_script(
            "import sys\nimport tensorflow as tf\nfrom helper import VALUE\n"
            "tf.app.flags.DEFINE_integer('steps', 1, '')\n"
            "def main(_):\n"
            "    print(__name__, __file__ == sys.argv[0], sys.argv[1:], tf.app.flags.FLAGS.steps, VALUE)\n"
            "    sys.exit(5)\n"
            "if __name__ == '__main__':\n    tf.app.run()\n", "--steps=4", "-x")
        self.assertEqual((ran.returncode, ran.stdout), (5, "__main__ True ['--steps=4', '-x'] 4 7\n"), ran.stderr)

    def test_an_error_of_the_script_shows_the_script_only(self):
        ran = self.run_script("import tensorflow as tf\ndef f():\n    raise ValueError('boom')\nf()\n")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("ValueError: boom", ran.stderr)
        self.assertNotIn("runner", ran.stderr)

    def test_names_of_other_versions_may_be_missing(self):
        ran = self.run_script("""import tensorflow as tf
if "concat_v2" in dir(tf):
    def concat(values):
        return tf.concat_v2(values, 0)
else:
    def concat(values):
        return tf.concat(values, 0)
try:
    transpose = tf.nn.conv2d_transpose
except AttributeError:
    transpose = tf.nn.deconv2d
if int(tf.__version__.split(".")[0]) == 0:
    summary = tf.scalar_summary
else:
    summary = tf.summary.scalar
mul = tf.multiply if hasattr(tf, "multiply") else tf.mul
print(concat([[1], [2]]).shape, summary is tf.summary.scalar)
""")
        self.assertEqual((ran.returncode, ran.stdout), (0, "(2,) True\n"), ran.stderr)

    def test_lacking_names_are_named_with_line_and_nearest_name(self):
        text = self.refused(SLIM + "x = tf.constnt(1)\nnetwork.reluu(x)\nops.no_such_op(x)\ntf.Session.runn\n"
                            "MODE = tf.GraphKeys.X\nModel().build(x)\n")
        for line in ("script.py:14: tf.nn.softmxa does not exist in this package; the nearest name is tf.nn.softmax",
                     "script.py:15: tf.constnt does not exist in this package; the nearest name is tf.constant",
                     "script.py:16: tf.nn.reluu does not exist in this package; the nearest name is tf.nn.relu",
                     "script.py:17: tf.python.framework.ops.no_such_op does not exist",
                     "script.py:18: tf.Session.runn does not exist in this package; the nearest name is tf.Session.run",
                     "script.py:19: tf.GraphKeys.X does not exist",
                     "script.py is not run: 6 problems; --anyway runs the script nevertheless"):
            self.assertIn(line, text)
        self.assertNotIn("no_such_thing", text, "a parameter hides the module")

    def warned(self, text):
        """The warnings that are printed about a script, which runs."""
        ran = self.run_script("print('has run')\n" + text)
        self.assertEqual((ran.returncode, ran.stdout), (0, "has run\n"), ran.stderr)
        return ran.stderr.replace(self.dir + "/", "")

    def test_a_name_in_a_branch_is_a_warning(self):
        text = self.warned("import tensorflow as tf\n"
                           "def initializer(kind):\n"
                           "    if kind == 'uniform':\n"
                           "        return tf.random_uniform_initializer(-1, 1)\n"
                           "    elif kind == 'glorot':\n"
                           "        return tf.keras.initializers.glorot_normal()\n"
                           "    return tf.no_such_name if kind == 'x' else None\n"
                           "initializer('uniform')\n")
        self.assertIn("script.py:7: warning: tf.keras.initializers.glorot_normal: tf.keras is the library Keras 2.3.1", text)
        self.assertIn("script.py:8: warning: tf.no_such_name does not exist", text)

    def test_a_name_in_a_function_that_nothing_calls_is_a_warning(self):
        text = self.warned("import tensorflow as tf\n"
                           "class Model(object):\n"
                           "    def __init__(self, cudnn):\n"
                           "        if cudnn:\n"
                           "            self.build_cudnn()\n"
                           "        else:\n"
                           "            self.build()\n"
                           "    def build_cudnn(self):\n"
                           "        self.cell = tf.contrib.cudnn_rnn.CudnnLSTM(1)\n"
                           "    def build(self):\n"
                           "        self.cell = tf.nn.rnn_cell.BasicLSTMCell(1)\n"
                           "def unused():\n"
                           "    return tf.no_such_name\n"
                           "Model(False)\n")
        self.assertIn("script.py:10: warning: tf.contrib.cudnn_rnn.CudnnLSTM: cuDNN's layers compute on GPUs", text)
        self.assertIn("script.py:14: warning: tf.no_such_name does not exist", text)

    def test_names_that_are_surely_used_are_refused(self):
        self.write("import tensorflow as tf\ndef build():\n    return tf.no_such_name_1\n", "helper.py")
        text = self.refused("import tensorflow as tf\n"
                            "import helper\n"
                            "class Hook(tf.train.SessionRunHook):\n"
                            "    def begin(self):\n"
                            "        tf.no_such_name_2\n"
                            "def main(_):\n"
                            "    helper.build()\n"
                            "    if FLAGS.job_name == 'worker':\n"
                            "        run()\n"
                            "def run():\n"
                            "    with tf.Graph().as_default():\n"
                            "        for i in range(3):\n"
                            "            tf.no_such_name_3\n"
                            "    return Hook()\n"
                            "if __name__ == '__main__':\n"
                            "    tf.app.run()\n")
        for line in ("helper.py:3: tf.no_such_name_1", "script.py:6: tf.no_such_name_2",
                     "script.py:14: tf.no_such_name_3", "3 problems"):
            self.assertIn(line, text)

    def test_a_module_is_run_as_python_does(self):
        os.mkdir(os.path.join(self.dir, "package"))
        self.write("", "package/__init__.py")
        self.write("import tensorflow as tf\nVALUE = tf.constant(2)\n", "package/values.py")
        self.write("import sys\nfrom . import values\nfrom package.values import VALUE\n"
                   "print(__name__, __package__, VALUE is values.VALUE, sys.argv[1:])\n", "package/train.py")
        self.write("import package.train\n", "package/__main__.py")
        for name, expected in (("package.train", "__main__ package True ['--x=1', '-m']\n"),
                               ("package", "package.train package True ['--x=1', '-m']\n")):
            ran = subprocess.run([sys.executable, "-m", "tensorbraid", "-m", name, "--x=1", "-m"], capture_output=True,
                                 text=True, cwd=self.dir)
            self.assertEqual((ran.returncode, ran.stdout), (0, expected), ran.stderr)
        ran = subprocess.run([sys.executable, "-m", "tensorbraid", "-m", "package.other"], capture_output=True,
                             text=True, cwd=self.dir)
        self.assertEqual((ran.returncode, ran.stderr), (2, "the module package.other has no Python source file\n"))

    def test_what_tensorflow_installs_for_programs_is_there(self):
        with open(os.path.join(os.path.dirname(__file__), "..", "..", "pyproject.toml"), "rb") as file:
            dependencies = tomllib.load(file)["project"]["dependencies"]
        for name, module in (("absl-py", "absl.flags"), ("ml_dtypes", "ml_dtypes"), ("six", "six.moves")):
            self.assertTrue(any(dependency.startswith(name + ">=") for dependency in dependencies), name)
            importlib.import_module(module)

    def test_a_name_that_the_script_assigns_is_no_missing_one(self):
        self.write("import tensorflow as tf\ntf.GraphKeys.LAYERS = 'layers'\ntf.own = {}\n", "keys.py")
        self.assertEqual(self.run_script("import tensorflow as tf\nimport keys\n"
                                         "print(tf.GraphKeys.LAYERS, tf.own.get('a'))\n").stdout, "layers None\n")
        self.assertIn("tf.GraphKeys.LAYER ", self.refused("import tensorflow as tf\nimport keys\n"
                                                          "print(tf.GraphKeys.LAYER)\n"))

    def test_what_is_protected_by_try_may_be_missing(self):
        ran = self.run_script("import tensorflow as tf\ntry:\n    x = tf.no_such_name\n"
                              "except AttributeError:\n    print('old')\n"
                              "FLAGS = tf.app.flags.FLAGS\nif hasattr(tf, 'zzz'): pass\n")
        self.assertEqual((ran.returncode, ran.stdout), (0, "old\n"), ran.stderr)

    def test_modules_beside_the_script_are_checked(self):
        self.write("import tensorflow as tf\ntf.no_such_name\n", "helper.py")
        self.assertIn("helper.py:2: tf.no_such_name does not exist", self.refused("import helper\n"))

    def test_keras_and_eager_execution_are_refused_in_words(self):
        text = self.refused("import tensorflow as tf\ntf.enable_eager_execution()\ntf.keras.layers.Dense(3)\n"
                            "import tensorflow.contrib.eager as tfe\n"
                            "tf.contrib.summary.scalar\ntf.contrib.estimator.TowerOptimizer\n")
        self.assertIn("script.py:3: tf.enable_eager_execution: there is no eager execution", text)
        self.assertIn("script.py:4: tf.keras.layers.Dense: tf.keras is the library Keras 2.3.1, which is not installed; "
                      "install it: pip install tensorbraid[keras]", text)
        self.assertIn("script.py:5: tf.contrib.eager: there is no eager execution", text)
        self.assertIn("script.py:6: tf.contrib.summary.scalar: its writers are those of eager execution", text)
        self.assertIn("script.py:7: tf.contrib.estimator.TowerOptimizer: a model is not copied", text)

    def test_anyway_runs_the_script(self):
        ran = self.run_script("import tensorflow as tf\ntry:\n    import tensorflow.no_such_module\n"
                              "except ImportError as error:\n    print(error)\ntf.no_such_name\n", options=["--anyway"])
        self.assertEqual(ran.stdout, "tensorflow.no_such_module does not exist in this package\n")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("module 'tensorbraid' has no attribute 'no_such_name'", ran.stderr)

    def test_anyway_is_no_hint_for_what_python_does_not_parse(self):
        self.assertIn("script.py is not run: 1 problem\n", self.refused("def f(:\n    pass\n"))
        text = self.refused("print 'x'\n")
        self.assertIn("script.py is not run: 1 problem; --python2 runs a copy that is converted to Python 3\n", text)

    def test_errors_and_ctrl_c_are_shown_without_the_runner(self):
        interrupted = self.run_script("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass\n")
        self.assertEqual(interrupted.returncode, -signal.SIGINT)
        self.assertIn("KeyboardInterrupt", interrupted.stderr)
        failed = self.run_script("import sys\ndef f():\n    raise ValueError('wrong')\nf()\n")
        self.assertEqual(failed.returncode, 1)
        for shown in (interrupted.stderr, failed.stderr):
            self.assertNotIn("runner", shown)
        self.assertIn('script.py", line 4, in <module>\n', failed.stderr)

    def test_a_script_may_have_its_own_hook_for_errors(self):
        ran = self.run_script("import sys\nsys.excepthook = lambda kind, error, trace: print('own', error)\n"
                              "raise ValueError('wrong')\n")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (1, "own wrong\n", ""))

    def test_processes_that_multiprocessing_starts_anew_find_the_package(self):
        ran = self.run_script("import collections, multiprocessing, sys\nimport tensorflow as tf\n"
                              "def double(x):\n"
                              "    assert issubclass(list, collections.Iterable)\n"
                              "    return int(tf.Session().run(tf.constant(x) * 2)), sys.argv[1:]\n"
                              "if __name__ == '__main__':\n"
                              "    for method in ('spawn', 'forkserver'):\n"
                              "        with multiprocessing.get_context(method).Pool(1) as pool:\n"
                              "            print(pool.map(double, [3]))\n", "--x")
        self.assertEqual((ran.returncode, ran.stdout), (0, "[(6, ['--x'])]\n" * 2), ran.stderr)

    def test_missing_names_of_numpy_are_named_as_the_scripts(self):
        text = self.refused("import numpy as np\nx = np.zerros(3)\n"
                            "y = np.random.rand(3)\nz = y.astype('f').tostring()\nw = tree.tostring(y)\n")
        self.assertIn("script.py:3: np.zerros does not exist in NumPy", text)
        self.assertIn("; write np.zeros", text)
        if not hasattr(np.ndarray, "tostring"):
            self.assertIn("script.py:5: np.ndarray.tostring does not exist", text)
        self.assertNotIn("script.py:6", text)

    def test_python_2_is_named_and_converted(self):
        script = "import tensorflow as tf\nx = 7 / 2\nprint 'steps', x\ntf.no_such_name\n"
        text = self.refused(script)
        self.assertIn("script.py:4: Python 2: print statement; write print(...)", text)
        self.assertIn("script.py:5: tf.no_such_name does not exist", text)
        self.assertIn("--python2 runs a copy", text)
        self.write("print 'helper', 9 / 2\n", "helper.py")
        ran = self.run_script("import tensorflow as tf\nimport helper\nprint 'steps', 7 / 2\n", options=["--python2"])
        self.assertEqual((ran.returncode, ran.stdout), (0, "helper 4\nsteps 3\n"), ran.stderr)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            self.assertEqual(runner.main(["--python2", "--check", self.write("print 1\n")]), 0)
        self.assertEqual(output.getvalue(), "print(1)\n")

    def test_a_syntax_error_and_a_missing_script_are_errors_in_words(self):
        self.assertIn("script.py:2: syntax error", self.refused("x = = 1\n"))
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            self.assertEqual(runner.main([os.path.join(self.dir, "nope.py")]), 2)
        self.assertEqual(errors.getvalue(), f"{self.dir}/nope.py: No such file or directory\n")


if __name__ == "__main__":
    unittest.main()
