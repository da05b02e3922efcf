"""tf.contrib.slim.prefetch_queue: a queue with tensors that have been computed ahead."""

import tensorbraid as tf

__all__ = ["prefetch_queue"]


def prefetch_queue(tensors, capacity=8, num_threads=1, dynamic_pad=False, shared_name=None, name=None):
    """A queue that threads fill with the tensors, a list or a dict. Its dequeue gives them in the same structure."""
    names = sorted(tensors) if isinstance(tensors, dict) else None
    listed = [tf.convert_to_tensor(tensor) for tensor in (
        [tensors[key] for key in names] if names else tensors if isinstance(tensors, (list, tuple)) else [tensors])]
    with tf.name_scope(name, "prefetch_queue", listed) as scope:
        kind = tf.PaddingFIFOQueue if dynamic_pad else tf.FIFOQueue
        queue = kind(capacity, [tensor.dtype for tensor in listed], [tensor.shape for tensor in listed], names=names,
                     shared_name=shared_name, name=scope)
        enqueue = queue.enqueue(dict(zip(names, listed)) if names else listed)
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [enqueue] * num_threads))
        tf.summary.scalar(f"fraction_of_{capacity}_full", tf.cast(queue.size(), tf.float32) * (1.0 / capacity))
        return queue
