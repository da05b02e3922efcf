"""tf.flags: definitions of the flags of a program. tf.app.flags is the same."""

from tensorbraid.flags.flag import (  # noqa: F401
    BooleanFlag, DuplicateFlagError, Error, Flag, IllegalFlagValueError, MultiFlag, UnparsedFlagAccessError,
    UnrecognizedFlagError, ValidationError)
from tensorbraid.flags.values import FlagValues

__all__ = []

FLAGS = FlagValues()
FLAGS.__dict__["_lazy"] = True  # the first read parses the command line of the program


class FlagHolder:
    """What a definition returns: the flag's name, default and value."""

    def __init__(self, flag_values, flag):
        self._values, self._flag = flag_values, flag

    name = property(lambda self: self._flag.name)
    default = property(lambda self: self._flag.default)
    present = property(lambda self: bool(self._flag.present))
    value = property(lambda self: getattr(self._values, self._flag.name))


def DEFINE_flag(flag, flag_values=FLAGS, module_name=None, required=False):
    """Adds a flag. --help lists it under `module_name`, or under the file that defines it."""
    flag_values.define(flag.name, flag, module_name)
    if required:
        mark_flag_as_required(flag.name, flag_values)
    return FlagHolder(flag_values, flag)


def _define(kind, name, default, help, read, options, write=str, note=""):
    flag_values = options.pop("flag_values", FLAGS)
    required, module_name = options.pop("required", False), options.pop("module_name", None)
    flag = kind(name, default, help, read, write, note=note, **options)
    return DEFINE_flag(flag, flag_values, module_name, required)


def _text(value):
    if not isinstance(value, str):
        raise TypeError(f"the value must be a string, got {value!r} of type {type(value).__name__}")
    return value


def _integer(value):
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise TypeError(f"the value must be an integer, got {value!r}")
    if isinstance(value, int):
        return value
    try:
        return int(value, {"0x": 16, "0o": 8}.get(value[:2].lower(), 10))
    except ValueError:
        raise ValueError(f"{value!r} is not an integer") from None


def _real(value):
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise TypeError(f"the value must be a number, got {value!r}")
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"{value!r} is not a number") from None


def _boolean(value):
    word = value.lower() if isinstance(value, str) else value
    if word in ("true", "t", "1") or (isinstance(word, int) and word == 1):
        return True
    if word in ("false", "f", "0") or (isinstance(word, int) and word == 0):
        return False
    raise ValueError(f"{value!r} is not true or false")


def _between(read, lower, upper):
    """A reader that refuses numbers out of [lower, upper], and the words for this range."""
    if lower is None and upper is None:
        return read, ""
    note = (f"a number in the range [{lower}, {upper}]" if lower is not None and upper is not None else
            f"a number not below {lower}" if upper is None else f"a number not above {upper}")

    def checked(value):
        number = read(value)
        if (lower is not None and number < lower) or (upper is not None and number > upper):
            raise ValueError(f"{number} is not {note}")
        return number

    return checked, note


def _one_of(values, case_sensitive=True):
    values = list(values)
    if not values:
        raise ValueError("enum_values cannot be empty")

    def read(value):
        for allowed in values:
            if value == allowed or (not case_sensitive and str(value).lower() == allowed.lower()):
                return allowed
        raise ValueError(f"value should be one of <{'|'.join(values)}>")

    return read


def _member_of(enum_class, case_sensitive):
    by_name = {name if case_sensitive else name.lower(): member for name, member in enum_class.__members__.items()}

    def read(value):
        if isinstance(value, enum_class):
            return value
        key = str(value) if case_sensitive else str(value).lower()
        if key not in by_name:
            raise ValueError(f"value should be one of <{'|'.join(by_name)}>")
        return by_name[key]

    return read


def _list_of(split):
    return lambda value: [_text(item) for item in value] if isinstance(value, (list, tuple)) else split(_text(value))


