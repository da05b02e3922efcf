"""tf.saved_model: models on disk, which TensorFlow and TensorFlow Serving load too."""

from tensorbraid.saved_model import (  # noqa: F401
    builder, constants, loader, main_op, signature_constants, signature_def_utils, tag_constants, utils)
from tensorbraid.saved_model.builder import Builder  # noqa: F401
from tensorbraid.saved_model.constants import *  # noqa: F401,F403
from tensorbraid.saved_model.loader import load, maybe_saved_model_directory  # noqa: F401
from tensorbraid.saved_model.main_op import main_op_with_restore  # noqa: F401
from tensorbraid.saved_model.signature_constants import *  # noqa: F401,F403
from tensorbraid.saved_model.signature_def_utils import *  # noqa: F401,F403
from tensorbraid.saved_model.simple_save import simple_save  # noqa: F401
from tensorbraid.saved_model.tag_constants import *  # noqa: F401,F403
from tensorbraid.saved_model.utils import *  # noqa: F401,F403

contains_saved_model = maybe_saved_model_directory
