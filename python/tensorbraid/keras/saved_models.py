"""Models as SavedModels: tf.keras.experimental.export_saved_model and load_from_saved_model.

Such a folder has the graph that predicts, variables with TensorFlow's keys, and the model's configuration.
"""

import os

import tensorbraid as tf
from tensorbraid.keras import checkpoints
from tensorbraid.keras.adapter.loaded import loaded

__all__ = []

_JSON = ("assets", "saved_model.json")


def export_saved_model(model, saved_model_path, custom_objects=None, as_text=False, input_signature=None,
                       serving_only=False):
    """Writes a functional or sequential model as a SavedModel with the signature "serving_default".

    Inputs and outputs have the names of the model's. The graphs that train and evaluate are not written.
    """
    if input_signature is not None:
        raise NotImplementedError("input_signature of export_saved_model: the inputs are those of the model")
    if not model._is_graph_network:
        raise NotImplementedError(f"export_saved_model of {model.name}, a {type(model).__name__} without a configuration "
                                  "of inputs and layers; tf.saved_model.simple_save writes a graph that calls it")
    kind, config, values = type(model), model.get_config(), model.get_weights()
    with tf.Graph().as_default(), tf.Session() as session:
        loaded("backend").set_learning_phase(0)
        copy = kind.from_config(config, custom_objects)
        copy.set_weights(values)
        signature = tf.saved_model.signature_def_utils.predict_signature_def(
            dict(zip(copy.input_names, copy.inputs)), dict(zip(copy.output_names, copy.outputs)))
        builder = tf.saved_model.builder.SavedModelBuilder(saved_model_path)
        builder.add_meta_graph_and_variables(
            session, [tf.saved_model.tag_constants.SERVING],
            {tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
            main_op=tf.tables_initializer(), saver=checkpoints.saver(copy))
        builder.save(as_text)
    path = os.path.join(saved_model_path, *_JSON)
    tf.gfile.MakeDirs(os.path.dirname(path))
    with tf.gfile.Open(path, "w") as file:
        file.write(model.to_json())


def load_from_saved_model(saved_model_path, custom_objects=None):
    """The model that `export_saved_model` wrote into the folder. It is not compiled."""
    path = os.path.join(saved_model_path, *_JSON)
    if not tf.gfile.Exists(path):
        raise FileNotFoundError(f"{saved_model_path} has no model of export_saved_model: there is no {path}; "
                                "tf.saved_model.loader.load reads the graph of another SavedModel")
    with tf.gfile.Open(path) as file:
        model = loaded("models").model_from_json(file.read(), custom_objects)
    checkpoints.load(model, os.path.join(saved_model_path, "variables", "variables"))
    return model


def check_format(save_format):
    """Refuses formats of whole models other than HDF5."""
    if save_format not in (None, "h5", "hdf5"):
        raise NotImplementedError(f"save_format={save_format!r} of save(): whole models are written as HDF5 files, by "
                                  "save_format='h5'; tf.keras.experimental.export_saved_model writes a SavedModel")


def change(saving):
    """Changes the library's module engine.saving: `save_model` has the argument save_format."""
    save_model = saving.save_model

    def save(model, filepath, overwrite=True, include_optimizer=True, save_format=None, signatures=None):
        """Writes a whole model as an HDF5 file."""
        check_format(save_format)
        return save_model(model, os.fspath(filepath) if isinstance(filepath, os.PathLike) else filepath, overwrite,
                          include_optimizer)

    saving.save_model = save
