"""The devices of this process: one CPU device, which uses all cores."""

import collections

__all__ = ["LogicalDevice", "PhysicalDevice", "get_memory_growth", "get_visible_devices", "list_logical_devices",
           "list_physical_devices", "set_memory_growth", "set_visible_devices"]

PhysicalDevice = collections.namedtuple("PhysicalDevice", ["name", "device_type"])
LogicalDevice = collections.namedtuple("LogicalDevice", ["name", "device_type"])
_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")


def list_physical_devices(device_type=None):
    """The devices of a type, "CPU" or "GPU", or of all types. A process has one CPU device and no GPU."""
    return [_CPU] if device_type in (None, "CPU") else []


def list_logical_devices(device_type=None):
    """The devices of a type, or of all types, with the names that tf.device accepts."""
    return [LogicalDevice("/device:CPU:0", "CPU")] if device_type in (None, "CPU") else []


def get_visible_devices(device_type=None):
    """The devices of a type that the process uses: all of list_physical_devices."""
    return list_physical_devices(device_type)


def set_visible_devices(devices, device_type=None):
    """Checks the devices, and has no other effect. ValueError if one does not exist or the CPU is not among them."""
    devices = list(devices) if isinstance(devices, (list, tuple)) and not isinstance(devices, PhysicalDevice) else [
        devices]
    for device in devices:
        if device != _CPU or device_type not in (None, "CPU"):
            raise ValueError(f"Unrecognized device: {device!r}")
    if not devices and device_type in (None, "CPU"):
        raise ValueError("the CPU cannot be hidden: it is the only device")


def get_memory_growth(device):
    """Raises ValueError, because only GPUs have this option."""
    raise ValueError("Memory growth is only supported for GPU and Pluggable devices")


def set_memory_growth(device, enable):
    """Raises ValueError, because only GPUs have this option."""
    raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
