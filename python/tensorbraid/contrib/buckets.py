"""Queues of tf.contrib.training that make batches of similar examples."""

import tensorbraid as tf

__all__ = ["bucket", "bucket_by_sequence_length"]


def bucket(tensors, which_bucket, batch_size, num_buckets, num_threads=1, capacity=32, bucket_capacities=None,
           shapes=None, dynamic_pad=False, allow_smaller_final_batch=False, keep_input=True, shared_name=None,
           name=None):
    """The number of a bucket and a batch of examples that `which_bucket` has put into it."""
    batch_sizes = list(batch_size) if hasattr(batch_size, "__len__") else [batch_size] * num_buckets
    if len(batch_sizes) != num_buckets:
        raise ValueError(f"If batch_size is a list it must have num_buckets elements: {batch_size}")
    capacities = list(bucket_capacities or [capacity] * num_buckets)
    if len(capacities) != num_buckets:
        raise ValueError(f"The list bucket_capacities ({bucket_capacities}) must have exactly num_buckets "
                         f"({num_buckets}) elements.")
    if allow_smaller_final_batch:
        raise NotImplementedError("allow_smaller_final_batch of bucket")
    names = sorted(tensors) if isinstance(tensors, dict) else None
    listed = [tf.convert_to_tensor(tensor) for tensor in ([tensors[key] for key in names] if names else tensors)]
    with tf.name_scope(name, "bucket", listed):
        dtypes = [tensor.dtype for tensor in listed]
        shapes = [tf.TensorShape(shape) for shape in shapes or [tensor.shape for tensor in listed]]
        kind = tf.PaddingFIFOQueue if dynamic_pad else tf.FIFOQueue
        queues = [kind(size, dtypes, shapes, shared_name=shared_name and f"{shared_name}_{i}", name=f"bucket_queue_{i}")
                  for i, size in enumerate(capacities)]
        batch_shapes = [tf.TensorShape([None if len(set(batch_sizes)) > 1 else batch_sizes[0]]).concatenate(shape)
                        for shape in shapes]
        ready = tf.PaddingFIFOQueue if dynamic_pad else tf.FIFOQueue
        top = ready(capacity, [tf.int32, *dtypes], [tf.TensorShape([]), *batch_shapes],
                    shared_name=shared_name and f"{shared_name}_top", name="top_queue")
        which = tf.cast(which_bucket, tf.int32)

        def put():
            return tf.group(*[tf.cond(tf.equal(which, i), lambda queue=queue: queue.enqueue(listed), tf.no_op)
                              for i, queue in enumerate(queues)])

        enqueue = put() if keep_input is True else tf.cond(tf.cast(keep_input, tf.bool), put, tf.no_op)
        close = tf.group(*[queue.close() for queue in queues])
        cancel = tf.group(*[queue.close(cancel_pending_enqueues=True) for queue in queues])
        ends = tf.errors.OutOfRangeError, tf.errors.CancelledError
        tf.train.add_queue_runner(tf.train.QueueRunner(queues[0], [enqueue] * num_threads, close, cancel, ends))
        moves = [top.enqueue([tf.constant(i), *_listed(queue.dequeue_many(size))])
                 for i, (queue, size) in enumerate(zip(queues, batch_sizes))]
        tf.train.add_queue_runner(tf.train.QueueRunner(top, moves, queue_closed_exception_types=ends))
        tf.summary.scalar(f"fraction_over_{capacity}_full", tf.cast(top.size(), tf.float32) * (1.0 / capacity))
        number, *batch = top.dequeue()
        return number, dict(zip(names, batch)) if names else batch


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def bucket_by_sequence_length(input_length, tensors, batch_size, bucket_boundaries, num_threads=1, capacity=32,
                              bucket_capacities=None, shapes=None, dynamic_pad=False, allow_smaller_final_batch=False,
                              keep_input=True, shared_name=None, name=None):
    """The lengths of sequences and a batch of them, whose lengths are between the same two boundaries."""
    boundaries = list(bucket_boundaries)
    if not boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    if any(not isinstance(limit, int) for limit in boundaries):
        raise TypeError("bucket boundaries must be integers")
    if any(low >= high for low, high in zip(boundaries, boundaries[1:])):
        raise ValueError("Buckets must contain sequential increasing lengths")
    with tf.name_scope(name, "bucket_by_sequence_length"):
        length = tf.cast(input_length, tf.int32)
        # A sequence belongs to the bucket of the number of boundaries that are not above its length.
        which = tf.reduce_sum(tf.cast(tf.constant(boundaries) <= length, tf.int32))
        if isinstance(tensors, dict):
            names = sorted(tensors)
            given = [length, *[tensors[key] for key in names]]
        else:
            names, given = None, [length, *tensors]
        _, (lengths, *batch) = bucket(
            given, which, batch_size, len(boundaries) + 1, num_threads, capacity, bucket_capacities,
            shapes and [tf.TensorShape([]), *shapes], dynamic_pad, allow_smaller_final_batch, keep_input, shared_name)
        return lengths, dict(zip(names, batch)) if names else batch
