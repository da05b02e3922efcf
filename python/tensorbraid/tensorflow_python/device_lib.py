"""tensorflow.python.client.device_lib: the devices of this machine."""

from tensorbraid import proto
from tensorbraid.internal.session import Session

__all__ = ["list_local_devices"]


def list_local_devices(session_config=None):
    """A DeviceAttributes for each device of this process."""
    with Session(config=session_config) as session:
        devices = session.list_devices()
    return [proto.DeviceAttributes(name="/device:" + device.name.rsplit("device:", 1)[-1],
                                   device_type=device.device_type) for device in devices]
