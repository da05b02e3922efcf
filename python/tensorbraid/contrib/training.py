"""tf.contrib.training: named hyperparameters."""

import json
import re

__all__ = ["HParams", "parse_values"]


class HParams:
    """Named values of fixed types: numbers, strings, booleans, or lists of one of these.

        hparams = HParams(learning_rate=0.1, layers=[64, 32])
        hparams.parse("learning_rate=0.3,layers=[8]")
    """

    def __init__(self, **kwargs):
        self._types = {}
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name, value):
        """Adds a value, from which the name gets its type."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError("Multi-valued hyperparameters cannot be empty: %s" % name)
            self._types[name] = type(value[0]), True
        else:
            self._types[name] = type(value), False
        setattr(self, name, value)

    def set_hparam(self, name, value):
        """Replaces a value by one of the same type."""
        kind, is_list = self._types[name]
        if isinstance(value, list) != is_list:
            raise ValueError(f"The value of {name} must {'' if is_list else 'not '}be a list")
        converted = [_converted(name, kind, item) for item in value] if is_list else _converted(name, kind, value)
        setattr(self, name, converted)

    def del_hparam(self, name):
        if name in self._types:
            delattr(self, name)
            del self._types[name]

    def parse(self, values):
        """Replaces values by those of a text such as "a=1,b[2]=3,c=[1,2]". Returns the object."""
        return self.override_from_dict(parse_values(values, {name: kind for name, (kind, _) in self._types.items()}))

    def override_from_dict(self, values_dict):
        """Replaces values. A dict as a value replaces elements of a list by their index. Returns the object."""
        for name, value in values_dict.items():
            if isinstance(value, dict):
                changed = list(getattr(self, name))
                for index, item in value.items():
                    changed[index] = item
                value = changed
            if self._types[name][1] and not isinstance(value, list):
                value = [value] * len(getattr(self, name))
            self.set_hparam(name, value)
        return self

    def parse_json(self, values_json):
        return self.override_from_dict(json.loads(values_json))

    def to_json(self, indent=None, separators=None, sort_keys=False):
        return json.dumps({name: value for name, value in self.values().items() if not callable(value)}, indent=indent,
                          separators=separators, sort_keys=sort_keys)

    def values(self):
        return {name: getattr(self, name) for name in self._types}

    def get(self, key, default=None):
        """The value; `default`, which must have its type, if there is none with this name."""
        return getattr(self, key) if key in self._types else default

    def __contains__(self, key):
        return key in self._types

    def __repr__(self):
        return "HParams([" + ", ".join(f"({name!r}, {value!r})" for name, value in sorted(self.values().items())) + "])"


def _converted(name, kind, value):
    """The value as the type, if nothing is lost by that."""
    if value is None or isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool):
        return value
    numbers = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is float and numbers or kind is int and numbers and value == int(value):
        return kind(value)
    raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")


_ASSIGNMENT = re.compile(r"\s*([a-zA-Z]\w*)(?:\[\s*(\d+)\s*\])?\s*=\s*(\[[^\]]*\]|[^,\[]*)\s*(?:,|$)")


def parse_values(values, type_map, ignore_unknown=False):
    """The values of a text such as "a=1,b=[1,2],c[0]=3": a dict, in which that of an element is a dict by index."""
    found, position = {}, 0
    while position < len(values):
        match = _ASSIGNMENT.match(values, position)
        if match is None:
            raise ValueError("Malformed hyperparameter value: %s" % values[position:])
        position = match.end()
        name, index, text = match.groups()
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError("Unknown hyperparameter type for %s" % name)
        kind = type_map[name]
        if text.startswith("["):
            items = [item.strip() for item in text[1:-1].split(",")] if text[1:-1].strip() else []
            value = [_parsed(name, kind, item, values) for item in items]
        else:
            value = _parsed(name, kind, text.strip(), values)
        if index is not None:
            found.setdefault(name, {})[int(index)] = value
        elif name in found:
            raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
        else:
            found[name] = value
    return found


def _parsed(name, kind, text, values):
    if kind is str:
        return text
    try:
        if kind is bool:
            return {"true": True, "True": True, "1": True, "false": False, "False": False, "0": False}[text]
        return kind(text)
    except (KeyError, ValueError):
        raise ValueError(f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{text}' in "
                         f"{values}") from None
