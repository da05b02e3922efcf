"""tf.contrib.saved_model: the messages of SavedModels."""

from tensorbraid.tensorflow_python.saved_model_utils import (  # noqa: F401
    get_saved_model_tag_sets as get_saved_model_tag_sets, get_signature_def_by_key as get_signature_def_by_key,
    read_saved_model as read_saved_model)
