"""The devices of this process: one CPU device, which uses all cores, and its GPUs."""

import collections

from tensorbraid import _core

__all__ = ["LogicalDevice", "PhysicalDevice", "get_memory_growth", "get_visible_devices", "list_logical_devices",
           "list_physical_devices", "set_memory_growth", "set_visible_devices"]

PhysicalDevice = collections.namedtuple("PhysicalDevice", ["name", "device_type"])
LogicalDevice = collections.namedtuple("LogicalDevice", ["name", "device_type"])
_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
_growth = {}  # what set_memory_growth was given, by device
_cpus = 1  # the logical devices that the CPU is divided into
_visible_gpus = None  # the numbers of the GPUs that set_visible_devices leaves; None: all


def has_plugin(device_type):
    """Whether a plugin for devices of this type is installed or named. It is not loaded."""
    return bool(_core.find_plugin(device_type)[0])


def _gpus():
    return [PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(_core.find_plugin("GPU")[1])]


def list_physical_devices(device_type=None):
    """The devices of a type, "CPU" or "GPU", or of all types. GPUs are counted without starting them."""
    return [device for device in [_CPU, *_gpus()] if device_type in (None, device.device_type)]


def list_logical_devices(device_type=None):
    """The visible devices of a type, or of all types, with the names that tf.device accepts."""
    counts = collections.Counter(device.device_type for device in get_visible_devices(device_type))
    if "CPU" in counts:
        counts["CPU"] = _cpus
    return [LogicalDevice(f"/device:{kind}:{i}", kind) for kind, count in counts.items() for i in range(count)]


def get_visible_devices(device_type=None):
    """The devices of a type that the process uses."""
    gpus = _gpus()
    if _visible_gpus is not None:
        gpus = [gpus[i] for i in _visible_gpus if i < len(gpus)]
    return [device for device in [_CPU, *gpus] if device_type in (None, device.device_type)]


def set_visible_devices(devices, device_type=None):
    """Sets which GPUs the sessions of this process use. The first session of the process decides for all.

    ValueError if a device does not exist, or if the CPU would be hidden.
    """
    global _visible_gpus
    devices = list(devices) if isinstance(devices, (list, tuple)) and not isinstance(devices, PhysicalDevice) else [
        devices]
    known = list_physical_devices()
    for device in devices:
        if device not in known or device_type not in (None, device.device_type):
            raise ValueError(f"Unrecognized device: {device!r}")
    if device_type in (None, "CPU") and _CPU not in devices:
        raise ValueError("the CPU cannot be hidden: it computes what no other device can")
    if device_type in (None, "GPU"):
        gpus = _gpus()
        _visible_gpus = [gpus.index(device) for device in devices if device.device_type == "GPU"]


def get_memory_growth(device):
    """Whether set_memory_growth has asked for growth of a GPU; None if it was not called. ValueError for the CPU."""
    if device not in _gpus():
        raise ValueError("Memory growth is only supported for GPU and Pluggable devices")
    return _growth.get(device)


def set_memory_growth(device, enable):
    """Notes what get_memory_growth returns. Memory of a GPU grows in any case, unless a session asks for a share of it.

    ValueError for the CPU.
    """
    if device not in _gpus():
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    _growth[device] = bool(enable)


def divide_cpu(number):
    """Lets later sessions of this process have so many devices of the CPU, unless they say how many."""
    global _cpus
    _cpus = number


def are_chosen():
    """Whether set_visible_devices has been called for GPUs, or the CPU is divided."""
    return _visible_gpus is not None or _cpus > 1


def choose(counts, visible_device_list):
    """The list of visible devices for a session that asks for this list. Adds to `counts`, its device_count."""
    if _cpus > 1:
        counts.setdefault("CPU", _cpus)
    if _visible_gpus is None or visible_device_list:
        return visible_device_list
    if not _visible_gpus:
        counts["GPU"] = 0
    return ",".join(map(str, _visible_gpus))
