"""Names that Python, NumPy and h5py have removed, which the runner puts back for programs of TensorFlow 1's time."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

import numpy as np
from tensorbraid.runner import distutils_version, numpy_names, old_scipy, removed_modules, removed_names

# What a package of that time does when it is imported.
PACKAGE = """
import base64, collections, fractions, inspect, threading, time
from distutils.version import StrictVersion
import numpy as np

def add(a, b=2, *c, **d):
    return a + b

assert isinstance([], collections.Iterable) and isinstance({}, collections.Mapping)
assert inspect.getargspec(add) == inspect.ArgSpec(["a", "b"], "c", "d", (2,))
assert StrictVersion("1.15.0") > StrictVersion("1.8.0")
assert time.clock() <= time.clock() and fractions.gcd(12, 18) == 6
assert base64.decodestring(base64.encodestring(b"text")) == b"text"
assert not threading.Thread().isAlive()
best = np.Inf if np.alltrue(np.zeros(3, np.bool) == 0) else -np.Inf
assert best == float("inf") and np.asscalar(np.ones(1, np.float)) == 1 and np.product([2, 3]) == 6
assert np.cast["int32"](1.5).dtype == np.int32 and np.asfarray([1, 2]).dtype == np.float64
"""

# Version 3 of h5py: attributes are texts, lists of bytes too, and a file is opened to read.
H5PY = """
import numpy as np

class AttributeManager(dict):
    def __setitem__(self, name, value):
        if isinstance(value, list):
            value = np.array([item.decode() for item in value], object)
        super().__setitem__(name, value)

class Dataset:
    def __getitem__(self, key):
        return [1, 2]

class File:
    def __init__(self, name, mode="r", driver=None):
        self.mode, self.driver, self.id = mode, driver, 7
