"""Defines flags, validators of their values, and other properties of flags."""

from tensorbraid.flags import readers
from tensorbraid.flags.flag import (
    BooleanFlag, Flag, IllegalFlagValueError, MultiFlag, UnrecognizedFlagError, ValidationError)
from tensorbraid.flags.values import FlagValues

__all__ = ["DEFINE_alias", "DEFINE_bool", "DEFINE_boolean", "DEFINE_enum", "DEFINE_enum_class", "DEFINE_flag",
           "DEFINE_float", "DEFINE_integer", "DEFINE_list", "DEFINE_multi_enum", "DEFINE_multi_enum_class",
           "DEFINE_multi_float", "DEFINE_multi_integer", "DEFINE_multi_string", "DEFINE_spaceseplist", "DEFINE_string",
           "FLAGS", "FlagHolder", "flag_dict_to_args", "mark_bool_flags_as_mutual_exclusive", "mark_flag_as_required",
           "mark_flags_as_mutual_exclusive", "mark_flags_as_required", "multi_flags_validator", "override_value",
           "register_multi_flags_validator", "register_validator", "set_default", "validator"]

REPEAT = "repeat this option to specify a list of values"
FLAGS = FlagValues()
FLAGS.__dict__["_lazy"] = True  # the first read parses the command line of the program


class FlagHolder:
    """The result of a definition, with the flag's name, default and current value."""

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


def define(kind, name, default, help, read, options, write=str, note=""):
    """Adds a flag of the class `kind`, whose values the function `read` parses and `write` prints.

    `options` are further keyword arguments of a definition; flag_values, required and module_name are taken out of it.
    """
    flag_values = options.pop("flag_values", FLAGS)
    required, module_name = options.pop("required", False), options.pop("module_name", None)
    flag = kind(name, default, help, read, write, note=note, **options)
    return DEFINE_flag(flag, flag_values, module_name, required)


def DEFINE_string(name, default, help, **args):
    """Defines a flag whose value is a string."""
    return define(Flag, name, default, help, readers.text, args)


def DEFINE_integer(name, default, help, lower_bound=None, upper_bound=None, **args):
    """Defines a flag whose value is an integer, within the bounds if they are given."""
    read, note = readers.between(readers.integer, lower_bound, upper_bound)
    return define(Flag, name, default, help, read, args, note=note)


def DEFINE_float(name, default, help, lower_bound=None, upper_bound=None, **args):
    """Defines a flag whose value is a number, within the bounds if they are given."""
    read, note = readers.between(readers.real, lower_bound, upper_bound)
    return define(Flag, name, default, help, read, args, note=note)


def DEFINE_bool(name, default, help, **args):
    """Defines a flag that is true or false: --name, --noname or --name=false."""
    return define(BooleanFlag, name, default, help, readers.boolean, args, lambda value: str(value).lower())


DEFINE_boolean = DEFINE_bool


def DEFINE_enum(name, default, enum_values, help, **args):
    """Defines a flag whose value is one of the strings `enum_values`."""
    read = readers.one_of(enum_values, args.pop("case_sensitive", True))
    return define(Flag, name, default, f"<{'|'.join(enum_values)}>: {help}", read, args)


def DEFINE_enum_class(name, default, enum_class, help, case_sensitive=False, **args):
    """Defines a flag whose value is a member of `enum_class`, a subclass of enum.Enum."""
    return define(Flag, name, default, f"<{'|'.join(enum_class.__members__)}>: {help}",
                  readers.member_of(enum_class, case_sensitive), args, lambda value: value.name)


def DEFINE_list(name, default, help, **args):
    """Defines a flag whose value is a list of strings, separated by commas."""
    split = readers.list_of(lambda text: [item.strip() for item in text.split(",")] if text else [])
    return define(Flag, name, default, help, split, args, ",".join, "a comma separated list")


def DEFINE_spaceseplist(name, default, help, comma_compat=False, **args):
    """Defines a flag whose value is a list of strings, separated by spaces; with `comma_compat`, also by commas."""
    split = readers.list_of(lambda text: (text.replace(",", " ") if comma_compat else text).split())
    return define(Flag, name, default, help, split, args, " ".join, "a whitespace separated list")


def DEFINE_multi_string(name, default, help, **args):
    """Defines a flag that may be given several times; its value is the list of strings."""
    return define(MultiFlag, name, default, help, readers.text, args, note=REPEAT)


def DEFINE_multi_integer(name, default, help, lower_bound=None, upper_bound=None, **args):
    """Defines a flag that may be given several times; its value is the list of integers."""
    read = readers.between(readers.integer, lower_bound, upper_bound)[0]
    return define(MultiFlag, name, default, help, read, args, note=REPEAT)


def DEFINE_multi_float(name, default, help, lower_bound=None, upper_bound=None, **args):
    """Defines a flag that may be given several times; its value is the list of numbers."""
    read = readers.between(readers.real, lower_bound, upper_bound)[0]
    return define(MultiFlag, name, default, help, read, args, note=REPEAT)


def DEFINE_multi_enum(name, default, enum_values, help, case_sensitive=True, **args):
    """Defines a flag that may be given several times; each value is one of the strings `enum_values`."""
    read = readers.one_of(enum_values, case_sensitive)
    return define(MultiFlag, name, default, f"<{'|'.join(enum_values)}>: {help}", read, args, note=REPEAT)


def DEFINE_multi_enum_class(name, default, enum_class, help, case_sensitive=False, **args):
    """Defines a flag that may be given several times; each value is a member of `enum_class`."""
    return define(MultiFlag, name, default, f"<{'|'.join(enum_class.__members__)}>: {help}",
                  readers.member_of(enum_class, case_sensitive), args, lambda value: value.name, REPEAT)


def DEFINE_alias(name, original_name, flag_values=FLAGS, module_name=None):
    """Gives a flag a second name."""
    if original_name not in flag_values:
        raise UnrecognizedFlagError(original_name)
    flag = flag_values[original_name]
    flag_values.define(name, flag, module_name)
    return FlagHolder(flag_values, flag)


def register_validator(flag_name, checker, message="Flag validation failed", flag_values=FLAGS):
    """Calls `checker(value)` after parsing and after each change of the flag.

    If it returns False, parsing or the change fails with IllegalFlagValueError.
    """
    def check(values):
        if not checker(values[flag_name]):
            raise ValidationError(message)

    flag_values.add_validator([flag_name], check)


def register_multi_flags_validator(flag_names, multi_flags_checker, message="Flags validation failed",
                                   flag_values=FLAGS):
    """Like register_validator, but the checker's argument is a dict {flag name: value} of several flags."""
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
    """Makes parsing fail if the flag's value is None."""
    register_validator(flag_name, lambda value: value is not None,
                       f"Flag --{flag_name} must have a value other than None.", flag_values)


def mark_flags_as_required(flag_names, flag_values=FLAGS):
    """mark_flag_as_required for each of the flags."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def mark_flags_as_mutual_exclusive(flag_names, required=False, flag_values=FLAGS):
    """Makes parsing fail if more than one of the flags is not None, or, with `required`, if none of them is."""
    def check(values):
        given = sum(value is not None for value in values.values())
        return given == 1 or (given == 0 and not required)

    word = "Exactly" if required else "At most"
    message = f"{word} one of ({', '.join(flag_names)}) must have a value other than None."
    register_multi_flags_validator(flag_names, check, message, flag_values)


def mark_bool_flags_as_mutual_exclusive(flag_names, required=False, flag_values=FLAGS):
    """Makes parsing fail if more than one of the bool flags is true, or, with `required`, if none of them is."""
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
