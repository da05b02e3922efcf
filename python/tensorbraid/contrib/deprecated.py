"""tf.contrib.deprecated: the summaries of releases before 1.0."""

from tensorbraid.tensorflow_python.old_functions import (  # noqa: F401
    audio_summary, histogram_summary, image_summary, merge_all_summaries, merge_summary, scalar_summary)

__all__ = [
    "audio_summary", "histogram_summary", "image_summary", "merge_all_summaries", "merge_summary", "scalar_summary"]
