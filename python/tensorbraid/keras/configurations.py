"""Configurations of layers, models and other objects that TensorFlow has written, as the library reads them."""

import functools
import inspect

__all__ = []

# Arguments of newer classes, and the values with which they change nothing.
_NEUTRAL = {"optional": False, "ragged": False, "groups": 1, "keepdims": False, "synchronized": False, "sparse": False,
            "time_major": False, "experimental_autocast": True, "autocast": True, "dropout": 0.0, "score_mode": "dot",
            "renorm": False, "virtual_batch_size": None, "fused": None, "partitioner": None, "seed": None,
            "input_length": None, "build_input_shape": None, "implementation": 1, "axis": -1, "ignore_class": None,
            "from_logits": False, "multi_label": False, "num_labels": None, "label_weights": None, "class_id": None,
            "sparse_y_true": True, "sparse_y_pred": True}


_MODULES = ("module", "output_shape_module")  # of the functions of a Lambda, which the library does not need
_CLASSES = {"Functional": "Model", "L1": "L1L2", "L2": "L1L2"}  # newer names


def of_object(config, classes):
    """The configuration of a layer or another object, whose class is one of `classes` if it is the library's."""
    if not isinstance(config, dict) or not isinstance(config.get("config"), dict):
        return config
    name = _CLASSES.get(config["class_name"], config["class_name"])
    arguments = dict(config["config"])
    if isinstance(arguments.get("dtype"), dict):  # a policy of dtypes
        arguments["dtype"] = arguments["dtype"]["config"]["name"]
    kind = classes.get(name)
    if inspect.isclass(kind) and name not in ("Model", "Sequential"):
        known = inspect.signature(kind.__init__).parameters
        arguments = {key: value for key, value in arguments.items()
                     if key in known or key not in _NEUTRAL or value != _NEUTRAL[key]}
    if name == "Lambda":
        arguments = {key: value for key, value in arguments.items() if key not in _MODULES}
    return {**config, "class_name": name, "config": arguments}


def _of_loss(config, classes):
    """The configuration of a loss, in which newer versions name its function."""
    if not isinstance(config, dict) or config["class_name"] not in classes:
        return config
    arguments = {key: value for key, value in config["config"].items() if key != "fn"}
    return of_object({**config, "config": arguments}, classes)


def change(module, convert=of_object):
    """Lets `deserialize` of a module of the library read TensorFlow's configurations."""
    deserialize = module.deserialize

    @functools.wraps(deserialize)
    def read(config, custom_objects=None):
        return deserialize(convert(config, vars(module)), custom_objects)

    module.deserialize = read


def change_losses(losses):
    """Changes the library's module `losses`."""
    change(losses, _of_loss)
