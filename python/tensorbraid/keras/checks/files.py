"""Files of models and weights: of other formats, of other versions, damaged, and of other models."""

import functools
import importlib
import os
import re
import warnings
import zipfile

import tensorbraid as tf
from tensorbraid.internal import installed_keras
from tensorbraid.keras.checks import explained, weights

__all__ = []

_WEIGHTS = "build the model in code, and read its variables by model.load_weights"
_ELSEWHERE = ("model.save('model.h5') there writes an HDF5 file, whose variables load_weights() of a model of this "
              "program reads")


def _path(filepath):
    """The path as text; None if it is an open file, or elsewhere than in the file system."""
    path = os.fspath(filepath) if isinstance(filepath, (str, os.PathLike)) else None
    return path if isinstance(path, str) and "://" not in path else None


def check(method, path):
    """Refuses what is no HDF5 file. IsADirectoryError, FileNotFoundError and OSError, as h5py's."""
    if os.path.isdir(path):
        raise explained.error(_about_folder(method, path), IsADirectoryError)
    if not os.path.exists(path):
        where = "; nor is there a checkpoint of that name" if method == "load_weights" else ""
        raise explained.error(f"{method}: there is no file {path}{where}", FileNotFoundError)
    if not importlib.import_module("h5py").is_hdf5(path):
        raise explained.error(f"{method}: {path} is no HDF5 file: {_about_bytes(method, path)}", OSError)
    try:
        _opened(path).close()
    except OSError as error:
        raise explained.error(_damaged(method, path, error), OSError) from error


def _opened(path):
    return importlib.import_module("h5py").File(path, "r")


def _damaged(method, path, error):
    return (f"{method}: the HDF5 file {path} is damaged: {error}. Usually it was not written or copied to its end; get "
            "it once more")


def _about_folder(method, path):
    if not any(os.path.exists(os.path.join(path, name)) for name in ("saved_model.pb", "saved_model.pbtxt")):
        return f"{method}: {path} is a folder; HDF5 files of models and weights are read"
    if any(os.path.exists(os.path.join(path, name)) for name in ("keras_metadata.pb", "fingerprint.pb")):
        return (f"{method}: {path} is a SavedModel of TensorFlow 2, which has functions of eager execution in place of "
                f"a graph; {_ELSEWHERE}")
    return (f"{method}: {path} is a SavedModel, and HDF5 files of models and weights are read; "
            f"tf.saved_model.loader.load(session, ['serve'], {path!r}) loads its graph")


def _about_bytes(method, path):
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            is_there = "metadata.json" in archive.namelist()
            text = archive.read("metadata.json").decode("utf-8", "replace") if is_there else ""
        found = re.search(r'"keras_version": *"([^"]*)"', text)
        if found is None:
            return "it is a zip archive; unpack it"
        return f"it is an archive of the format .keras, of Keras {found[1]}; {_ELSEWHERE}"
    with open(path, "rb") as file:
        start = file.read(200)
    if not start:
        return "it is empty"
    if start.startswith(b"version https://git-lfs"):
        return "it is a pointer of Git LFS; `git lfs pull` gets the file"
    if start.lstrip()[:1] in (b"{", b"["):
        return "it is JSON; tf.keras.models.model_from_json(open(path).read()) makes a model of what to_json() wrote"
    if start.lstrip()[:1] == b"<":
        return "it is HTML, such as a server sends in place of a file; get the file once more"
    return f"it begins with {start[:8]!r}"


def _version(path):
    """The version of Keras that has written the file, as text and as numbers; "" and () if it does not say."""
    with _opened(path) as file:
        for group in (file, file.get("model_weights")):
            text = getattr(group, "attrs", {}).get("keras_version", "")
            text = text.decode() if isinstance(text, bytes) else str(text)
            if text:
                return text, tuple(int(part) for part in re.findall(r"\d+", text)[:2])
    return "", ()


