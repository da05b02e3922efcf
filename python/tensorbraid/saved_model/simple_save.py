"""Writes a SavedModel with one signature."""

from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.saved_model import signature_constants, tag_constants
from tensorbraid.saved_model.builder import SavedModelBuilder
from tensorbraid.saved_model.signature_def_utils import predict_signature_def

__all__ = ["simple_save"]


def simple_save(session, export_dir, inputs, outputs, legacy_init_op=None):
    """Writes the default graph for serving. `inputs` and `outputs` are the tensors of its signature by key.

    The files of the collection "asset_filepaths" are copied.
    """
    signature = {signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(inputs, outputs)}
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session, [tag_constants.SERVING], signature, graphs.get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op, clear_devices=True)
    builder.save()
