"""The flags of a program by name: FlagValues parses the command line."""

import difflib
import os
import sys

from tensorbraid.flags.flag import (
    DuplicateFlagError, Error, IllegalFlagValueError, UnparsedFlagAccessError, UnrecognizedFlagError, ValidationError)

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class FlagValues:
    """Flags by name. `values(argv)` parses a command line; `values.name` is the value of a flag."""

    def __init__(self):
        self.__dict__.update({"__flags": {}, "_modules": {}, "_validators": [], "_parsed": False, "_lazy": False})

    # Definitions.

    def __setitem__(self, name, flag):
        self.define(name, flag)

    def define(self, name, flag, module_name=None):
        """Adds a flag, which --help lists under `module_name`, or else under the file that defines it."""
        if not name or " " in name or name.startswith("-"):
            raise Error(f"'{name}' cannot be the name of a flag")
        module = module_name or _defining_file()
        old = self.__dict__["__flags"].get(name)
        if old is not None and not (old.allow_override or flag.allow_override):
            raise DuplicateFlagError(f"The flag '{name}' is defined twice. First from {self._modules[name]}, second "
                                     f"from {module}. Description from first occurrence: {old.help}")
        for key in filter(None, (name, flag.short_name)):
            self.__dict__["__flags"][key] = flag
            self._modules[key] = module

    def __getitem__(self, name):
        return self.__dict__["__flags"][name]

    def __contains__(self, name):
        return name in self.__dict__["__flags"]

    def __iter__(self):
        return iter(self.__dict__["__flags"])

    def __len__(self):
        return len(self.__dict__["__flags"])

    def __dir__(self):
        return sorted(list(self.__dict__["__flags"]) + dir(type(self)))

    def __delattr__(self, name):
        if name not in self:
            raise AttributeError(name)
        del self.__dict__["__flags"][name]

    # Values.

    def __getattr__(self, name):
        if name not in self:
            near = difflib.get_close_matches(name, list(self), 1)
            raise AttributeError(f"the flag '{name}' is not defined" + (f"; did you mean '{near[0]}'?" if near else ""))
        if not self._parsed:
            if not self._lazy:
                raise UnparsedFlagAccessError(f"Trying to access flag --{name} before flags were parsed.")
            parse_program(self)
        return self[name].value

    def __setattr__(self, name, value):
        if name not in self:
            raise UnrecognizedFlagError(name, value, self._suggestions(name))
        flag = self[name]
        flag.value = value
        flag.using_default_value = False
        self._validate([name])

    def set_default(self, name, value):
        """Replaces the default of a flag."""
        if name not in self:
            raise UnrecognizedFlagError(name, value, self._suggestions(name))
        self[name].set_default(value)
        self._validate([name])

    def get_flag_value(self, name, default):
        """The value of a flag, or `default` if it is None."""
        value = getattr(self, name)
        return default if value is None else value

    def flag_values_dict(self):
        """The values of all flags by name."""
        return {name: flag.value for name, flag in self.__dict__["__flags"].items() if name == flag.name}

    def flags_into_string(self):
        """The flags as a file for --flagfile has them."""
        return "\n".join(filter(None, (self[name].serialize() for name in sorted(self.flag_values_dict())))) + "\n"

    def is_parsed(self):
        """Whether a command line has been parsed."""
        return self._parsed

    def mark_as_parsed(self):
        """Lets flags be read although no command line has been parsed."""
        self.__dict__["_parsed"] = True

    def unparse_flags(self):
        """Forgets the command line."""
        for flag in self.__dict__["__flags"].values():
            flag.unparse()
        self.__dict__["_parsed"] = False

    def _parse_flags(self, args=None):
        """Parses the command line of the program; scripts for TensorFlow before 1.5 call it."""
        self([sys.argv[0]] + list(sys.argv[1:] if args is None else args), known_only=True)
        return {}

    # The command line.

    def __call__(self, argv, known_only=False):
        """Parses `argv` and returns its first item and what is no flag; with `known_only` also unknown flags."""
        if isinstance(argv, str) or not argv:
            raise TypeError("argv should be a non-empty list of arguments")
        rest, undefined_ok = [], set()
        for flag in self.__dict__["__flags"].values():
            flag.present = 0
        self._parse(list(argv[1:]), rest, undefined_ok, known_only)
        self.mark_as_parsed()
        self._validate(None)
        return [argv[0]] + rest

    def _parse(self, args, rest, undefined_ok, known_only):
        while args:
            arg = args.pop(0)
            if arg == "--":
                rest.extend(args)
                return
            if not arg.startswith("-") or arg == "-":
                rest.append(arg)
                continue
            name, equals, value = arg[2 if arg.startswith("--") else 1:].partition("=")
            value = value if equals else None
            if name in ("flagfile", "undefok") and name not in self:
                value = self._next(name, value, args)
                if name == "flagfile":
                    self._parse(_lines_of(value), rest, undefined_ok, known_only)
                else:
                    undefined_ok.update(part.strip().removeprefix("no") for part in value.split(","))
                    undefined_ok.update(part.strip() for part in value.split(","))
            elif name in self:
                flag = self[name]
                flag.parse("true" if flag.boolean and value is None else self._next(name, value, args))
            elif name.startswith("no") and name[2:] in self and self[name[2:]].boolean:
                if value is not None:
                    raise ValueError(f"{arg} does not take an argument")
                self[name[2:]].parse("false")
            elif known_only:
                rest.append(arg)
            elif name not in undefined_ok:
                if _undefined_later(args, name):
                    continue
                raise UnrecognizedFlagError(name, value or "", self._suggestions(name))

    @staticmethod
    def _next(name, value, args):
        if value is None and not args:
            raise Error(f"Missing value for flag --{name}")
        return args.pop(0) if value is None else value

    def _suggestions(self, name):
        names = list(self) + ["no" + n for n in self if self[n].boolean]
        return difflib.get_close_matches(name, names)

    # Validators.

    def add_validator(self, names, check):
        """`check(values)` gets a dictionary with the flags `names` and raises ValidationError."""
        for name in names:
            self[name]  # KeyError if it is not defined
        self._validators.append((list(names), check))

    def _validate(self, changed):
        for names, check in list(self._validators):
            if changed is None or set(changed) & set(names):
                try:
                    check({name: self[name].value for name in names})
                except ValidationError as error:
                    flags = ", ".join(f"flag --{name}={self[name].value}" for name in names)
                    raise IllegalFlagValueError(f"{flags}: {error}") from None

    def validate_all_flags(self):
        """Raises an error if a validator refuses a value."""
        self._validate(None)

    # Help.

    def get_help(self):
        """The flags with their help, by the file that defines them."""
        files = {}
        for name in sorted(self.flag_values_dict()):
            files.setdefault(self._modules[name], []).append(self[name].describe())
        return "\n\n".join(f"{file}:\n" + "\n".join(lines) for file, lines in sorted(files.items()))

    main_module_help = get_help