def _is_other(version):
    """Whether this version writes other configurations than those that Keras 2.3.1 reads."""
    return version[:1] != (2,) or version > (2, 4)


def _contents(path):
    """What an HDF5 file without a model of Keras has, and what helps."""
    with _opened(path) as file:
        if "layer_names" in file.attrs:
            return f"it has weights, and no model: {_WEIGHTS}({path!r})"
        if "layers" in file or "_layer_checkpoint_dependencies" in file:
            return f"it has the layout of `.weights.h5` files of Keras 3 and TensorFlow 2.13 or newer; {_ELSEWHERE}"
        names = ", ".join(list(file)[:5])
    return f"it is not of Keras{': it has ' + names if names else ', and is empty'}"


def _has_model(path):
    with _opened(path) as file:
        return "model_config" in file.attrs


def _has_weights(path):
    with _opened(path) as file:
        group = file.get("model_weights", file)
        return any(name.startswith("layer_names") for name in group.attrs)


def change(saving):
    """Checks the files that the library's module engine.saving reads."""
    load_model, model_from_config, model_from_json = saving.load_model, saving.model_from_config, saving.model_from_json
    load_in_order, load_by_name = saving.load_weights_from_hdf5_group, saving.load_weights_from_hdf5_group_by_name

    @functools.wraps(load_model)
    def checked_load(filepath, custom_objects=None, compile=True):
        path = _path(filepath)
        if path is None:
            return load_model(filepath, custom_objects, compile)
        check("load_model", path)
        if not _has_model(path):
            raise explained.error(f"load_model: {path} has no model: {_contents(path)}")
        try:
            return load_model(path, custom_objects, compile)
        except Exception as error:
            text = _about_model(path, error)
            if text is None:
                raise
            raise explained.error(text) from error

    @functools.wraps(model_from_config)
    def checked_config(config, custom_objects=None):
        try:
            return model_from_config(config, custom_objects)
        except Exception as error:
            error._is_of_config = True
            raise

    @functools.wraps(model_from_json)
    def checked_json(json_string, custom_objects=None):
        try:
            return model_from_json(json_string, custom_objects)
        except Exception as error:
            found = re.search(r'"keras_version": *"([^"]*)"', json_string)
            version = found[1] if found else "3" if '"registered_name"' in json_string else ""
            if not version or not _is_other(tuple(map(int, re.findall(r"\d+", version)[:2]))):
                raise
            raise explained.error(f"model_from_json: the text is of Keras {version}, whose configurations are others "
                                  f"than those of Keras {installed_keras.VERSION}: {error}. Build the model in "
                                  "code") from error

    @functools.wraps(load_in_order)
    def checked_order(f, layers, reshape=False):
        try:
            load_in_order(f, layers, reshape)
        except (ValueError, AssertionError, IndexError) as error:
            raise explained.error(_mismatch(saving, f, layers, error)) from error

    @functools.wraps(load_by_name)
    def checked_names(f, layers, skip_mismatch=False, reshape=False):
        in_file = saving.load_attributes_from_hdf5_group(f, "layer_names")
        if not {layer.name for layer in layers} & set(in_file):
            warnings.warn(f"load_weights(by_name=True) reads nothing: the file {f.file.filename} has the layers "
                          f"{', '.join(in_file) or 'none'}, the model {', '.join(layer.name for layer in layers)}")
        load_by_name(f, layers, skip_mismatch, reshape)

    saving.load_model, saving.model_from_config, saving.model_from_json = checked_load, checked_config, checked_json
    saving.load_weights_from_hdf5_group = checked_order
    saving.load_weights_from_hdf5_group_by_name = checked_names


def _about_model(path, error):
    """What is wrong with the model in a file; None if the error says it."""
    if getattr(error, "_is_of_config", False):
        version, numbers = _version(path)
        if _is_other(numbers):
            by = f"by Keras {version}" if version else "by an old version of Keras"
            return (f"load_model: the model in {path} was saved {by}, whose configurations are others than those of "
                    f"Keras {installed_keras.VERSION}: {error}. Its variables can be read: {_WEIGHTS}({path!r})")
        return None
    if isinstance(error, (OSError, RuntimeError, KeyError)) and not explained.is_explained(error):
        return _damaged("load_model", path, error)
    return None