def DEFINE_string(name, default, help, **args):
    """Defines a flag whose value is a text."""
    return _define(Flag, name, default, help, _text, args)


def DEFINE_integer(name, default, help, lower_bound=None, upper_bound=None, **args):
    """Defines a flag whose value is an integer, within the bounds if they are given."""
    read, note = _between(_integer, lower_bound, upper_bound)
    return _define(Flag, name, default, help, read, args, note=note)


def DEFINE_float(name, default, help, lower_bound=None, upper_bound=None, **args):
    """Defines a flag whose value is a number, within the bounds if they are given."""
    read, note = _between(_real, lower_bound, upper_bound)
    return _define(Flag, name, default, help, read, args, note=note)


def DEFINE_bool(name, default, help, **args):
    """Defines a flag that is true or false: --name, --noname or --name=false."""
    return _define(BooleanFlag, name, default, help, _boolean, args, lambda value: str(value).lower())


DEFINE_boolean = DEFINE_bool


def DEFINE_enum(name, default, enum_values, help, **args):
    """Defines a flag whose value is one of some texts."""
    read = _one_of(enum_values, args.pop("case_sensitive", True))
    return _define(Flag, name, default, f"<{'|'.join(enum_values)}>: {help}", read, args)


def DEFINE_enum_class(name, default, enum_class, help, case_sensitive=False, **args):
    """Defines a flag whose value is a member of a class of enum."""
    return _define(Flag, name, default, f"<{'|'.join(enum_class.__members__)}>: {help}",
                   _member_of(enum_class, case_sensitive), args, lambda value: value.name)


def DEFINE_list(name, default, help, **args):
    """Defines a flag whose value is a list of texts, separated by commas."""
    split = _list_of(lambda text: [item.strip() for item in text.split(",")] if text else [])
    return _define(Flag, name, default, help, split, args, ",".join, "a comma separated list")


def DEFINE_spaceseplist(name, default, help, comma_compat=False, **args):
    """Defines a flag whose value is a list of texts, separated by spaces."""
    split = _list_of(lambda text: (text.replace(",", " ") if comma_compat else text).split())
    return _define(Flag, name, default, help, split, args, " ".join, "a whitespace separated list")


def DEFINE_multi_string(name, default, help, **args):
    """Defines a flag that may be given several times; its value is the list of texts."""
    return _define(MultiFlag, name, default, help, _text, args, note=_REPEAT)


def DEFINE_multi_integer(name, default, help, lower_bound=None, upper_bound=None, **args):
    """Defines a flag that may be given several times; its value is the list of integers."""
    return _define(MultiFlag, name, default, help, _between(_integer, lower_bound, upper_bound)[0], args, note=_REPEAT)


def DEFINE_multi_float(name, default, help, lower_bound=None, upper_bound=None, **args):
    """Defines a flag that may be given several times; its value is the list of numbers."""
    return _define(MultiFlag, name, default, help, _between(_real, lower_bound, upper_bound)[0], args, note=_REPEAT)


def DEFINE_multi_enum(name, default, enum_values, help, case_sensitive=True, **args):
    """Defines a flag that may be given several times; each value is one of some texts."""
    return _define(MultiFlag, name, default, f"<{'|'.join(enum_values)}>: {help}", _one_of(enum_values, case_sensitive),
                   args, note=_REPEAT)


def DEFINE_multi_enum_class(name, default, enum_class, help, case_sensitive=False, **args):
    """Defines a flag that may be given several times; each value is a member of a class of enum."""
    return _define(MultiFlag, name, default, f"<{'|'.join(enum_class.__members__)}>: {help}",
                   _member_of(enum_class, case_sensitive), args, lambda value: value.name, _REPEAT)


_REPEAT = "repeat this option to specify a list of values"


