"""tensorflow.python.keras.utils.generic_utils: configurations of objects by the names of classes."""

import tensorbraid as tf

__all__ = ["class_and_config_for_serialized_keras_object", "serialize_keras_class_and_config"]


def serialize_keras_class_and_config(cls_name, cls_config):
    """The configuration of an object with the name of its class."""
    return {"class_name": cls_name, "config": cls_config}


def class_and_config_for_serialized_keras_object(config, module_objects=None, custom_objects=None,
                                                 printable_module_name="object"):
    """The class that a configuration names, and the arguments of its constructor."""
    if not isinstance(config, dict) or "class_name" not in config or "config" not in config:
        raise ValueError(f"Improper config format: {config}")
    name = config["class_name"]
    for objects in (custom_objects, tf.keras.utils.get_custom_objects(), module_objects):
        if objects and name in objects:
            return objects[name], config["config"]
    raise ValueError(f"Unknown {printable_module_name}: {name}")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(tf.keras.utils.generic_utils, name)