def parse_program(values, argv=None, known_only=False):
    """Parses the program's command line. --help prints the flags and ends the program with status 1, as absl's does."""
    argv = sys.argv if argv is None else argv
    own = argv[1:argv.index("--")] if "--" in argv else argv[1:]
    if any(arg.lstrip("-") in ("help", "helpshort", "helpfull", "?") and arg.startswith("-")
           and arg.lstrip("-") not in values for arg in own):
        doc = getattr(sys.modules.get("__main__"), "__doc__", None)
        print(f"\n{doc.strip() if doc else f'USAGE: {argv[0]} [flags]'}\nflags:\n\n{values.get_help()}")
        sys.exit(1)
    return values(argv, known_only)


def _undefined_later(args, name):
    """Whether a later --undefok allows the flag."""
    listed = [arg.partition("=")[2].split(",") for arg in args if arg.lstrip("-").startswith("undefok=")]
    return any(name in names or name.removeprefix("no") in names for names in listed)


def _lines_of(path):
    try:
        with open(path) as file:
            lines = [line.strip() for line in file]
    except OSError as error:
        raise Error(f"cannot open the flag file '{path}': {error.strerror}") from None
    return [line for line in lines if line and not line.startswith(("#", "//"))]


def _defining_file():
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame.f_code.co_filename if frame is not None else "python"
