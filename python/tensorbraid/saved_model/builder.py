"""Writes SavedModels."""

import os

from tensorbraid import compat, gfile, tf_logging
from tensorbraid.internal import arguments, graphs
from tensorbraid.saved_model import constants, growing_tables
from tensorbraid.saved_model.utils import build_tensor_info
from tensorbraid.train.saver import Saver

__all__ = ["Builder", "SavedModelBuilder"]


class SavedModelBuilder:
    """Writes graphs, the values of their variables and the files that they need to a folder.

    The graphs share the variables and the files. Each has its own tags, by which it is loaded.
    """

    def __init__(self, export_dir):
        from tensorbraid import proto

        export_dir = compat.as_text(arguments.path("export_dir", export_dir))
        if gfile.exists(export_dir) and gfile.listdir(export_dir):
            raise AssertionError(f"Export directory {export_dir} already exists, and isn't empty. Please choose a "
                                 "different export directory, or delete all the contents of the specified directory.")
        gfile.makedirs(export_dir)
        self._export_dir = export_dir
        self._saved_model = proto.SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
        self._has_saved_variables = False
        self._rows = {}  # the number of rows that were saved, by the name of a growing table or part
        self._assets = {}  # the names of the files in the folder of assets -> where they come from

    def add_meta_graph_and_variables(self, sess, tags, signature_def_map=None, assets_collection=None,
                                     legacy_init_op=None, clear_devices=False, main_op=None, strip_default_attrs=False,
                                     saver=None):
        """Writes the values of the variables, and adds the default graph. `main_op` runs after it has been loaded."""
        if self._has_saved_variables:
            raise AssertionError("Graph state including variables and assets has already been saved. Please invoke "
                                 "`add_meta_graph()` instead.")
        self._prepare(signature_def_map, assets_collection, legacy_init_op, main_op)
        path = os.path.join(self._export_dir, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
        gfile.makedirs(os.path.dirname(path))
        if growing_tables.used(graphs.get_default_graph()):
            tables = growing_tables.rows_of(sess)
            self._rows = {name: len(keys) for name, (keys, _) in tables.items()}
            serving = self._serving_graph(signature_def_map, clear_devices)
            with serving.graph.as_default():
                saver = Saver(sharded=True)
                serving.save(saver, path, sess, tables)
                self._add(saver, tags, signature_def_map, clear_devices)
        else:
            saver = saver or Saver(sharded=True, allow_empty=True)
            saver.save(sess, path, write_meta_graph=False, write_state=False)
            self._add(saver, tags, signature_def_map, clear_devices)
        self._has_saved_variables = True

    def add_meta_graph(self, tags, signature_def_map=None, assets_collection=None, legacy_init_op=None,
                       clear_devices=False, main_op=None, strip_default_attrs=False, saver=None):
        """Adds the default graph, whose variables have the values that were written before."""
        if not self._has_saved_variables:
            raise AssertionError("Graph state including variables and assets has not been saved yet. Please invoke "
                                 "`add_meta_graph_and_variables()` first.")
        self._prepare(signature_def_map, assets_collection, legacy_init_op, main_op)
        if growing_tables.used(graphs.get_default_graph()):
            with self._serving_graph(signature_def_map, clear_devices).graph.as_default():
                self._add(Saver(sharded=True), tags, signature_def_map, clear_devices)
        else:
            self._add(saver or Saver(sharded=True, allow_empty=True), tags, signature_def_map, clear_devices)

    def save(self, as_text=False, experimental_image_format=False, experimental_image_writer_options=None):
        """Writes the file saved_model.pb, or saved_model.pbtxt. Returns its path as bytes."""
        if experimental_image_format or experimental_image_writer_options is not None:
            raise NotImplementedError("experimental_image_format and its options of a SavedModel")
        name = constants.SAVED_MODEL_FILENAME_PBTXT if as_text else constants.SAVED_MODEL_FILENAME_PB
        path = os.path.join(self._export_dir, name)
        content = str(self._saved_model).encode() if as_text else self._saved_model.SerializeToString(
            deterministic=True)
        gfile.makedirs(self._export_dir)
        with gfile.GFile(path, "wb") as file:
            file.write(content)
        tf_logging.info("SavedModel written to: %s", path)
        return path.encode()

    def _prepare(self, signature_def_map, assets_collection, legacy_init_op, main_op):
        """Checks the arguments and adds what they say to the collections of the graph."""
        _check_signatures(signature_def_map or {})
        self._add_assets(assets_collection)
        _add_main_op(legacy_init_op if main_op is None else main_op)

    def _serving_graph(self, signatures, clear_devices):
        """The default graph without its growing tables."""
        serving = growing_tables.ServingGraph(graphs.get_default_graph(), signatures or {}, self._rows, clear_devices)
        serving.graph.add_to_collection(constants.MAIN_OP_KEY, serving.main_op)
        return serving

    def _add(self, saver, tags, signature_def_map, clear_devices):
        from tensorbraid import proto

        meta_graph = saver.export_meta_graph(clear_devices=clear_devices)
        meta_graph.meta_info_def.tags.extend([tags] if isinstance(tags, str) else tags)
        for key, signature in (signature_def_map or {}).items():
            meta_graph.signature_def[key].CopyFrom(proto.message("SignatureDef", signature, key))
        for item in graphs.get_collection(constants.ASSETS_KEY):
            meta_graph.asset_file_def.append(proto.AssetFileDef.FromString(item.value))
        self._saved_model.meta_graphs.append(meta_graph)

    def _add_assets(self, assets):
        """Copies the files that tensors name, and notes in a collection which tensor names which file."""
        from tensorbraid import proto

        for tensor in assets or []:
            name = self._copied(_path_of(tensor))
            asset = proto.AssetFileDef(filename=name)
            asset.tensor_info.name = build_tensor_info(tensor).name
            packed = proto.CollectionDef().any_list.value.add()
            packed.Pack(asset)
            graphs.add_to_collection(constants.ASSETS_KEY, packed)

    def _copied(self, source):
        """The name of the file in the folder of assets that is a copy of `source`."""
        base = os.path.basename(source)
        number = 0
        name = base
        while self._assets.get(name, source) != source:
            number += 1
            name = f"{base}_{number}"
        if name not in self._assets:
            folder = os.path.join(self._export_dir, constants.ASSETS_DIRECTORY)
            gfile.makedirs(folder)
            gfile.copy(source, os.path.join(folder, name), overwrite=True)
            self._assets[name] = source
        return name


Builder = SavedModelBuilder


def _path_of(tensor):
    """The path that a constant names."""
    if not isinstance(tensor, graphs.Tensor):
        raise ValueError(f"Invalid asset filepath tensor {tensor}: it must be a Tensor")
    if tensor.op.type != "Const":
        raise ValueError(f"Invalid asset filepath tensor {tensor}: it must be a constant")
    value = tensor.op.get_attr("value").string_val
    if len(value) != 1 or not value[0]:
        raise ValueError(f"Invalid asset filepath tensor {tensor}: it must be one path")
    return compat.as_text(value[0])


def _add_main_op(main_op):
    if main_op is None:
        return
    if not isinstance(main_op, graphs.Operation):
        raise TypeError(f"Expected {main_op} to be an Operation but got type {type(main_op)} instead.")
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if graphs.get_collection(key):
            raise ValueError(f"Graph already contains one or more main ops under the collection {key}.")
    graphs.add_to_collection(constants.MAIN_OP_KEY, main_op)


def _check_signatures(signature_def_map):
    """Raises an error for a signature whose tensors have no name or dtype, and for a reserved key."""
    for key, signature in signature_def_map.items():
        for info in [*signature.inputs.values(), *signature.outputs.values()]:
            if info.WhichOneof("encoding") is None:
                raise AssertionError(f"Invalid `tensor_info`: {info}. All TensorInfo protos used in the SignatureDefs "
                                     "must have one of the 'encoding' fields (e.g., name or coo_sparse) set.")
            if not info.dtype:
                raise AssertionError(f"Invalid `tensor_info`: {info}. All TensorInfo protos used in the SignatureDefs "
                                     "must have the `dtype` field set.")
        if key in (constants.INIT_OP_SIGNATURE_KEY, constants.TRAIN_OP_SIGNATURE_KEY):
            kind = "initialization" if key == constants.INIT_OP_SIGNATURE_KEY else "train"
            raise KeyError(f'SignatureDef map key "{key}" is reserved for {kind}. Please use a different key.')
