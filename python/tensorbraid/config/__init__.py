"""tf.config: the devices of this process."""

from tensorbraid.config import experimental as experimental  # noqa: F401
from tensorbraid.internal.device_details import *  # noqa: F401,F403
from tensorbraid.internal.devices import *  # noqa: F401,F403
