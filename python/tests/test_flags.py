"""Flags: definitions, parsing, errors that name the nearest flag, tf.app.run."""

import os
import subprocess
import sys
import tempfile
import unittest

import tensorbraid as tf
from tensorbraid import flags

PROGRAM = """
import tensorbraid as tf
tf.app.flags.DEFINE_string("name", "x", "the name")
tf.flags.DEFINE_integer("steps", 3, "the steps", lower_bound=1)
FLAGS = tf.app.flags.FLAGS
def main(argv):
    print(argv[1:], FLAGS.name, FLAGS.steps)
    return 3
if __name__ == "__main__":
    tf.app.run()
"""


def run_program(text, *args):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w") as file:
            file.write(text)
        return subprocess.run([sys.executable, path, *args], capture_output=True, text=True)


class FlagsTest(unittest.TestCase):
    def setUp(self):
        self.values = flags.FlagValues()
        define = {"flag_values": self.values}
        flags.DEFINE_string("name", "x", "the name", **define)
        flags.DEFINE_integer("num", 3, "a number", lower_bound=1, **define)
        flags.DEFINE_float("rate", 0.5, "a rate", **define)
        flags.DEFINE_bool("on", True, "a switch", **define)
        flags.DEFINE_enum("kind", "a", ["a", "b"], "a kind", **define)
        flags.DEFINE_list("items", "a,b", "a list", **define)
        flags.DEFINE_multi_string("ms", None, "strings", **define)
        flags.DEFINE_multi_integer("mi", [1], "numbers", **define)

    def parse(self, *args):
        self.values.unparse_flags()
        rest = self.values(["prog", *args])
        return rest[1:], self.values.flag_values_dict()

    def test_values_are_read_as_the_flags_types(self):
        rest, values = self.parse()
        self.assertEqual(values, {"name": "x", "num": 3, "rate": 0.5, "on": True, "kind": "a", "items": ["a", "b"],
                                  "ms": None, "mi": [1]})
        rest, values = self.parse("--name=y=z", "--num", "0x10", "--noon", "pos", "-rate=2", "--items=a, b,,c",
                                  "--ms=1", "--ms", "2", "--mi=4", "--", "--num=9")
        self.assertEqual(rest, ["pos", "--num=9"])
        self.assertEqual(values, {"name": "y=z", "num": 16, "rate": 2.0, "on": False, "kind": "a",
                                  "items": ["a", "b", "", "c"], "ms": ["1", "2"], "mi": [4]})
        rest, values = self.parse("--on", "false", "--rate", "-5")
        self.assertEqual((rest, values["on"], values["rate"]), (["false"], True, -5.0))
        self.assertEqual(self.parse("--on=false", "--items=")[1]["items"], [])

    def test_wrong_values_are_refused(self):
        for arg in ("--num=abc", "--num=5.0", "--num=0", "--kind=c", "--on=maybe", "--rate=x"):
            with self.assertRaisesRegex(flags.IllegalFlagValueError, arg.split("=")[0]):
                self.parse(arg)
        with self.assertRaisesRegex(flags.Error, "Missing value for flag --num"):
            self.parse("--num")
        with self.assertRaisesRegex(ValueError, "does not take an argument"):
            self.parse("--noon=true")

    def test_an_unknown_flag_names_the_nearest(self):
        for arg, near in (("--nam=3", "name"), ("--noname", "name"), ("--nmu=1", "num"), ("--kinds=1", "kind")):
            with self.assertRaisesRegex(flags.UnrecognizedFlagError, f"Did you mean: .*{near}"):
                self.parse(arg)
        self.assertEqual(self.parse("--undefok=foo", "--foo=3")[0], [])
        self.assertEqual(self.parse("--foo=3", "--undefok=foo")[0], [])
        with self.assertRaisesRegex(AttributeError, "did you mean 'rate'"):
            self.values.rates
        with self.assertRaises(flags.UnrecognizedFlagError):
            self.values.nope = 3

    def test_definitions_are_checked(self):
        with self.assertRaisesRegex(flags.DuplicateFlagError, "'name' is defined twice.*the name"):
            flags.DEFINE_string("name", "", "again", flag_values=self.values)
        with self.assertRaises(flags.IllegalFlagValueError):
            flags.DEFINE_integer("other", "abc", "", flag_values=self.values)
        self.assertEqual(flags.DEFINE_integer("text", "12", "", flag_values=self.values).default, 12)

    def test_values_are_read_after_parsing_only(self):
        with self.assertRaises(flags.UnparsedFlagAccessError):
            self.values.num
        self.parse("--num=4")
        self.assertEqual(self.values.num, 4)
        self.assertEqual(self.values["num"].value, 4)
        self.assertEqual(vars(self.values)["__flags"]["num"].present, 1)
        self.values.num = 7
        self.assertEqual(self.values.num, 7)

    def test_validators_run_after_parsing_and_after_changes(self):
        flags.mark_flag_as_required("ms", self.values)
        flags.register_validator("num", lambda value: value < 10, "too large", self.values)
        with self.assertRaisesRegex(flags.IllegalFlagValueError, "--ms must have a value"):
            self.parse()
        with self.assertRaisesRegex(flags.IllegalFlagValueError, "num=11: too large"):
            self.parse("--ms=1", "--num=11")
        self.parse("--ms=1")
        with self.assertRaises(flags.IllegalFlagValueError):
            self.values.num = 12
        with self.assertRaises(KeyError):
            flags.mark_flag_as_required("nope", self.values)

    def test_a_flag_file_has_flags(self):
        with tempfile.NamedTemporaryFile("w", suffix=".flags") as file:
            file.write("# numbers\n--num=8\n\n--noon\n")
            file.flush()
            values = self.parse("--flagfile=" + file.name)[1]
        self.assertEqual((values["num"], values["on"]), (8, False))
        with self.assertRaisesRegex(flags.Error, "/nonexistent"):
            self.parse("--flagfile=/nonexistent")
        self.assertIn("--nameless", self.values.flags_into_string().replace("--name=x", "--nameless"))


    def test_help_lists_a_flag_under_the_module_that_is_given(self):
        values = flags.FlagValues()
        flags.DEFINE_string("name", "x", "the name", flag_values=values, module_name="models")
        flags.DEFINE_alias("alias", "name", flag_values=values, module_name="models")
        self.assertTrue(values.get_help().startswith("models:\n  --name: the name"), values.get_help())


