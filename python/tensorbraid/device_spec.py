"""The parts of a device's name."""

__all__ = ["DeviceSpec"]

_KEYS = ("job", "replica", "task", "device_type", "device_index")


class DeviceSpec:
    """A device, or what is known of it: "/job:worker/task:1/device:CPU:0". It never changes.

    tf.device accepts it in place of a name.
    """

    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None):
        self._job = None if job is None else str(job)
        self._replica = None if replica is None else int(replica)
        self._task = None if task is None else int(task)
        self._device_type = None if device_type is None else str(device_type).upper() if len(
            str(device_type)) == 3 else str(device_type)
        self._device_index = None if device_index is None else int(device_index)

    job = property(lambda self: self._job)
    replica = property(lambda self: self._replica)
    task = property(lambda self: self._task)
    device_type = property(lambda self: self._device_type)
    device_index = property(lambda self: self._device_index)

    def _parts(self):
        return {key: getattr(self, key) for key in _KEYS}

    @classmethod
    def from_string(cls, spec):
        """The parts of a name such as "/job:worker/cpu:0"."""
        found = {}
        for part in spec.split("/") if spec else []:
            key, _, value = part.partition(":")
            if not part:
                continue
            if key in ("job", "replica", "task"):
                found[key] = value if key == "job" else int(value)
            elif key.lower() in ("cpu", "gpu") or key == "device":
                if "device_type" in found:
                    raise ValueError(f"Multiple device types are not allowed while parsing the device spec: {spec!r}.")
                kind, _, index = value.partition(":") if key == "device" else (key.upper(), "", value)
                found["device_type"] = kind
                if index and index != "*":
                    found["device_index"] = int(index)
            else:
                raise ValueError(f"Unknown attribute '{key}' is encountered while parsing the device spec: '{spec}'.")
        return cls(**found)

    def parse_from_string(self, spec):
        """As from_string."""
        return type(self).from_string(spec)

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
