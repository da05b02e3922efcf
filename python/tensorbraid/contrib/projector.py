"""tf.contrib.tensorboard.plugins.projector: which variables TensorBoard shows as points."""

import os

from tensorbraid import gfile

__all__ = ["visualize_embeddings"]

_FILE = "projector_config.pbtxt"


def __getattr__(name):
    if name in ("ProjectorConfig", "EmbeddingInfo", "EmbeddingMetadata", "SpriteMetadata"):
        from tensorbraid import proto

        return getattr(proto, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def visualize_embeddings(summary_writer, config):
    """Writes a ProjectorConfig to the folder of a FileWriter, or to a folder, where TensorBoard finds it."""
    folder = summary_writer if isinstance(summary_writer, str) else summary_writer.get_logdir()
    if folder is None:
        raise ValueError("Expected logdir to be a path, but it is None")
    from google.protobuf import text_format

    gfile.makedirs(folder)
    with gfile.GFile(os.path.join(folder, _FILE), "w") as file:
        file.write(text_format.MessageToString(config))