class ProgramTest(unittest.TestCase):
    def test_main_gets_the_rest_and_gives_the_status(self):
        ran = run_program(PROGRAM, "--name=y", "data", "--stepz=4")
        self.assertEqual((ran.returncode, ran.stdout), (3, "['data', '--stepz=4'] y 3\n"), ran.stderr)
        self.assertIn("did you mean --steps?", ran.stderr)

    def test_help_names_the_flags(self):
        ran = run_program(PROGRAM, "--help")
        self.assertEqual(ran.returncode, 1)
        for text in ("--name: the name", "(default: 'x')", "--steps: the steps", "a number of at least 1"):
            self.assertIn(text, ran.stdout)

    def test_a_wrong_value_ends_the_program_in_words(self):
        ran = run_program(PROGRAM, "--steps=0")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("flag --steps=0: 0 is not a number of at least 1", ran.stderr)
        self.assertNotIn("Traceback", ran.stderr)

    def test_the_first_read_parses_the_command_line(self):
        program = PROGRAM.replace("tf.app.run()", "print(FLAGS.steps)")
        self.assertEqual(run_program(program, "--steps=5").stdout, "5\n")
        self.assertIn("Did you mean: steps", run_program(program, "--step=5").stderr)

    def test_app_flags_are_flags(self):
        self.assertIs(tf.app.flags, tf.flags)


if __name__ == "__main__":
    unittest.main()
