"""One flag of a program, and the errors of flags."""

import textwrap


class Error(Exception):
    """Base of the errors of flags."""


class DuplicateFlagError(Error):
    """A flag is defined twice."""


class IllegalFlagValueError(Error):
    """A flag has a value that its type or a validator does not allow."""


class ValidationError(Error):
    """A validator's own way to refuse a value, with its message."""


class UnparsedFlagAccessError(Error):
    """A flag of FlagValues of the program's own is read before they have parsed a command line."""


class UnrecognizedFlagError(Error):
    """The command line has a flag that is not defined."""

    def __init__(self, flagname, flagvalue="", suggestions=()):
        self.flagname = flagname
        self.flagvalue = flagvalue
        hint = f". Did you mean: {', '.join(suggestions)} ?" if suggestions else ""
        super().__init__(f"Unknown command line flag '{flagname}'{hint}")


class Flag:
    """A flag with its value. `read` makes a value of the text of the command line, `write` the text of a value."""

    boolean = False
    multiple = False

    def __init__(self, name, default, help, read, write=str, short_name=None, note="", allow_override=False):
        self.name = name
        self.help = help or ""
        self.short_name = short_name
        self.allow_override = allow_override
        self.note = note
        self.present = 0  # how often the command line has the flag
        self.using_default_value = True
        self._read, self._write = read, write
        self.set_default(default)

    def set_default(self, default):
        """Replaces the default, and the value if none was given."""
        self.default = self.checked(default)
        if self.using_default_value:
            self.value = self.default

    def checked(self, value):
        """The value that stands for `value`; raises IllegalFlagValueError."""
        if value is None:
            return None
        try:
            return self._read(value)
        except (TypeError, ValueError) as error:
            raise IllegalFlagValueError(f"flag --{self.name}={value}: {error}") from None

    def parse(self, text):
        """Sets the value from a text."""
        self.value = self.checked(text)
        self.present += 1
        self.using_default_value = False

    def unparse(self):
        """Sets the value to the default again."""
        self.value, self.present, self.using_default_value = self.default, 0, True

    def text(self, value):
        """A value as --help shows it."""
        return self._write(value)

    def serialize(self):
        """The flag as it is written on a command line."""
        return "" if self.value is None else f"--{self.name}={self.text(self.value)}"

    def describe(self):
        """The lines of --help about the flag."""
        title = ("--[no]" if self.boolean else "--") + self.name
        if self.short_name:
            title = f"-{self.short_name},{title}"
        lines = textwrap.wrap(f"{title}: {self.help}", 78, initial_indent="  ", subsequent_indent="    ")
        if self.default is not None:
            lines.append(f"    (default: '{self.text(self.default)}')")
        return "\n".join(lines + ([f"    ({self.note})"] if self.note else []))


class BooleanFlag(Flag):
    """A flag that needs no value: --flag, --noflag."""

    boolean = True

    def serialize(self):
        """The flag as it is written on a command line."""
        return "" if self.value is None else f"--{'' if self.value else 'no'}{self.name}"


class MultiFlag(Flag):
    """A flag that may be given several times. Its value is the list of all values."""

    multiple = True

    def checked(self, value):
        """The values as a list, each parsed."""
        if value is None:
            return None
        values = value if isinstance(value, (list, tuple)) else [value]
        return [super(MultiFlag, self).checked(item) for item in values]

    def parse(self, text):
        """Adds a value, or sets the list."""
        values = self.checked(text)
        self.value = (self.value if self.present else []) + values
        self.present += 1
        self.using_default_value = False

    def serialize(self):
        """The flag as it is written on a command line, once for each value."""
        return "\n".join(f"--{self.name}={self._write(item)}" for item in self.value or [])

    def text(self, value):
        """The values as --help shows them."""
        return str([self._write(item) for item in value])
