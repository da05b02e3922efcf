"""tf.contrib.predictor: models as callable objects that map a dict of inputs to a dict of outputs in a session."""

import tensorbraid as tf
from tensorbraid.saved_model import loader, signature_constants, tag_constants, utils

__all__ = ["from_estimator", "from_saved_model"]


class Predictor:
    """A session with named inputs and outputs. Called with {input: value}, it returns {output: value}."""

    def __init__(self, graph, session, feed_tensors, fetch_tensors):
        self._graph, self._session = graph, session
        self._feed_tensors, self._fetch_tensors = dict(feed_tensors), dict(fetch_tensors)

    graph = property(lambda self: self._graph, doc="The graph.")
    session = property(lambda self: self._session, doc="The session.")
    feed_tensors = property(lambda self: self._feed_tensors, doc="The tensors of the inputs, by name.")
    fetch_tensors = property(lambda self: self._fetch_tensors, doc="The tensors of the outputs, by name.")

    def __repr__(self):
        return f"{type(self).__name__} with feed tensors {self._feed_tensors} and fetch_tensors {self._fetch_tensors}"

    def __call__(self, input_dict):
        unknown = sorted(set(input_dict) - set(self._feed_tensors))
        if unknown:
            raise ValueError(f"Got unexpected keys in input_dict: {unknown}\nexpected: {sorted(self._feed_tensors)}")
        return self._session.run(self._fetch_tensors, {self._feed_tensors[key]: input_dict[key] for key in input_dict})


def _tensors(names, graph):
    return {key: graph.get_tensor_by_name(name) for key, name in names.items()}


def from_saved_model(export_dir, signature_def_key=None, signature_def=None, input_names=None, output_names=None,
                     tags=None, graph=None, config=None):
    """A Predictor of a SavedModel.

    Its inputs and outputs are those of the signature "serving_default". At most one of these changes that:
    `signature_def_key` names another signature, `signature_def` is a SignatureDef, `input_names` and `output_names` map
    names to names of tensors. `tags` is a comma-separated string, by default "serve". ValueError if more than one of
    them is given, or if the model does not have the signature.
    """
    if signature_def_key is not None and (signature_def is not None or input_names is not None):
        raise ValueError("You must specify exactly one of signature_def_key OR signature_def OR (input_names AND "
                         "output_names), but more than one was given")
    if signature_def is not None and input_names is not None:
        raise ValueError("You must specify exactly one of signature_def_key OR signature_def OR (input_names AND "
                         "output_names), but more than one was given")
    if (input_names is None) != (output_names is None):
        raise ValueError("input_names and output_names must be given together")
    graph = graph or tf.Graph()
    with graph.as_default():
        session = tf.Session(graph=graph, config=config)
        meta_graph = loader.load(session, tags.split(",") if tags else [tag_constants.SERVING], export_dir)
        if input_names is not None:
            return Predictor(graph, session, _tensors(input_names, graph), _tensors(output_names, graph))
        if signature_def is None:
            key = signature_def_key or signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
            if key not in meta_graph.signature_def:
                raise ValueError(f"Got signature_def_key {key!r}. Available signatures are "
                                 f"{sorted(meta_graph.signature_def)}.")
            signature_def = meta_graph.signature_def[key]
        feeds, fetches = ({key: utils.get_tensor_from_tensor_info(info, graph) for key, info in infos.items()}
                          for infos in (signature_def.inputs, signature_def.outputs))
        return Predictor(graph, session, feeds, fetches)


def from_estimator(estimator, serving_input_receiver_fn, output_key=None, graph=None, config=None):
    """A Predictor of an Estimator's latest checkpoint. ValueError if no checkpoint exists.

    Its inputs are the receiver tensors of `serving_input_receiver_fn`. Its outputs are those of the export output
    `output_key`, by default "serving_default".
    """
    graph = graph or tf.Graph()
    with graph.as_default():
        receiver = serving_input_receiver_fn()
        tf.train.create_global_step(graph)
        spec = estimator._call_model_fn(receiver.features, None, tf.estimator.ModeKeys.PREDICT, estimator.config)
        path = estimator.latest_checkpoint()
        if path is None:
            raise ValueError(f"the folder {estimator.model_dir} has no checkpoint")
        session = tf.train.MonitoredSession(tf.train.ChiefSessionCreator(
            scaffold=spec.scaffold, config=config or estimator.config.session_config,
            checkpoint_filename_with_path=path))
        key = output_key or signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        outputs = spec.export_outputs or {}
        if key not in outputs:
            raise ValueError(f"output_key must be one of {sorted(outputs)}; got {key!r}")
        return Predictor(graph, session, receiver.receiver_tensors, _outputs(outputs[key]))


def _outputs(export_output):
    if hasattr(export_output, "outputs"):
        return export_output.outputs
    fields = {name: getattr(export_output, name, None) for name in ("scores", "classes", "value")}
    names = {"value": "outputs"}
    return {names.get(name, name): tensor for name, tensor in fields.items() if tensor is not None}
