"""Readers: functions that convert the text of a command line, or an object of the program, to the value of a flag.

They raise ValueError or TypeError, whose message becomes part of IllegalFlagValueError.
"""


def text(value):
    """The text itself."""
    if not isinstance(value, str):
        raise TypeError(f"the value must be a string, got {value!r} of type {type(value).__name__}")
    return value


def integer(value):
    """An integer, in base 16 after "0x" and in base 8 after "0o"."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise TypeError(f"the value must be an integer, got {value!r}")
    if isinstance(value, int):
        return value
    try:
        return int(value, {"0x": 16, "0o": 8}.get(value[:2].lower(), 10))
    except ValueError:
        raise ValueError(f"{value!r} is not an integer") from None


def real(value):
    """A float."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise TypeError(f"the value must be a number, got {value!r}")
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"{value!r} is not a number") from None


def boolean(value):
    """True for "true", "t" and "1", and False for "false", "f" and "0"."""
    word = value.lower() if isinstance(value, str) else value
    if word in ("true", "t", "1") or (isinstance(word, int) and word == 1):
        return True
    if word in ("false", "f", "0") or (isinstance(word, int) and word == 0):
        return False
    raise ValueError(f"{value!r} is not true or false")


def between(read, lower, upper):
    """A reader that refuses numbers outside [lower, upper], and the description of this range for --help."""
    if lower is None and upper is None:
        return read, ""
    note = (f"a number in the range [{lower}, {upper}]" if lower is not None and upper is not None else
            f"a number of at least {lower}" if upper is None else f"a number of at most {upper}")

    def checked(value):
        number = read(value)
        if (lower is not None and number < lower) or (upper is not None and number > upper):
            raise ValueError(f"{number} is not {note}")
        return number

    return checked, note


def one_of(values, case_sensitive=True):
    """A reader that accepts the strings `values` only."""
    values = list(values)
    if not values:
        raise ValueError("enum_values cannot be empty")

    def read(value):
        for allowed in values:
            if value == allowed or (not case_sensitive and str(value).lower() == allowed.lower()):
                return allowed
        raise ValueError(f"value should be one of <{'|'.join(values)}>")

    return read


def member_of(enum_class, case_sensitive):
    """A reader of members of `enum_class`, given as a member or by name."""
    by_name = {name if case_sensitive else name.lower(): member for name, member in enum_class.__members__.items()}

    def read(value):
        if isinstance(value, enum_class):
            return value
        key = str(value) if case_sensitive else str(value).lower()
        if key not in by_name:
            raise ValueError(f"value should be one of <{'|'.join(by_name)}>")
        return by_name[key]

    return read


def list_of(split):
    """A reader of a list of strings, or of one string that the function `split` divides."""
    return lambda value: [text(item) for item in value] if isinstance(value, (list, tuple)) else split(text(value))
