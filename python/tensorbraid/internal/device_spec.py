"""The parts of a device's name."""

__all__ = ["DeviceSpec"]

_KEYS = ("job", "replica", "task", "device_type", "device_index")


class DeviceSpec:
    """A device, or what is known of it: "/job:worker/task:1/device:CPU:0". tf.device accepts it in place of a name."""

    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None):
        self._set({"job": job, "replica": replica, "task": task, "device_type": device_type,
                   "device_index": device_index})

    def _set(self, parts):
        for key, value in parts.items():
            setattr(self, key, value)

    def _parts(self):
        return {key: getattr(self, key) for key in _KEYS}

    @classmethod
    def from_string(cls, spec):
        """The device of a name such as "/job:worker/cpu:0"."""
        return cls(**_parsed(spec))

    def parse_from_string(self, spec):
        """Replaces all parts by those of a name. Returns the object itself."""
        self._set({**dict.fromkeys(_KEYS), **_parsed(spec)})
        return self

    def merge_from(self, dev):
        """Takes over the parts that `dev` has."""
        self._set(self.make_merged_spec(dev)._parts())

    def to_string(self):
        """The name."""
        parts = [f"/{key}:{value}" for key, value in self._parts().items()
                 if key in ("job", "replica", "task") and value is not None]
        if self.device_type is not None:
            parts.append(f"/device:{self.device_type}:{'*' if self.device_index is None else self.device_index}")
        return "".join(parts)

    def make_merged_spec(self, dev):
        """This device, with the parts that `dev` has taken from it."""
        other = {key: value for key, value in dev._parts().items() if value is not None}
        return type(self)(**{**self._parts(), **other})

    def replace(self, **kwargs):
        """This device with other parts."""
        return type(self)(**{**self._parts(), **kwargs})

    def __eq__(self, other):
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self):
        return hash(self.to_string())

    def __repr__(self):
        return f"<DeviceSpec({', '.join(f'{key}={value}' for key, value in self._parts().items())})>"


def _parsed(spec):
    """The parts of the name of a device, by their names."""
    found = {}
    for part in filter(None, (spec or "").split("/")):
        key, _, value = part.partition(":")
        if key in ("job", "replica", "task"):
            found[key] = value
        elif key.lower() in ("cpu", "gpu") or key == "device":
            if "device_type" in found:
                raise ValueError(f"Multiple device types are not allowed while parsing the device spec: {spec!r}.")
            kind, _, index = value.partition(":") if key == "device" else (key.upper(), "", value)
            found["device_type"] = kind
            if index and index != "*":
                found["device_index"] = index
        else:
            raise ValueError(f"Unknown attribute '{key}' is encountered while parsing the device spec: '{spec}'.")
    return found


def _device_type(value):
    """The type of a device; one of three letters, such as "cpu", in capital letters."""
    return str(value).upper() if len(str(value)) == 3 else str(value)


def _part(key, convert):
    def set_value(self, value):
        vars(self)[f"_{key}"] = None if value is None else convert(value)

    return property(lambda self: vars(self)[f"_{key}"], set_value)


for _key, _convert in zip(_KEYS, (str, int, int, _device_type, int)):
    setattr(DeviceSpec, _key, _part(_key, _convert))
