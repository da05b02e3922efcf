"""The options of growing tables. Source: DeepRec, whose names these are."""

from tensorbraid.internal import arguments

__all__ = ["CBFFilter", "CheckpointOption", "CounterFilter", "EmbeddingVariableOption", "GlobalStepEvict",
           "InitializerOption", "L2WeightEvict", "SizeEvict", "StorageOption"]


_DEFAULT_ROWS = 4096  # of a matrix of initial rows


class StorageType:
    """Where the rows of a table are. Only DRAM (or None) is supported."""

    INVALID, DRAM, PMEM_MEMKIND, PMEM_LIBPMEM, SSDHASH, LEVELDB = range(6)
    DRAM_PMEM, DRAM_SSDHASH, HBM_DRAM, DRAM_LEVELDB = 11, 12, 13, 14
    DRAM_PMEM_SSDHASH, HBM_DRAM_SSDHASH = 101, 102


class CacheType:
    """Which rows stay in the fastest memory. A table has all rows there, so the choice has no effect."""

    LRU, LFU = range(2)


class InitializerOption:
    """The initial rows of a table. `initializer`, if set, wins over the argument of tf.get_embedding_variable.

    Without `default_value_dim`, each key has an initial row of its own. With it, the initializer gives a matrix with so
    many rows, and the initial row of a key is row `key % default_value_dim`. An initializer whose numbers cannot be
    computed by key gives such a matrix in any case, with 4,096 rows.
    """

    def __init__(self, initializer=None, default_value_dim=None, default_value_no_permission=.0):
        self.initializer = initializer
        self.default_value_dim = default_value_dim
        self.default_value_no_permission = default_value_no_permission

    @property
    def default_value_dim(self):
        """The number of rows of the matrix; 4,096 if the program does not say it."""
        return _DEFAULT_ROWS if self._rows is None else self._rows

    @default_value_dim.setter
    def default_value_dim(self, rows):
        if rows is not None and arguments.whole("default_value_dim", rows) <= 0:
            raise ValueError(f"default_value_dim must be positive, got {rows}")
        self._rows = rows


class CounterFilter:
    """Admission of a key when updates have brought it `filter_freq` times. 0 is none: the first update makes its row.

    The update that reaches this count makes the row, and applies its gradient; earlier ones only count. A lookup of a
    key reads its initial row if the update of this batch would make the row, and `default_value_no_permission` of
    InitializerOption in all numbers otherwise.
    """

    def __init__(self, filter_freq=0):
        self.filter_freq = filter_freq


class CBFFilter:
    """As CounterFilter, but a counting Bloom filter counts, which takes less memory.

    It is made for `max_element_size` keys, of which a part `false_positive_probability` may be admitted too early. If
    they are not given, counts are exact. Counters have as few bits as `filter_freq` needs, whatever `counter_type` is,
    and memory is taken when keys touch it.
    """

    def __init__(self, filter_freq=0, max_element_size=0, false_positive_probability=-1.0, counter_type=None):
        if (max_element_size > 0) != (false_positive_probability > 0):
            raise ValueError("max_element_size and false_positive_probability are given both, or neither")
        self.filter_freq = filter_freq
        self.max_element_size = max_element_size
        self.false_positive_probability = false_positive_probability
        self.counter_type = counter_type


class GlobalStepEvict:
    """Eviction of rows that were not updated in the last `steps_to_live` steps. None or 0 is none.

    Rows are evicted at each full save, before it writes them, and in the background. A later gradient of an evicted key
    makes a new row. The current step is the newest that has updated a row of the same part.
    """

    def __init__(self, steps_to_live=None):
        self.steps_to_live = steps_to_live


class L2WeightEvict:
    """Eviction of rows of which half of the sum of the squares is below the threshold. A negative one is none.

    Rows that were updated in the last 100 steps stay, so that new rows can become longer. Otherwise as GlobalStepEvict.
    `l2_weigt_threshold` is the same; DeepRec's MMoE and DBMTL spell it so.
    """

    def __init__(self, l2_weight_threshold=-1.0, l2_weigt_threshold=None):
        self.l2_weight_threshold = l2_weight_threshold if l2_weigt_threshold is None else l2_weigt_threshold


class SizeEvict:
    """Eviction of the rows that were not updated for longest, until a table has `max_rows` or `max_bytes` at most.

    At least one of them must be given. A row has 24 bytes besides its numbers and the numbers of its slots. Each part of
    a table has its share. When the table has more, rows are evicted in the background until it has 15/16 of them; a full
    save evicts what is above the limit. Not in DeepRec.
    """

    def __init__(self, max_rows=None, max_bytes=None):
        self.max_rows = max_rows
        self.max_bytes = max_bytes


class CheckpointOption:
    """The checkpoint from which a table begins when it is initialized, as by tf.train.init_from_checkpoint.

    `tensor_name_in_ckpt` is the name of the table there, if it differs. A training that restores a checkpoint of its own
    has the rows of that one, unless `always_load_from_specific_ckpt` is set: then every restore of the table gives it
    the rows of `ckpt_to_load_from`, and slots begin anew.
    """

    def __init__(self, ckpt_to_load_from=None, tensor_name_in_ckpt=None, always_load_from_specific_ckpt=False,
                 init_data_source=None):
        self.ckpt_to_load_from = ckpt_to_load_from
        self.tensor_name_in_ckpt = tensor_name_in_ckpt
        self.always_load_from_specific_ckpt = always_load_from_specific_ckpt
        self.init_data_source = init_data_source


