"""tf.flags, each case with FlagValues of its own."""

import enum

from registry import case, each


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def parsed(tf, define, arguments, *names):
    """The values of flags after a command line; `define(flags, values)` defines them."""
    values = tf.flags.FlagValues()
    holders = define(tf.flags, values)
    rest = values(["prog"] + arguments)
    found = [getattr(values, name) for name in names]
    holders = holders if isinstance(holders, list) else [holders]
    return [rest, [str(value) if "Color" in str(value) else value for value in found],
            [(h.name, str(h.value), str(h.default), bool(h.present)) for h in holders if hasattr(h, "present")],
            [name in values for name in ("a", "zz")], values.is_parsed()]


DEFINITIONS = (
    ("DEFINE_string", ("x",), {}, ["--a=y"], ["--a", "z", "rest"]),
    ("DEFINE_string", (None,), {"required": True}, ["--a="], []),
    ("DEFINE_integer", (3,), {"lower_bound": 1, "upper_bound": 9}, ["--a=7"], ["--a=11"], ["--a=x"], ["--a=0x5"]),
    ("DEFINE_float", (0.5,), {"lower_bound": 0.0}, ["--a=1.5"], ["--a=-1"], ["--a=x"]),
    ("DEFINE_bool", (False,), {}, ["--a"], ["--noa"], ["--a=true"], ["--a=maybe"]),
    ("DEFINE_boolean", (True,), {"short_name": "s"}, ["--noa"], ["-s"]),
    ("DEFINE_enum", ("b", ["b", "c"]), {"case_sensitive": False}, ["--a=C"], ["--a=d"]),
    ("DEFINE_enum_class", (Color.RED, Color), {}, ["--a=blue"], ["--a=no"]),
    ("DEFINE_list", (["p"],), {}, ["--a=q,r"], ["--a="]),
    ("DEFINE_spaceseplist", (["p"],), {"comma_compat": True}, ["--a=q r,s"]),
    ("DEFINE_multi_string", (["p"],), {}, ["--a=q", "--a=r"], []),
    ("DEFINE_multi_integer", ([1],), {"lower_bound": 0}, ["--a=2", "--a=3"], ["--a=-1"]),
    ("DEFINE_multi_float", ([1.0],), {"upper_bound": 5.0}, ["--a=2.5"], ["--a=6"]),
    ("DEFINE_multi_enum", (["b"], ["b", "c"]), {}, ["--a=c", "--a=b"], ["--a=d"]),
    ("DEFINE_multi_enum_class", ([Color.RED], Color), {}, ["--a=blue", "--a=red"], ["--a=no"]),
)
for name, given, options, *lines in DEFINITIONS:
    for line in lines:
        each(f"flags.{name}", lambda tf, f, g=given, o=options, line=line: parsed(
            tf, lambda flags, values: f("a", *g, "help", flag_values=values, **o), line, "a"))


def several(flags, values):
    return [flags.DEFINE_integer("n", 1, "help", flag_values=values),
            flags.DEFINE_string("a", None, "help", flag_values=values),
            flags.DEFINE_bool("p", False, "help", flag_values=values),
            flags.DEFINE_bool("q", False, "help", flag_values=values)]


def checked(tf, add, arguments):
    def define(flags, values):
        holders = several(flags, values)
        add(flags, values, holders)
        return holders

    return parsed(tf, define, arguments, "n", "a", "p", "q")


for names, add, *lines in (
    ("flags.register_validator", lambda f, v, h: f.register_validator("n", lambda n: n > 0, "must be positive", v),
     ["--n=2"], ["--n=-2"]),
    ("flags.register_multi_flags_validator", lambda f, v, h: f.register_multi_flags_validator(
        ["n", "a"], lambda d: d["a"] is None or d["n"] == 1, flag_values=v), ["--n=2"], ["--n=2", "--a=x"]),
    ("flags.validator", lambda f, v, h: f.validator("n", flag_values=v)(lambda n: n < 5), ["--n=2"], ["--n=7"]),
    ("flags.multi_flags_validator", lambda f, v, h: f.multi_flags_validator(["n"], flag_values=v)(lambda d: d["n"] < 5),
     ["--n=2"], ["--n=7"]),
    ("flags.mark_flag_as_required", lambda f, v, h: f.mark_flag_as_required("a", flag_values=v), ["--a=2"], []),
    ("flags.mark_flags_as_required", lambda f, v, h: f.mark_flags_as_required(["a", "n"], flag_values=v), ["--a=2"],
     []),
    ("flags.mark_flags_as_mutual_exclusive", lambda f, v, h: [
        f.DEFINE_string("b", None, "help", flag_values=v),
        f.mark_flags_as_mutual_exclusive(["a", "b"], required=True, flag_values=v)],
     ["--a=2"], [], ["--a=2", "--b=3"]),
    ("flags.mark_bool_flags_as_mutual_exclusive", lambda f, v, h: f.mark_bool_flags_as_mutual_exclusive(
        ["p", "q"], required=True, flag_values=v), ["--p"], [], ["--p", "--q"]),
    ("flags.mark_bool_flags_as_mutual_exclusive",
     lambda f, v, h: f.mark_bool_flags_as_mutual_exclusive(["n"], flag_values=v), []),
    ("flags.DEFINE_alias", lambda f, v, h: f.DEFINE_alias("alias", "n", flag_values=v), ["--alias=5"], []),
    ("flags.set_default", lambda f, v, h: f.set_default(h[0], 8), [], ["--n=2"]),
    ("flags.UnrecognizedFlagError", lambda f, v, h: f.DEFINE_alias("alias", "no", flag_values=v), []),
    ("flags.UnrecognizedFlagError", lambda f, v, h: None, ["--nothing=1"]),
    ("flags.Error", lambda f, v, h: None, ["--n=1"]),
    ("flags.DuplicateFlagError", lambda f, v, h: f.DEFINE_string("n", None, "again", flag_values=v), []),
    ("flags.IllegalFlagValueError", lambda f, v, h: v.__setattr__("n", "x"), []),
):
    for line in lines:
        case(names, lambda tf, a=add, line=line: checked(tf, a, line))


