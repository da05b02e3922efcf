"""tf.contrib.slim.parallel_reader: several readers that fill one queue."""

import tensorbraid as tf

__all__ = ["ParallelReader", "get_data_files", "parallel_read", "single_pass_read"]


class ParallelReader:
    """Readers of one class, each on a thread of its own, that put their records into one queue."""

    def __init__(self, reader_class, common_queue, num_readers=4, reader_kwargs=None):
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._queue = common_queue

    num_readers = property(lambda self: len(self._readers))
    common_queue = property(lambda self: self._queue)

    def read(self, queue, name=None):
        """The key and the value of a record from the files whose names are in `queue`."""
        self._fill([self._queue.enqueue(reader.read(queue)) for reader in self._readers])
        return self._queue.dequeue(name=name)

    def read_up_to(self, queue, num_records, name=None):
        """The keys and the values of at most `num_records` records."""
        self._fill([self._queue.enqueue_many(reader.read_up_to(queue, num_records)) for reader in self._readers])
        return self._queue.dequeue_up_to(num_records, name)

    def _fill(self, enqueues):
        tf.train.add_queue_runner(tf.train.QueueRunner(self._queue, enqueues))


def get_data_files(data_sources):
    """The files of a pattern, or of several."""
    if isinstance(data_sources, (list, tuple)):
        return [file for source in data_sources for file in get_data_files(source)]
    files = tf.gfile.Glob(data_sources) if "*" in data_sources or "?" in data_sources or "[" in data_sources else [
        data_sources]
    if not files:
        raise ValueError("No data files found in %s" % (data_sources,))
    return files


def parallel_read(data_sources, reader_class, num_epochs=None, num_readers=4, reader_kwargs=None, shuffle=True,
                  dtypes=None, capacity=256, min_after_dequeue=128, seed=None, scope=None):
    """The key and the value of a record; several readers read the files."""
    files = get_data_files(data_sources)
    with tf.name_scope(scope, "parallel_read"):
        names = tf.train.string_input_producer(files, num_epochs, shuffle, seed=seed, name="filenames")
        dtypes = dtypes or [tf.string, tf.string]
        if shuffle:
            queue = tf.RandomShuffleQueue(capacity, min_after_dequeue, dtypes, seed=seed, name="common_queue")
        else:
            queue = tf.FIFOQueue(capacity, dtypes, name="common_queue")
        tf.summary.scalar(f"fraction_of_{capacity}_full", tf.cast(queue.size(), tf.float32) * (1.0 / capacity))
        return ParallelReader(reader_class, queue, num_readers, reader_kwargs).read(names)


def single_pass_read(data_sources, reader_class, reader_kwargs=None, scope=None):
    """The key and the value of a record; one reader reads the files once, in their order."""
    files = get_data_files(data_sources)
    with tf.name_scope(scope, "single_pass_read"):
        names = tf.train.string_input_producer(files, num_epochs=1, shuffle=False, capacity=1, name="filenames")
        return reader_class(**(reader_kwargs or {})).read(names)
