"""tf.contrib.slim.tfexample_decoder: named items from the features of a serialized Example."""

import abc

import tensorbraid as tf
from tensorbraid.ops import sparse_tensor

__all__ = ["BackupHandler", "BoundingBox", "Image", "ItemHandler", "ItemHandlerCallback", "LookupTensor",
           "NumberOfBoundingBoxesHandler", "SparseTensor", "TFExampleDecoder", "TFSequenceExampleDecoder", "Tensor"]


class ItemHandler(abc.ABC):
    """Makes an item of the features with these keys."""

    def __init__(self, keys):
        self._keys = [keys] if isinstance(keys, str) else list(keys)

    keys = property(lambda self: self._keys)

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors):
        """The item, a tensor, of a dict of features."""


class ItemHandlerCallback(ItemHandler):
    """An item that a function makes."""

    def __init__(self, keys, func):
        super().__init__(keys)
        self._function = func

    def tensors_to_item(self, keys_to_tensors):
        return self._function(keys_to_tensors)


class Tensor(ItemHandler):
    """A feature as a dense tensor. Its shape is given, or is in further features."""

    def __init__(self, tensor_key, shape_keys=None, shape=None, default_value=0):
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        self._shape_keys = [shape_keys] if isinstance(shape_keys, str) else list(shape_keys or [])
        super().__init__([tensor_key, *self._shape_keys])
        self._key, self._shape, self._default = tensor_key, shape, default_value

    def tensors_to_item(self, keys_to_tensors):
        tensor, shape = keys_to_tensors[self._key], self._shape
        if self._shape_keys:
            shape = tf.concat([tf.reshape(tf.cast(_dense(keys_to_tensors[key]), tf.int32), [-1])
                               for key in self._shape_keys], 0)
        if isinstance(tensor, sparse_tensor.SparseTensor):
            tensor = tensor if shape is None else tf.sparse_reshape(tensor, shape)
            return tf.sparse_tensor_to_dense(tensor, self._default)
        return tensor if shape is None else tf.reshape(tensor, shape)


def _dense(value):
    return tf.sparse_tensor_to_dense(value) if isinstance(value, sparse_tensor.SparseTensor) else value


class LookupTensor(Tensor):
    """A feature whose values a table gives numbers."""

    def __init__(self, tensor_key, table, shape_keys=None, shape=None, default_value=""):
        super().__init__(tensor_key, shape_keys, shape, default_value)
        self._table = table

    def tensors_to_item(self, keys_to_tensors):
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class SparseTensor(ItemHandler):
    """A sparse tensor of features with its indices, its values and its shape."""

    def __init__(self, indices_key=None, values_key=None, shape_key=None, shape=None, densify=False, default_value=0):
        self._indices, self._values, self._shape_key = indices_key or "indices", values_key or "values", shape_key
        super().__init__([self._indices, self._values, *([shape_key] if shape_key else [])])
        self._shape, self._densify, self._default = shape, densify, default_value

    def tensors_to_item(self, keys_to_tensors):
        indices, values = keys_to_tensors[self._indices], keys_to_tensors[self._values]
        if self._shape_key:
            shape = keys_to_tensors[self._shape_key].values
        elif self._shape is not None:
            shape = self._shape
        else:
            shape = indices.dense_shape
        columns = tf.shape(indices.dense_shape)[0]
        rank = columns if shape is indices.dense_shape else tf.size(shape)
        places = tf.cast(tf.reshape(indices.values, tf.stack([-1, rank])), tf.int64)
        made = sparse_tensor.SparseTensor(places, values.values, tf.cast(shape, tf.int64))
        return tf.sparse_tensor_to_dense(made, self._default) if self._densify else made


class BoundingBox(ItemHandler):
    """Boxes [number, 4] of four features."""

    def __init__(self, keys=None, prefix=""):
        keys = ["ymin", "xmin", "ymax", "xmax"] if keys is None else list(keys)
        if len(keys) != 4:
            raise ValueError("BoundingBox expects 4 keys but got {}".format(len(keys)))
        super().__init__([prefix + key for key in keys])

    def tensors_to_item(self, keys_to_tensors):
        sides = [keys_to_tensors[key] for key in self._keys]
        return tf.stack([side.values if isinstance(side, sparse_tensor.SparseTensor) else side for side in sides], 1)


