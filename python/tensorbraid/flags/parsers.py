"""Parsers and serializers of flags as objects, for DEFINE and DEFINE_multi. Other definitions use the same readers."""

from tensorbraid.flags import readers
from tensorbraid.flags.definitions import REPEAT, define
from tensorbraid.flags.flag import Flag, MultiFlag

__all__ = ["ArgumentParser", "ArgumentSerializer", "BaseListParser", "BooleanParser", "CsvListSerializer", "DEFINE",
           "DEFINE_multi", "EnumClassParser", "EnumClassSerializer", "EnumParser", "FloatParser", "IntegerParser",
           "ListParser", "ListSerializer", "WhitespaceSeparatedListParser"]


class ArgumentParser:
    """Makes a value of the text of the command line. Subclasses override `parse`."""

    syntactic_help = ""

    def parse(self, argument):
        """The value; the text itself unless a subclass does more."""
        return readers.text(argument)

    def flag_type(self):
        """The name of the type of the values."""
        return "string"


class ArgumentSerializer:
    """Makes a text of a value."""

    def serialize(self, value):
        """The text of the value."""
        return str(value)


class _NumberParser(ArgumentParser):
    _read, _type = None, ""

    def __init__(self, lower_bound=None, upper_bound=None):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound
        self._checked, self.syntactic_help = readers.between(type(self)._read, lower_bound, upper_bound)

    def parse(self, argument):
        """The number; ValueError if it is out of the bounds."""
        return self._checked(argument)

    convert = parse

    def flag_type(self):
        """The name of the type of the values."""
        return self._type


class IntegerParser(_NumberParser):
    """Integers, in base 16 after "0x" and in base 8 after "0o"."""

    _read, _type = staticmethod(readers.integer), "int"


class FloatParser(_NumberParser):
    """Numbers."""

    _read, _type = staticmethod(readers.real), "float"


class BooleanParser(ArgumentParser):
    """True for "true", "t" and "1", and False for "false", "f" and "0"."""

    def parse(self, argument):
        """The bool; ValueError for another text."""
        return readers.boolean(argument)

    def flag_type(self):
        """The name of the type of the values."""
        return "bool"


class EnumParser(ArgumentParser):
    """One of some texts."""

    def __init__(self, enum_values, case_sensitive=True):
        self._read = readers.one_of(enum_values, case_sensitive)
        self.enum_values, self.case_sensitive = enum_values, case_sensitive

    def parse(self, argument):
        """The text as it is among the values."""
        return self._read(argument)

    def flag_type(self):
        """The name of the type of the values."""
        return "string enum"


class EnumClassParser(ArgumentParser):
    """A member of a class of enum, by its name."""

    def __init__(self, enum_class, case_sensitive=True):
        self._read = readers.member_of(enum_class, case_sensitive)
        self.enum_class = enum_class
        self._member_names = [name if case_sensitive else name.lower() for name in enum_class.__members__]

    @property
    def member_names(self):
        """The names that the flag takes."""
        return self._member_names

    def parse(self, argument):
        """The member."""
        return self._read(argument)

    def flag_type(self):
        """The name of the type of the values."""
        return "enum class"


class EnumClassSerializer(ArgumentSerializer):
    """The names of members of a class of enum."""

    def __init__(self, lowercase):
        self._lowercase = lowercase

    def serialize(self, value):
        """The text of the value."""
        return value.name.lower() if self._lowercase else value.name


class BaseListParser(ArgumentParser):
    """Texts that a separator divides; None stands for white space."""

    def __init__(self, token=None, name=None):
        self._token, self._name = token, name
        self.syntactic_help = f"a {name} separated list"

    def parse(self, argument):
        """The list of the texts, without white space around them."""
        if isinstance(argument, list):
            return argument
        return [item.strip() for item in argument.split(self._token)] if argument else []

    def flag_type(self):
        """The name of the type of the values."""
        return f"{self._name} separated list of strings"


class ListParser(BaseListParser):
    """Texts that commas divide. Texts in double quotes may have commas."""

    def __init__(self):
        super().__init__(",", "comma")

    def parse(self, argument):
        """The list of the texts."""
        import csv

        if isinstance(argument, list):
            return argument
        if not argument:
            return []
        try:
            return [item.strip() for item in next(csv.reader([argument], strict=True))]
        except csv.Error as error:
            raise ValueError(f"Unable to parse the value {argument!r} as a list: {error}") from None


class WhitespaceSeparatedListParser(BaseListParser):
    """Texts that white space divides, and commas as well with `comma_compat`."""

    def __init__(self, comma_compat=False):
        self._comma_compat = comma_compat
        super().__init__(None, "whitespace or comma" if comma_compat else "whitespace")

    def parse(self, argument):
        """The list of the texts."""
        if isinstance(argument, list):
            return argument
        return (argument.replace(",", " ") if self._comma_compat else argument).split()


class ListSerializer(ArgumentSerializer):
    """The texts of the elements, with a separator between them."""

    def __init__(self, list_sep):
        self.list_sep = list_sep

    def serialize(self, value):
        """The text of the value."""
        return self.list_sep.join(str(item) for item in value)


class CsvListSerializer(ListSerializer):
    """The texts of the elements as a line of a CSV file."""

    def serialize(self, value):
        """The text of the value."""
        import csv
        import io

        line = io.StringIO()
        csv.writer(line, delimiter=self.list_sep, lineterminator="").writerow([str(item) for item in value])
        return line.getvalue()


def DEFINE(parser, name, default, help, flag_values=None, serializer=None, module_name=None, required=False, **args):
    """Defines a flag whose value a parser makes of the text."""
    args.update({"flag_values": flag_values} if flag_values is not None else {}, required=required,
                module_name=module_name)
    return define(Flag, name, default, help, parser.parse, args,
                          serializer.serialize if serializer else str, parser.syntactic_help)


def DEFINE_multi(parser, serializer, name, default, help, flag_values=None, module_name=None, required=False, **args):
    """Defines a flag that may be given several times; a parser makes each value."""
    args.update({"flag_values": flag_values} if flag_values is not None else {}, required=required,
                module_name=module_name)
    return define(MultiFlag, name, default, help, parser.parse, args,
                          serializer.serialize if serializer else str, REPEAT)