def DEFINE_alias(name, original_name, flag_values=FLAGS, module_name=None):
    """Gives a flag a second name."""
    if original_name not in flag_values:
        raise UnrecognizedFlagError(original_name)
    flag = flag_values[original_name]
    flag_values.define(name, flag, module_name)
    return FlagHolder(flag_values, flag)


def register_validator(flag_name, checker, message="Flag validation failed", flag_values=FLAGS):
    """`checker(value)` is called after parsing and after each change; the value is refused if it returns False."""
    def check(values):
        if not checker(values[flag_name]):
            raise ValidationError(message)

    flag_values.add_validator([flag_name], check)


def register_multi_flags_validator(flag_names, multi_flags_checker, message="Flags validation failed",
                                   flag_values=FLAGS):
    """As register_validator, with a dictionary of several flags."""
    def check(values):
        if not multi_flags_checker(values):
            raise ValidationError(message)

    flag_values.add_validator(flag_names, check)


def validator(flag_name, message="Flag validation failed", flag_values=FLAGS):
    """A decorator: register_validator with the decorated function."""
    def decorate(function):
        register_validator(flag_name, function, message, flag_values)
        return function

    return decorate


def multi_flags_validator(flag_names, message="Flag validation failed", flag_values=FLAGS):
    """A decorator: register_multi_flags_validator with the decorated function."""
    def decorate(function):
        register_multi_flags_validator(flag_names, function, message, flag_values)
        return function

    return decorate


def mark_flag_as_required(flag_name, flag_values=FLAGS):
    """Refuses a command line that leaves the flag at None."""
    register_validator(flag_name, lambda value: value is not None,
                       f"Flag --{flag_name} must have a value other than None.", flag_values)


def mark_flags_as_required(flag_names, flag_values=FLAGS):
    """mark_flag_as_required for each of the flags."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def mark_flags_as_mutual_exclusive(flag_names, required=False, flag_values=FLAGS):
    """Refuses a command line that gives more than one of the flags, or, if one is required, none of them."""
    def check(values):
        given = sum(value is not None for value in values.values())
        return given == 1 or (given == 0 and not required)

    word = "Exactly" if required else "At most"
    message = f"{word} one of ({', '.join(flag_names)}) must have a value other than None."
    register_multi_flags_validator(flag_names, check, message, flag_values)


def mark_bool_flags_as_mutual_exclusive(flag_names, required=False, flag_values=FLAGS):
    """At most one of the bool flags may be true; exactly one with `required`."""
    for name in flag_names:
        if not flag_values[name].boolean:
            raise ValidationError(f"Flag --{name} is not Boolean, which is required for flags used in "
                                  "mark_bool_flags_as_mutual_exclusive.")

    def check(values):
        count = sum(bool(value) for value in values.values())
        if count > 1 or (required and count == 0):
            raise ValidationError(f"{'Exactly' if required else 'At most'} one of ({', '.join(flag_names)}) must be "
                                  "True.")
        return True

    register_multi_flags_validator(flag_names, check, flag_values=flag_values)


def set_default(flag_holder, value):
    """Replaces the default of the flag of a FlagHolder."""
    flag_holder._values.set_default(flag_holder.name, value)


def override_value(flag_holder, value):
    """Replaces the value of the flag of a FlagHolder."""
    if value is None:
        raise IllegalFlagValueError(f"flag --{flag_holder.name}: the value must not be None")
    setattr(flag_holder._values, flag_holder.name, value)


def flag_dict_to_args(flag_map, multi_flags=None):
    """Yields the arguments of a command line for a dictionary of flags and values."""
    for name, value in flag_map.items():
        if value is None:
            yield f"--{name}"
        elif isinstance(value, bool):
            yield f"--{name}" if value else f"--no{name}"
        elif isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            yield f"--{name}={value}"
        elif multi_flags and name in multi_flags:
            yield from (f"--{name}={item}" for item in value)
        else:
            yield f"--{name}={','.join(str(item) for item in value)}"


from tensorbraid.flags.parsers import *  # noqa: E402,F401,F403