def _mismatch(saving, group, layers, error):
    """The layers of the file and of the model, the first that differs."""
    name = group.file.filename
    found = {layer: saving.load_attributes_from_hdf5_group(group[layer], "weight_names")
             for layer in saving.load_attributes_from_hdf5_group(group, "layer_names")}
    found = {layer: variables for layer, variables in found.items() if variables}
    wanted = [layer for layer in layers if layer.weights]
    if len(found) != len(wanted):
        return (f"load_weights: the file {name} has the variables of {len(found)} layers "
                f"({', '.join(found) or 'none'}), and the model has {len(wanted)} layers with variables "
                f"({', '.join(layer.name for layer in wanted) or 'none'}). They are matched by their order; "
                "by_name=True matches layers of equal names")
    for layer, (source, variables) in zip(wanted, found.items()):
        shapes = [group[source][variable].shape for variable in variables]
        if shapes != [tuple(variable.shape.as_list()) for variable in layer.weights]:
            in_file = ", ".join(f"{variable} {shape}" for variable, shape in zip(variables, shapes))
            return (f"load_weights: the layer {layer.name} of the model, a {type(layer).__name__}, has the variables "
                    f"{weights.described(layer.weights)}, and the layer {source} in the file {name}, which has its "
                    f"place, {in_file}. The file is of another model; by_name=True with skip_mismatch=True reads the "
                    "layers that are equal")
    return str(error)


def _check_weights(model, path):
    """Checks a file before the model reads its weights."""
    check("load_weights", path)
    try:
        has_weights = _has_weights(path)
    except (OSError, RuntimeError, KeyError) as error:
        raise explained.error(_damaged("load_weights", path, error), OSError) from error
    if not has_weights:
        raise explained.error(f"load_weights: {path} has no weights of Keras: {_contents(path)}")
    _check_variables("load_weights", model)


def _check_variables(method, model):
    if not model.weights:
        raise explained.error(f"{method}: the model {model.name} has no variables yet: give its first layer "
                              "input_shape=..., or call the model with a tensor before")


def _about_weights(path, error):
    """What is wrong with the weights in a file or a checkpoint; None if the error says it."""
    if isinstance(error, tf.errors.NotFoundError) and any(
            name.endswith(".ATTRIBUTES/VARIABLE_VALUE") for name, _ in tf.train.list_variables(path)):
        return (f"load_weights: the checkpoint {path} is of a model with other layers; the name of a variable there says "
                f"where in the model it is: {error}")
    if isinstance(error, (OSError, RuntimeError, KeyError)):
        return _damaged("load_weights", path, error)
    return None


def change_network(network):
    """Checks the files of weights of the library's class engine.network.Network."""
    kind = network.Network
    load_weights, save_weights = kind.load_weights, kind.save_weights

    @functools.wraps(load_weights)
    def checked_load(self, filepath, by_name=False, **kwargs):
        path = _path(filepath)
        is_checkpoint = path is not None and tf.train.checkpoint_exists(path)
        if path is not None and (not is_checkpoint or path.endswith((".h5", ".keras", ".hdf5"))):
            _check_weights(self, path)
        try:
            return load_weights(self, filepath, by_name, **kwargs)
        except Exception as error:
            text = None if path is None or explained.is_explained(error) else _about_weights(path, error)
            if text is None:
                raise
            raise explained.error(text) from error

    @functools.wraps(save_weights)
    def checked_save(self, filepath, *args, **kwargs):
        _check_variables("save_weights", self)
        return save_weights(self, filepath, *args, **kwargs)

    kind.load_weights, kind.save_weights = checked_load, checked_save