def changed(tf):
    values = tf.flags.FlagValues()
    holders = several(tf.flags, values)
    values(["prog", "--n=3"])
    tf.flags.override_value(holders[0], 9)
    values.p = True
    found = [values.n, values.p, values["n"].value, values.get_flag_value("a", "other"), sorted(values), len(values),
             values.flag_values_dict(), values.flags_into_string().split("\n")]
    values.unparse_flags()
    values.mark_as_parsed()
    return found + [values.n, holders[0].value]


case("flags.override_value flags.FlagValues", changed)
case("flags.UnparsedFlagAccessError flags.FlagValues", lambda tf: several(tf.flags, unparsed(tf)) and None)


def unparsed(tf):
    values = tf.flags.FlagValues()
    several(tf.flags, values)
    return values.n


case("flags.flag_dict_to_args", lambda tf: list(tf.flags.flag_dict_to_args(
    {"a": 1, "b": True, "c": False, "d": None, "e": ["x", "y"], "f": ["x", "y"], "g": "text"}, multi_flags=["f"])))
for name, options, texts in (
    ("ArgumentParser", {}, ["x"]), ("BooleanParser", {}, ["true", "no", "maybe"]),
    ("IntegerParser", {"lower_bound": 2}, ["5", "0x10", "1"]),
    ("FloatParser", {"upper_bound": 2.0}, ["1.5", "3", "x"]),
    ("EnumParser", {"enum_values": ["a", "b"], "case_sensitive": False}, ["A", "c"]),
    ("EnumClassParser", {"enum_class": Color, "case_sensitive": False}, ["red", "no"]),
    ("ListParser", {}, ['a, b,"c,d"', ""]),
    ("WhitespaceSeparatedListParser", {"comma_compat": True}, ["a b,c", ""]),
    ("BaseListParser", {"token": ";", "name": "semi"}, ["a; b", ""]),
):
    for text in texts:
        each(f"flags.{name}", lambda tf, f, o=options, text=text: [str(f(**o).parse(text)), f(**o).flag_type()])
case("flags.ArgumentSerializer flags.ListSerializer flags.CsvListSerializer flags.EnumClassSerializer", lambda tf: [
    tf.flags.ArgumentSerializer().serialize(3), tf.flags.ListSerializer(list_sep=";").serialize(["a", "b"]),
    tf.flags.CsvListSerializer(",").serialize(["a", "b,c"]),
    tf.flags.EnumClassSerializer(lowercase=True).serialize(Color.RED)])
case("flags.DEFINE", lambda tf: parsed(tf, lambda flags, values: flags.DEFINE(
    flags.IntegerParser(), "a", 3, "help", flag_values=values, serializer=flags.ArgumentSerializer()), ["--a=5"], "a"))
case("flags.DEFINE_multi", lambda tf: parsed(tf, lambda flags, values: flags.DEFINE_multi(
    flags.IntegerParser(), flags.ArgumentSerializer(), "a", [3], "help", flag_values=values), ["--a=5", "--a=6"], "a"))
case("flags.DEFINE_flag", lambda tf: parsed(tf, lambda flags, values: copied(flags, values), ["--a=5"], "a"))


def copied(flags, values):
    """A flag of other FlagValues."""
    other = flags.FlagValues()
    flags.DEFINE_integer("a", 3, "help", flag_values=other)
    return flags.DEFINE_flag(other["a"], flag_values=values)
