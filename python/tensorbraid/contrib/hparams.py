"""Hyperparameters: names with values of fixed types, which can be read from text."""

import json
import re

__all__ = ["HParams", "parse_values"]

_ITEM = re.compile(
    r"\s*(?P<name>[a-zA-Z][\w.]*)(\[\s*(?P<index>\d+)\s*\])?\s*=\s*((?P<value>[^,\[]*)|\[(?P<values>[^\]]*)\])"
    r"\s*(?:,|$)")


def _converted(name, text, kind, original):
    """The value of a text for a hyperparameter of this type."""
    text = text.strip() if isinstance(text, str) else text
    try:
        if kind is bool:
            known = {"true": True, "True": True, "1": True, "false": False, "False": False, "0": False}
            if text not in known:
                raise ValueError
            return known[text]
        return kind(text)
    except ValueError:
        raise ValueError(f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{text}' in "
                         f"{original}") from None


def parse_values(values, type_map, ignore_unknown=False):
    """The hyperparameters in a text such as "a=1,b=[1,2],c[0]=3", by name. An item of a list is {index: value}."""
    results, position = {}, 0
    while position < len(values):
        match = _ITEM.match(values, position)
        if match is None:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name, index = match["name"], match["index"]
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        kind = type_map[name]
        if match["values"] is not None:
            if index is not None:
                raise ValueError(f"Assignment of a list to an item of a list: {match.group()}")
            texts = [text for text in re.split(r"[ ,]+", match["values"].strip()) if text]
            value = [_converted(name, text, kind, values) for text in texts]
        else:
            value = _converted(name, match["value"], kind, values)
        if index is not None:
            items = results.setdefault(name, {})
            if not isinstance(items, dict) or int(index) in items:
                raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
            items[int(index)] = value
        elif name in results:
            raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
        else:
            results[name] = value
    return results


class HParams:
    """Hyperparameters as attributes. Their types are those of the values that they are made with."""

    def __init__(self, hparam_def=None, model_structure=None, **kwargs):
        if hparam_def is not None:
            raise NotImplementedError("hparam_def of HParams")
        self._hparam_types = {}
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name, value):
        """Adds a hyperparameter. ValueError if there is one with this name."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._hparam_types[name] = type(value[0]), True
        else:
            self._hparam_types[name] = type(value), False
        setattr(self, name, value)

    def set_hparam(self, name, value):
        """Sets a hyperparameter to a value of its type."""
        kind, is_list = self._hparam_types[name]
        if isinstance(value, (list, tuple)):
            if not is_list:
                raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [self._cast(name, kind, item) for item in value])
        else:
            if is_list:
                raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
            setattr(self, name, self._cast(name, kind, value))

    @staticmethod
    def _cast(name, kind, value):
        """The value as the type, if nothing is lost."""
        message = f"Could not cast hparam '{name}' of type '{kind.__name__}' from value {value!r}"
        if kind is type(None):
            return value
        if isinstance(value, bool) != (kind is bool) or isinstance(value, str) != (kind is str):
            raise ValueError(message)
        if issubclass(kind, int) and not isinstance(value, int):
            raise ValueError(message)
        try:
            return kind(value)
        except (TypeError, ValueError):
            raise ValueError(message) from None

    def del_hparam(self, name):
        """Removes a hyperparameter, if it exists."""
        if name in self._hparam_types:
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values):
        """Sets the hyperparameters that a text such as "a=1,b=[1,2]" names. Returns this object."""
        kinds = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, kinds))

    def override_from_dict(self, values_dict):
        """Sets the hyperparameters of the dict. Returns this object."""
        for name, value in values_dict.items():
            if isinstance(value, dict):
                items = list(getattr(self, name))
                for index, item in value.items():
                    items[index] = item
                value = items
            self.set_hparam(name, value)
        return self

    def parse_json(self, values_json):
        """Sets the hyperparameters of a JSON object. Returns this object."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(self, indent=None, separators=None, sort_keys=False):
        """The hyperparameters as JSON, without functions."""
        values = {name: value for name, value in self.values().items() if not callable(value)}
        return json.dumps(values, indent=indent, separators=separators, sort_keys=sort_keys)

    def values(self):
        """The hyperparameters by name."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key, default=None):
        """A hyperparameter, or the default, which must have its type."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            if isinstance(default, (list, tuple)) != is_list:
                raise ValueError(f"Hparam '{key}' and the default {default!r} are not both lists or both single values")
            for item in default if is_list else [default]:
                self._cast(key, kind, item)
        return getattr(self, key)

    def __contains__(self, key):
        return key in self._hparam_types

    def __str__(self):
        return str(sorted(self.values().items()))

    def __repr__(self):
        return f"HParams({self})"

    def get_model_structure(self):
        """The model structure that was set."""
        return self._model_structure

    def set_model_structure(self, model_structure):
        """Sets the model structure that get_model_structure returns."""
        self._model_structure = model_structure
