"""What the devices of this process are, what memory they use, and how they are divided."""

import collections

from tensorbraid import _core, errors
from tensorbraid.internal import devices
from tensorbraid.internal.device_spec import DeviceSpec

__all__ = ["LogicalDeviceConfiguration", "VirtualDeviceConfiguration", "get_device_details",
           "get_logical_device_configuration", "get_memory_info", "get_memory_usage",
           "get_virtual_device_configuration", "reset_memory_stats", "set_logical_device_configuration",
           "set_virtual_device_configuration"]

LogicalDeviceConfiguration = VirtualDeviceConfiguration = collections.namedtuple(
    "LogicalDeviceConfiguration", ["memory_limit", "experimental_priority", "experimental_device_ordinal"],
    defaults=[None, None, 0])
_given = {}  # what set_logical_device_configuration was given, by device


def get_device_details(device):
    """The model and, for a GPU of NVIDIA, the compute capability of a physical device; nothing for the CPU.

    Starts the GPUs. ValueError if the device does not exist.
    """
    if device not in devices.list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    if device.device_type == "CPU":
        return {}
    model, capability, *_ = _core.describe_device(device.device_type, int(device.name.rpartition(":")[2]))
    details = {"device_name": model}
    if capability:
        details["compute_capability"] = tuple(int(part) for part in capability.split("."))
    return details


def get_memory_info(device):
    """The bytes of a GPU, such as "GPU:0", that are in use: {"current": ..., "peak": ...}. Starts the GPUs.

    ValueError for the CPU and for a device that does not exist; UnimplementedError if the plugin does not say.
    """
    spec = DeviceSpec.from_string(device if device.startswith("/") else "/" + device)
    kind = spec.device_type
    if kind in (None, "CPU"):
        raise ValueError(f"get_memory_info does not support the device {device!r}: it is for GPUs")
    try:
        _, _, current, peak, _ = _core.describe_device(kind, spec.device_index or 0)
    except (errors.NotFoundError, errors.InvalidArgumentError) as error:
        raise ValueError(f"Failed parsing device name or no such device: {device!r}. {error.message}") from None
    if current < 0 or peak < 0:
        raise errors.UnimplementedError(
            None, None, f"the plugin does not say how much memory of {device!r} is in use; `tensorbraid status` shows "
            "what the tensors of Tensorbraid take")
    return {"current": current, "peak": peak}


def get_memory_usage(device):
    """The bytes of a GPU that are in use: "current" of get_memory_info."""
    return get_memory_info(device)["current"]


def reset_memory_stats(device):
    """NotImplementedError: plugins keep the peak for the life of the process."""
    raise NotImplementedError("reset_memory_stats: a PJRT plugin keeps the peak of its memory until the process ends; "
                              "compare `current` of get_memory_info, or start another process")


def set_logical_device_configuration(device, logical_devices):
    """Divides the CPU into as many devices as there are configurations. A GPU cannot be divided.

    ValueError if the device does not exist. NotImplementedError, with what to do, for several devices or a limit of
    memory on a GPU, and for a limit of memory on the CPU.
    """
    logical = list(logical_devices or [])
    if device not in devices.list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    if device.device_type != "CPU" and len(logical) > 1:
        raise NotImplementedError(
            "several logical devices on one GPU: a PJRT plugin has one device for each. To try out a script for several "
            "GPUs, let a plugin for the CPU have them: TENSORBRAID_ACCELERATOR_PLUGIN=GPU:4=/opt/xla_cpu_pjrt.so")
    for configuration in logical:
        if configuration.memory_limit is not None and device.device_type != "CPU":
            raise NotImplementedError(
                "memory_limit of a GPU: a PJRT plugin takes a share of its memory, "
                "tf.GPUOptions(per_process_gpu_memory_fraction=0.5) in the ConfigProto of the first session")
        if configuration.memory_limit is not None:
            raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    _given[device] = logical or None
    if device.device_type == "CPU":
        devices.divide_cpu(max(1, len(logical)))


def get_logical_device_configuration(device):
    """What set_logical_device_configuration was given; None if nothing. ValueError if the device does not exist."""
    if device not in devices.list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    return _given.get(device)


set_virtual_device_configuration = set_logical_device_configuration
get_virtual_device_configuration = get_logical_device_configuration
