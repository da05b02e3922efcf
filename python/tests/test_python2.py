"""The converter from Python 2. The expected outputs are those of Python 2.7."""

import ast
import contextlib
import io
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.runner import division, python2

SCRIPT = '''# -*- coding: utf-8 -*-
"""doc"""
from __future__ import absolute_import
import sys, cPickle
from StringIO import StringIO
d = {'a': 1, 'b': 2}
def f(x):
\tif x > 1:
\t    print "tab", x
        print 'eight'
\treturn x
f(2)
print
print "hello %d" % 5, "world",
print "on the same line"
print >>sys.stdout, "to a file", 1
print ("a"), "b"
print ("a", 1)
print ("x %d" % 3)
print("multi",
      "line")
try:
    raise ValueError, "bad %s" % (1,)
except (ValueError, TypeError), e:
    print "caught", e
try: raise KeyError
except KeyError,e: print repr(e)[:8]
if d.has_key('a') and 3 <> 4: print `d['a']`, 0777, 10L, 0xFFL, 0
for i in xrange(3): print i,
print
for k, v in sorted(d.iteritems()):
    print k, v
keys = d.keys(); keys.sort()
print keys[0], sorted(d.values())[1], d.keys()[0] in d
m = map(lambda x: x + 1, [1, 2])
print m[0], zip([1], [2])[0], reduce(lambda a, b: a + b, [1, 2, 3]), len(filter(None, [0, 1]))
n = 7 / 2
n /= 2  # a / b
print n, 7 / 2.0, (1 + 2) / 2, 10 / 3 / 2, -7 / 2, 1. / 4
exec "q = 5" in globals()
print q, isinstance("a", basestring), unicode("x"), "\\u0041"
it = iter([1, 2]); print it.next()
print "%s / %s" % (1, 2) # a / b
print [x / 2 for x in
       range(4)]
s = ur"a\\b"
print s; print "two"
class A:
    def has(self): print "in class"; return 1
A().has()
'''
OUTPUT = r'''tab 2
eight

hello 5 world on the same line
to a file 1
a b
('a', 1)
x 3
('multi', 'line')
caught bad 1
KeyError
1 511 10 255 0
0 1 2
a 1
b 2
a 2 True
2 (1, 2) 6 1
1 3.5 1 1 -4 0.25
5 True x \u0041
1
1 / 2
[0, 0, 1, 1]
a\b
two
in class
'''


class Python2Test(unittest.TestCase):
    def test_a_converted_script_prints_what_it_printed(self):
        converted = python2.with_imports(*python2.convert(SCRIPT))
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(converted, "script", "exec"), {})
        self.assertEqual([line.rstrip() for line in output.getvalue().split("\n")], OUTPUT.split("\n"))

    def test_constructs_are_named_with_line_and_fix(self):
        found = {(finding.what, finding.line): finding.fix for finding in python2.findings(
            "x = 1\nprint 'a'\nif d.has_key(x): pass\nfor i in xrange(3): y = 0777 + 10L\nimport cPickle\n"
            "try: pass\nexcept E, e: raise E, 'x'\n")}
        self.assertEqual(found, {
            ("print statement", 2): "write print(...)",
            (".has_key()", 3): "write `key in d`",
            ("xrange", 4): "write range",
            ("octal integer 0777", 4): "write 0o777",
            ("long integer 10L", 4): "write 10",
            ("module cPickle", 5): "import pickle",
            ("except X, e", 7): "write except X as e",
            ("raise X, value", 7): "write raise X(value)"})

    def test_python_3_has_no_findings_and_stays_as_it_is(self):
        with open(__file__, encoding="utf-8") as file:
            text = file.read()
        for script in (text, "print('a', 'b')\nx = map(f, y)\nk = d.keys()\nprint('')\n",
                       "from six.moves import xrange\nfor i in xrange(3): pass\n",
                       "try:\n  xrange\nexcept NameError:\n  xrange = range\n",
                       "try:\n  import cPickle as pickle\nexcept ImportError:\n  import pickle\n",
                       "if six.PY2:\n  x = unicode(x)\nelif sys.version_info[0] < 3:\n  x = long(3)\n",
                       "f = xrange if six.PY2 else range\nfor k, v in six.iteritems(d): pass\n",
                       "def f(unicode=1): return x.long + g(long=2)\n",
                       "class A:\n\tdef f(self):\n\t\treturn 0\n"):
            self.assertEqual([(f.what, f.line) for f in python2.findings(script)], [], script[:80])
        self.assertEqual(python2.convert("print('a', 'b')\nx = map(f, y)\n")[0], "print('a', 'b')\nx = map(f, y)\n")

    def test_sums_of_views_are_sums_of_lists(self):
        text = "d = dict(a.items() + b.items())\ne = dict(a.items())\nf = a['x'].keys()[0]\n"
        converted, findings = python2.convert(text)
        self.assertEqual(converted, "d = dict(list(a.items()) + list(b.items()))\ne = dict(a.items())\n"
                                    "f = list(a['x'].keys())[0]\n")
        self.assertEqual([finding.line for finding in findings], [1, 1, 3])

    def test_tabs_are_eight_columns(self):
        converted, findings = python2.convert("if x:\n        a = 1\n\tb = 2\n")
        self.assertEqual(len(ast.parse(converted).body), 1)
        self.assertEqual(findings[0].what, "tabs and spaces in indentations")

    def test_tabs_beside_spaces_that_python_3_takes_are_left_alone(self):
        text = "def f():\n\tx = g(1,\n\t    2)\n\treturn x\nif f():\n    y = 1\n"
        self.assertEqual(python2.convert(text), (text, []))

    def test_divisions_are_those_of_python_2(self):
        for text, value in (("7 / 2", 3), ("-7 / 2", -4), ("7 / 2.", 3.5), ("(9 - 1) / (1 + 1) / 2", 2),
                            ("8 / (6 / 4)", 8), ("f(7 / 2) / 2", 1)):
            replaced = division.replace_divisions(text)
            self.assertEqual(eval(replaced, {"_divide": division.divide, "f": lambda x: x}), value, replaced)
        np.testing.assert_array_equal(division.divide(np.array([7, -7]), 2), [3, -4])
        self.assertEqual(division.divide(np.float32(7), 2), 3.5)
        with tf.Graph().as_default(), tf.Session() as session:
            self.assertEqual(session.run(division.divide(tf.constant(7), 2)), 3)
            self.assertEqual(session.run(division.divide(tf.constant(7.0), 2)), 3.5)
        self.assertEqual(division.replace_divisions("é = 1 # a / b\nx = (é  # 1/2\n / 2)"),
                         "é = 1 # a / b\nx = (_divide(é  # 1/2\n , 2))")
        self.assertNotIn("_divide", python2.convert("from __future__ import division\nx = 1 / 2\n")[0])

    def test_next_of_a_generator_of_keras_is_no_python_2(self):
        call = "batch = generator.next()\n"
        for imports in ("from keras.preprocessing.image import ImageDataGenerator\n",
                        "import tensorflow.keras as K\n", "import tensorflow as tf\nlayers = tf.keras.layers\n"):
            self.assertEqual(python2.findings(imports + call), [])
        self.assertEqual(len(python2.findings("import tensorflow as tf\n" + call)), 1)
        self.assertEqual(len(python2.findings("import keras\nprint 1\n" + call)), 2)


if __name__ == "__main__":
    unittest.main()