"""


class RemovedNamesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def ran(self, script):
        """What a script prints, which has run by the runner."""
        ran = subprocess.run([sys.executable, "-W", "ignore", "-m", "tensorbraid", self.write("script.py", script)],
                             capture_output=True, text=True, cwd=self.dir)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout

    def test_scripts_and_installed_packages_find_the_names(self):
        os.mkdir(os.path.join(self.dir, "site"))
        self.write("site/package.py", PACKAGE)
        self.assertEqual(self.ran("import sys\nsys.path.append(sys.path[0] + '/site')\nimport package\n"
                                  "import numpy as np\nprint(package.best, np.Inf)\n"), "inf inf\n")

    def test_functions_of_numpys_module_for_files(self):
        self.assertIsNone(numpy_names.problem("lib.npyio.save"))
        self.assertRegex(numpy_names.problem("lib.npyio.no_such_thing"), "np.lib.npyio.no_such_thing does not exist")
        removed_names.put_back()
        from numpy.lib.npyio import load, save
        self.assertIs(save, np.save)
        self.assertIs(load, np.load)

    def test_names_that_exist_stay(self):
        for name in removed_names.NUMPY:
            self.assertFalse(name in np.__all__, name)

    def test_attributes_of_h5py_are_texts_with_decode_and_bytes(self):
        self.write("h5py.py", H5PY)
        self.assertEqual(self.ran(
            "import h5py, numpy as np\n"
            "attributes = h5py.AttributeManager(text='abc', bytes=b'abc', number=3,"
            " texts=np.array(['a', 'b'], object))\n"
            "attributes['list'] = [b'de', b'f']\n"
            "print(attributes['text'].decode('utf8'), attributes['text'] == 'abc', attributes['bytes'].decode('utf8'),"
            " attributes['number'], [text.decode() for text in attributes['texts']], attributes['list'].tolist(),"
            " h5py.Dataset().value)\n"),
            "abc True abc 3 ['a', 'b'] [b'de', b'f'] [1, 2]\n")

    def test_files_of_h5py_are_opened_to_write(self):
        self.write("h5py.py", H5PY)
        self.assertEqual(self.ran("import h5py\n"
                                  "print(h5py.File('new').mode, h5py.File('script.py').mode, h5py.File('x', 'w').mode,"
                                  " h5py.File('x', driver='core').driver, h5py.File('x').fid)\n"), "a a w core 7\n")

    def module(self, name):
        """The runner's module in place of one that Python has no more."""
        spec = removed_modules._Finder().find_spec(name)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def test_versions_of_distutils(self):
        module = self.module("distutils.version")
        self.assertIs(module.StrictVersion, distutils_version.StrictVersion)
        versions = ["0.4", "0.4.1", "1.0a1", "1.0a3", "1.0b1", "1.0", "1.3.1", "1.10.0"]
        loose = ["1.2", "1.2.1", "1.10", "2g"]
        for Version, numbers in ((module.StrictVersion, versions), (module.LooseVersion, loose)):
            self.assertEqual([str(v) for v in sorted(map(Version, reversed(numbers)))], numbers)
            self.assertTrue(Version("1.2") == "1.2" and Version("1.2") < "1.10" and not Version("1.2") != "1.2")
        self.assertEqual(module.StrictVersion("1.2"), module.StrictVersion("1.2.0"))
        with self.assertRaisesRegex(ValueError, "invalid version number '1.15.0rc1'"):
            module.StrictVersion("1.15.0rc1")

    def test_folders_and_programs_of_distutils(self):
        folders, source = self.module("distutils.dir_util"), os.path.join(self.dir, "a")
        target = os.path.join(self.dir, "c", "d")
        os.makedirs(os.path.join(source, "b"))
        self.write("a/b/x", "text")
        os.symlink("b/x", os.path.join(source, "link"))
        self.assertEqual(folders.copy_tree(source, target, preserve_symlinks=1),
                         [os.path.join(target, "b", "x"), os.path.join(target, "link")])
        self.assertEqual(os.readlink(os.path.join(target, "link")), "b/x")
        self.assertEqual(*[os.path.getmtime(os.path.join(folder, "b", "x")) for folder in (source, target)])
        self.assertEqual(self.module("distutils.file_util").copy_file(os.path.join(source, "b", "x"), target, update=1),
                         (os.path.join(target, "x"), 1))
        with self.assertRaisesRegex(OSError, "not a directory"):
            folders.copy_tree(os.path.join(source, "b", "x"), target)
        self.assertEqual(folders.mkpath(os.path.join(target, "e", "f")),
                         [os.path.join(target, "e"), os.path.join(target, "e", "f")])
        folders.remove_tree(target)
        self.assertFalse(os.path.exists(target))
        self.assertEqual(self.module("distutils.spawn").find_executable("sh"), shutil.which("sh"))
        strtobool = self.module("distutils.util").strtobool
        self.assertEqual([strtobool(text) for text in ("Yes", "1", "on", "no", "F", "0")], [1, 1, 1, 0, 0, 0])
        with self.assertRaisesRegex(ValueError, "invalid truth value 'maybe'"):
            strtobool("maybe")

    def test_imp(self):
        imp, path = self.module("imp"), self.write("loaded_by_imp.py", "count = globals().get('count', 0) + 1\n")
        self.addCleanup(sys.modules.pop, "loaded_by_imp", None)
        self.assertEqual(imp.load_source("loaded_by_imp", path).count, 1)
        self.assertEqual(imp.load_source("loaded_by_imp", path).count, 2)
        self.assertEqual(sys.modules["loaded_by_imp"].__file__, path)
        file, found, description = imp.find_module("loaded_by_imp", [self.dir])
        with file:
            self.assertEqual((found, description), (path, (".py", "r", imp.PY_SOURCE)))
            self.assertEqual(imp.load_module("loaded_by_imp", file, found, description).count, 3)
        self.write("wrong.py", "1 / 0\n")
        with self.assertRaises(ZeroDivisionError):
            imp.load_source("wrong", os.path.join(self.dir, "wrong.py"))
        self.assertNotIn("wrong", sys.modules)
        os.mkdir(os.path.join(self.dir, "package_by_imp"))
        self.write("package_by_imp/__init__.py", "from package_by_imp import inner\n")
        self.write("package_by_imp/inner.py", "value = 5\n")
        self.addCleanup(sys.modules.pop, "package_by_imp", None)
        self.addCleanup(sys.modules.pop, "package_by_imp.inner", None)
        package = imp.load_module("package_by_imp", *imp.find_module("package_by_imp", [self.dir]))
        self.assertEqual(package.inner.value, 5)
        self.assertEqual(imp.find_module("sys"), (None, None, ("", "", imp.C_BUILTIN)))
        self.assertIn((".py", "r", imp.PY_SOURCE), imp.get_suffixes())
        self.assertEqual(imp.new_module("fresh").__name__, "fresh")
        with self.assertRaisesRegex(ImportError, "No module named 'nowhere'"):
            imp.find_module("nowhere", [self.dir])

    def test_random(self):
        """Floats for whole numbers, samples of sets, and a function for the numbers of shuffle."""
        self.assertEqual(self.ran("""
import random
assert 0 <= random.randint(0, 10e6) <= 10e6 and random.Random(1).randrange(2.0) < 2
assert sorted(random.sample({1, 2, 3}, 3)) == [1, 2, 3] and random.sample([5], 1) == [5]
x = [1, 2, 3]
random.shuffle(x, lambda: 0.0)
try:
    random.randrange(2.5)
except (TypeError, ValueError):
    print(x, sorted(random.Random().sample(range(9), 9)) == list(range(9)))
"""), "[2, 3, 1] True\n")

    def test_names_that_python_3_12_has_no_more(self):
        """Python's own, in versions before."""
        self.assertEqual(self.ran("""
import configparser, imp, importlib, io, locale, unittest
from distutils.dir_util import copy_tree
from distutils.util import strtobool
from distutils.version import LooseVersion

class Test(unittest.TestCase):
    def test(self):
        self.assertEquals(1, 1)
        self.assertNotEquals(1, 2)
        self.assert_(True)
        self.assertAlmostEquals(1, 1 + 1e-9)
        self.assertRegexpMatches("text", "t.*")
        self.assertItemsEqual([1, 2], [2, 1])
        with self.assertRaisesRegexp(ValueError, "x"):
            raise ValueError("x")

assert unittest.TextTestRunner(stream=io.StringIO()).run(Test("test")).wasSuccessful()
parser = configparser.SafeConfigParser()
parser.readfp(io.StringIO("[a]\\nb = 3\\n"))
print(parser.getint("a", "b"), locale.format("%d", 7), strtobool("on"), LooseVersion("1.15.2") > "1.2",
      importlib.find_loader("json") is not None, imp.reload(imp) is imp)
"""), "3 7 1 True True True\n")

    def test_modules_of_scipy_that_have_another_name_now(self):
        linalg = types.ModuleType("scipy.sparse.linalg")
        linalg.eigsh = object()
        with mock.patch.dict(sys.modules, {linalg.__name__: linalg}):
            for path in ("eigen", "eigen.arpack"):
                sys.modules.pop(f"{linalg.__name__}.{path}", None)
            old_scipy.restore(linalg)
            self.assertIs(sys.modules["scipy.sparse.linalg.eigen.arpack"].eigsh, linalg.eigsh)
            self.assertFalse(hasattr(sys.modules["scipy.sparse.linalg.eigen"], "no_such_name"))


if __name__ == "__main__":
    unittest.main()
