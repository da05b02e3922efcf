"""Writes an Estimator's model as a SavedModel."""

import os
import time

from tensorbraid import compat, gfile, metrics, saved_model, tf_logging as logging
from tensorbraid.estimator import export_outputs
from tensorbraid.estimator.receivers import SupervisedInputReceiver
from tensorbraid.estimator.spec import ModeKeys
from tensorbraid.internal import arguments, graphs, meta_graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.session import Session
from tensorbraid.train.checkpoints import is_followed
from tensorbraid.train.saver import Saver

__all__ = []

_TAGS = {ModeKeys.PREDICT: saved_model.SERVING, ModeKeys.TRAIN: saved_model.TRAINING, ModeKeys.EVAL: "eval"}
_ORDER = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)


def export(estimator, export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path):
    """Writes the model in several modes to a new directory, whose name is the time. Returns it as bytes."""
    if not input_receiver_fn_map:
        raise ValueError("No models have been exported: input_receiver_fn_map is empty.")
    for mode, receiver_fn in input_receiver_fn_map.items():
        if mode not in _TAGS:
            raise ValueError(f"the mode of an export must be one of {sorted(_TAGS)}, not {mode!r}")
        if receiver_fn is None:
            raise ValueError("An input_receiver_fn must be defined.")
    path = checkpoint_path or estimator.latest_checkpoint()
    if path is None:
        raise ValueError(f"Couldn't find trained model at {estimator.model_dir}.")
    directory = _new_directory(compat.as_text(arguments.path("export_dir_base", export_dir_base)))
    temporary = os.path.join(os.path.dirname(directory), "temp-" + os.path.basename(directory))
    builder = saved_model.Builder(temporary)
    has_variables = False
    for mode in _ORDER:
        if mode in input_receiver_fn_map:
            _add(estimator, builder, mode, input_receiver_fn_map[mode], path, has_variables)
            has_variables = True
    builder.save(as_text)
    for name, source in (assets_extra or {}).items():
        target = os.path.join(temporary, "assets.extra", name)
        gfile.makedirs(os.path.dirname(target))
        gfile.copy(source, target)
    gfile.rename(temporary, directory)
    return directory.encode()


def _new_directory(base):
    """A directory in `base` that does not exist. Names are seconds, so that the newest has the largest number."""
    seconds = int(time.time())
    while gfile.exists(os.path.join(base, str(seconds))):
        seconds += 1
    return os.path.join(base, str(seconds))


def _add(estimator, builder, mode, receiver_fn, checkpoint, has_variables):
    """Adds the model in one mode; the first brings the values of the variables."""
    with graphs.Graph().as_default():
        if estimator.config.tf_random_seed is not None:
            graphs.set_random_seed(estimator.config.tf_random_seed)
        estimator._global_step(graphs.get_default_graph())
        receiver = receiver_fn()
        labels = receiver.labels if isinstance(receiver, SupervisedInputReceiver) else None
        spec = estimator._call_model_fn(receiver.features, labels, mode, estimator.config)
        signatures = _signatures(receiver, _outputs(spec, mode))
        if spec.scaffold.saver is None:
            saver = Saver(sharded=True, allow_empty=True)
        else:
            saver = spec.scaffold.saver
        main_op = spec.scaffold.local_init_op or _local_init_op()
        restoring = saver
        if is_followed(checkpoint) and hasattr(saver, "_sibling"):
            saver, restoring = _savers(saver)
        with Session(config=estimator._session_config) as session:
            _restore(restoring, session, checkpoint)
            add = builder.add_meta_graph if has_variables else (
                lambda tags, **options: builder.add_meta_graph_and_variables(session, tags, **options))
            add([_TAGS[mode]], signature_def_map=signatures, main_op=main_op, saver=saver,
                assets_collection=graphs.get_collection(GraphKeys.ASSET_FILEPATHS))


def _savers(saver):
    """A saver for the export, and one that restores increments, whose operations are not exported."""
    if saver._imported_def is not None or saver._is_empty:
        return saver, saver
    saver.build()
    other = saver._sibling(follows_increments=not saver._incremental)
    exported, restoring = (other, saver) if saver._incremental else (saver, other)
    return _Without(restoring, exported), restoring


class _Without:
    """A saver whose exported graph lacks the operations of another one."""

    def __init__(self, other, saver):
        self._scope = other.as_saver_def().restore_op_name.rpartition("/")[0] + "/"
        self.save, self.as_saver_def = saver.save, saver.as_saver_def

    def export_meta_graph(self, clear_devices=False):
        graph = graphs.get_default_graph()
        graph_def = graph.as_graph_def(add_shapes=True)
        for i in reversed(range(len(graph_def.node))):
            if graph_def.node[i].name.startswith(self._scope):
                del graph_def.node[i]
        return meta_graphs.meta_graph_of(graph, self.as_saver_def(), clear_devices=clear_devices, graph_def=graph_def)


def _restore(saver, session, checkpoint):
    try:
        saver.restore(session, checkpoint)
    except Exception as error:
        raise ValueError(f"Couldn't load checkpoint at {checkpoint} with the graph of the export: {error}") from error


def _local_init_op():
    initializers = [variable.initializer for variable in graphs.local_variables()]
    initializers += graphs.get_collection(GraphKeys.TABLE_INITIALIZERS)
    with graphs.control_dependencies(initializers):
        return graphs.make_op("NoOp", [], "local_init")


def _outputs(spec, mode):
    """The ExportOutputs of the model in a mode, by the key of the signature."""
    if mode == ModeKeys.PREDICT:
        if not spec.export_outputs:
            raise ValueError("the model has no export_outputs, and its predictions are not tensors")
        return spec.export_outputs
    found = {"loss": metrics.mean(spec.loss)} if mode == ModeKeys.EVAL else {}
    found.update(spec.eval_metric_ops)
    kind = export_outputs.EvalOutput if mode == ModeKeys.EVAL else export_outputs.TrainOutput
    return {mode: kind(loss=spec.loss, predictions=spec.predictions, metrics=found)}


def _signatures(receiver, outputs):
    """The signatures by key. Those that the inputs do not fit are left out: some need serialized examples."""
    receivers = {None: receiver.receiver_tensors}
    receivers.update(getattr(receiver, "receiver_tensors_alternatives", None) or {})
    signatures = {}
    for prefix, tensors in receivers.items():
        for key, output in outputs.items():
            if prefix is not None:
                key = f"{prefix}:{key}"
            try:
                signature = output.as_signature_def(tensors)
            except ValueError as error:
                logging.info("Signature %s is not exported: %s", key, error)
                continue
            signatures[key] = signature
    if not signatures:
        logging.warning("Export includes no signatures: the inputs fit none of the export_outputs.")
    return signatures
