"""Writes an Estimator's model as a SavedModel."""

__all__ = []


def export(estimator, export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path):
    raise NotImplementedError("SavedModel")
