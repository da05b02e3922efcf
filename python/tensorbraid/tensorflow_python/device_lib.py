"""tensorflow.python.client.device_lib: the devices of this machine."""

from tensorbraid import proto
from tensorbraid.internal import graphs
from tensorbraid.internal.session import Session

__all__ = ["list_local_devices"]


def list_local_devices(session_config=None):
    """A DeviceAttributes for each device of this process, with its memory and its model.

    Starts the accelerators. One that cannot be started is left out, and the log says why.
    """
    with graphs.Graph().as_default(), Session(config=session_config) as session:
        devices = session.list_devices()
    return [proto.DeviceAttributes(name="/device:" + device.name.rsplit("device:", 1)[-1],
                                   device_type=device.device_type, memory_limit=device.memory_limit_bytes, locality={},
                                   incarnation=device.incarnation % 2**64,
                                   physical_device_desc=device.physical_device_desc, xla_global_id=-1)
            for device in devices if device.device_type == "CPU" or device.physical_device_desc]