class Image(ItemHandler):
    """Decodes an image, or several with `repeated`, to pixels. tf.decode_raw decodes images of the format "raw"."""

    def __init__(self, image_key=None, format_key=None, shape=None, channels=3, dtype=tf.uint8, repeated=False,
                 dct_method=""):
        if dct_method:
            raise NotImplementedError("dct_method of an Image")
        self._image_key, self._format_key = image_key or "image/encoded", format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape, self._channels, self._dtype, self._repeated = shape, channels, tf.as_dtype(dtype), repeated

    def tensors_to_item(self, keys_to_tensors):
        contents, kind = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if self._repeated:
            return tf.map_fn(lambda content: self._decoded(content, kind), contents, dtype=self._dtype)
        return self._decoded(contents, kind)

    def _decoded(self, contents, kind):
        is_raw = tf.logical_or(tf.equal(kind, "raw"), tf.equal(kind, "RAW"))
        image = tf.cond(tf.reshape(is_raw, []), lambda: tf.decode_raw(contents, self._dtype), lambda: tf.cast(
            tf.image.decode_image(contents, self._channels, expand_animations=False), self._dtype))
        if self._shape is not None:
            return tf.reshape(image, self._shape)
        return tf.reshape(image, tf.shape(image)) if self._repeated else _with_shape(
            image, [None, None, self._channels])


def _with_shape(image, shape):
    image.set_shape(shape)
    return image


class TFExampleDecoder:
    """Parses an Example with the features of tf.parse_example, and makes items of it."""

    def __init__(self, keys_to_features, items_to_handlers):
        self._features, self._handlers = keys_to_features, items_to_handlers

    def list_items(self):
        """The names of the items."""
        return list(self._handlers)

    def decode(self, serialized_example, items=None):
        """The tensors of the items."""
        example = tf.parse_single_example(serialized_example, self._features)
        for key, feature in self._features.items():
            if isinstance(feature, tf.FixedLenFeature):
                example[key] = tf.reshape(example[key], feature.shape)
        handlers = [self._handlers[item] for item in (self._handlers if items is None else items)]
        return [handler.tensors_to_item({key: example[key] for key in handler.keys}) for handler in handlers]


class NumberOfBoundingBoxesHandler(ItemHandler):
    """The number of bounding boxes: the number of elements of the feature that has one of their coordinates."""

    def __init__(self, key):
        super().__init__(key)

    def tensors_to_item(self, keys_to_tensors):
        feature = keys_to_tensors[self._keys[0]]
        if isinstance(feature, sparse_tensor.SparseTensor):
            feature = feature.values
        return tf.cast(tf.size(feature), tf.int32)


class BackupHandler(ItemHandler):
    """The item of `handler`, or the item of `backup` if the first one has no elements."""

    def __init__(self, handler, backup):
        for part in (handler, backup):
            if not isinstance(part, ItemHandler):
                raise ValueError(f"Backup handler is of type {type(part)} instead of ItemHandler.")
        self._handler, self._backup = handler, backup
        super().__init__([*handler.keys, *backup.keys])

    def tensors_to_item(self, keys_to_tensors):
        item = self._handler.tensors_to_item(keys_to_tensors)
        return tf.cond(tf.equal(tf.reduce_prod(tf.shape(item)), 0),
                       lambda: self._backup.tensors_to_item(keys_to_tensors), lambda: item)


class TFSequenceExampleDecoder:
    """Decodes a serialized SequenceExample: parses it with tf.parse_single_sequence_example and applies handlers."""

    def __init__(self, keys_to_context_features, keys_to_sequence_features, items_to_handlers):
        both = set(keys_to_context_features) & set(keys_to_sequence_features)
        if both:
            raise ValueError(f"Keys of context and sequence features must not be the same: {sorted(both)}")
        self._context, self._sequence = keys_to_context_features, keys_to_sequence_features
        self._handlers = items_to_handlers

    def list_items(self):
        """The names of the items."""
        return list(self._handlers)

    def decode(self, serialized_example, items=None):
        """The tensors of the items."""
        context, sequence = tf.parse_single_sequence_example(serialized_example, self._context, self._sequence)
        example = {**context, **sequence}
        handlers = [self._handlers[item] for item in (self._handlers if items is None else items)]
        return [handler.tensors_to_item({key: example[key] for key in handler.keys}) for handler in handlers]
