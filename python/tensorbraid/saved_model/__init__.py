"""tf.saved_model: models on disk, which TensorFlow and TensorFlow Serving load too."""

from tensorbraid.saved_model import (  # noqa: F401
    builder as builder, constants as constants, loader as loader, main_op as main_op,
    signature_constants as signature_constants, signature_def_utils as signature_def_utils,
    tag_constants as tag_constants, utils as utils)
from tensorbraid.saved_model.builder import Builder as Builder  # noqa: F401
from tensorbraid.saved_model.constants import *  # noqa: F401,F403
from tensorbraid.saved_model.loader import (  # noqa: F401
    load as load, maybe_saved_model_directory as maybe_saved_model_directory)
from tensorbraid.saved_model.main_op import main_op_with_restore as main_op_with_restore  # noqa: F401
from tensorbraid.saved_model.signature_constants import *  # noqa: F401,F403
from tensorbraid.saved_model.signature_def_utils import *  # noqa: F401,F403
from tensorbraid.saved_model.simple_save import simple_save as simple_save  # noqa: F401
from tensorbraid.saved_model.tag_constants import *  # noqa: F401,F403
from tensorbraid.saved_model.utils import *  # noqa: F401,F403

contains_saved_model = maybe_saved_model_directory