class StorageOption:
    """Where the rows are. Only memory is supported: no type, or DRAM."""

    def __init__(self, storage_type=None, storage_path=None, storage_size=(1024 * 1024 * 1024,),
                 cache_strategy=CacheType.LFU):
        if storage_path is not None and storage_type is None:
            raise ValueError("storage_type must be given with storage_path")
        self.storage_type = storage_type
        self.storage_path = storage_path
        self.storage_size = list(storage_size)
        self.cache_strategy = cache_strategy


class EmbeddingVariableOption:
    """The options of a table. Scripts may set the attributes later, before the table is made.

    `skip_not_finite`, which DeepRec lacks: whether updates leave out rows whose gradient has a number that is not
    finite. Otherwise such an update fails, and changes nothing.
    """

    def __init__(self, ht_type="", ht_partition_num=1000, evict_option=None, ckpt=None, filter_option=None,
                 storage_option=None, init_option=None, skip_not_finite=False):
        self.ht_type = ht_type
        self.ht_partition_num = ht_partition_num
        self.evict = evict_option
        self.ckpt = ckpt
        self.filter_strategy = filter_option
        self.storage_option = StorageOption() if storage_option is None else storage_option
        self.init = InitializerOption() if init_option is None else init_option
        self.skip_not_finite = skip_not_finite

    def _check(self, name):
        """Raises NotImplementedError for an option of the table `name` that is not supported."""
        def refuse(what, cure):
            raise NotImplementedError(f"{what} of the growing table '{name}' is not supported yet; {cure}")

        rule = self.filter_strategy
        if rule is not None and not isinstance(rule, (CounterFilter, CBFFilter)) and getattr(rule, "filter_freq", 1):
            refuse(f"the filter {type(rule).__name__}", "use tf.CounterFilter, or leave out filter_option, so that each "
                   "key is admitted at its first update")
        if self.storage_option is not None and self.storage_option.storage_type not in (None, StorageType.DRAM):
            refuse("a storage_type other than DRAM", "leave out storage_option; the rows are in memory")
        ckpt = self.ckpt
        if ckpt is not None and ckpt.init_data_source is not None:
            refuse("init_data_source of CheckpointOption", "give it ckpt_to_load_from")
        if ckpt is not None and ckpt.always_load_from_specific_ckpt and not ckpt.ckpt_to_load_from:
            raise ValueError(f"always_load_from_specific_ckpt of the growing table '{name}' needs ckpt_to_load_from, the "
                             "checkpoint that has its rows")

    def _start(self, name):
        """The checkpoint from which the table `name` begins, and its name there; None if there is none."""
        if self.ckpt is None or not self.ckpt.ckpt_to_load_from:
            return None
        return self.ckpt.ckpt_to_load_from, self.ckpt.tensor_name_in_ckpt or name

    def _admission(self, name):
        """The number of occurrences after which the table `name` admits a key, and what it gives until then."""
        rule = self.filter_strategy
        count = arguments.whole("filter_freq", rule.filter_freq) if isinstance(rule, (CounterFilter, CBFFilter)) else 0
        if count < 0:
            raise ValueError(f"filter_freq of the growing table '{name}' must not be negative, got {count}")
        return count, float(arguments.number("default_value_no_permission", self.init.default_value_no_permission))

    def _bloom(self):
        """The keys that a Bloom filter counts, and its error: 0 and 0 if there is none."""
        rule = self.filter_strategy
        if not isinstance(rule, CBFFilter) or rule.max_element_size <= 0 or not rule.filter_freq:
            return 0, 0.0
        return (arguments.whole("max_element_size", rule.max_element_size),
                float(arguments.number("false_positive_probability", rule.false_positive_probability)))

    def _eviction(self, name, steps_to_live):
        """The steps to live, threshold, most rows and most bytes of the table `name`: 0, -1, 0 and 0 if there is none.

        `steps_to_live` is the argument of tf.get_embedding_variable, which stands for a tf.GlobalStepEvict.
        """
        evict = self.evict
        if steps_to_live is not None:
            if evict is not None:
                raise ValueError(f"the growing table '{name}' has steps_to_live and an evict_option; give one of them: "
                                 "tf.GlobalStepEvict(steps_to_live) is the same")
            evict = GlobalStepEvict(steps_to_live)
        steps, threshold, limits = 0, -1.0, (0, 0)
        if isinstance(evict, GlobalStepEvict):
            steps = _limit(name, "steps_to_live", evict.steps_to_live)
        elif isinstance(evict, L2WeightEvict):
            threshold = float(arguments.number("l2_weight_threshold", evict.l2_weight_threshold))
        elif isinstance(evict, SizeEvict):
            limits = (_limit(name, "max_rows", evict.max_rows), _limit(name, "max_bytes", evict.max_bytes))
            if limits == (0, 0):
                raise ValueError(f"tf.SizeEvict of the growing table '{name}' has no limit; give it max_rows or max_bytes, "
                                 "or leave out evict_option")
        elif evict is not None:
            raise TypeError(f"evict_option of the growing table '{name}' must be a tf.GlobalStepEvict, tf.L2WeightEvict "
                            f"or tf.SizeEvict, got {evict!r}")
        return steps, threshold, *limits


def _limit(name, what, value):
    limit = 0 if value is None else arguments.whole(what, value)
    if limit < 0:
        raise ValueError(f"{what} of the growing table '{name}' must not be negative, got {limit}")
    return limit
