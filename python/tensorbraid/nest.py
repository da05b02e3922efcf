"""Nested structures: lists, tuples, namedtuples and dictionaries, whose leaves are everything else.

The leaves of a dictionary are in the order of its sorted keys. As with tf.nest, strings and NumPy arrays are leaves.
"""

import collections.abc

__all__ = []


def is_nested(value):
    """Whether the value is a structure and not a leaf."""
    if isinstance(value, (str, bytes, bytearray)):
        return False
    return isinstance(value, (collections.abc.Sequence, collections.abc.Mapping, collections.abc.MappingView))


is_sequence = is_nested


def is_namedtuple(value):
    """Whether the value is a named tuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _no_composites(expand_composites):
    if expand_composites:
        raise NotImplementedError("expand_composites=True: take the parts of a SparseTensor or IndexedSlices apart")


def _keys(mapping):
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError(f"nest only supports dicts with sortable keys, got the keys {list(mapping)}") from None


def _entries(structure):
    """The pairs of a key and a value, in the order of the leaves."""
    if isinstance(structure, collections.abc.Mapping):
        return [(key, structure[key]) for key in _keys(structure)]
    if is_namedtuple(structure):
        return list(zip(structure._fields, structure))
    return list(enumerate(structure))


def _values(structure):
    return [value for _, value in _entries(structure)]


def _like(structure, values):
    """A structure of the type of `structure` with these values, which are in the order of _entries."""
    if isinstance(structure, collections.abc.Mapping):
        by_key = dict(zip(_keys(structure), values))
        pairs = [(key, by_key[key]) for key in structure]
        if isinstance(structure, collections.defaultdict):
            return type(structure)(structure.default_factory, pairs)
        return type(structure)(pairs)
    if is_namedtuple(structure):
        return type(structure)(*values)
    if isinstance(structure, (range, collections.abc.MappingView)):
        return list(values)
    return type(structure)(values)


def flatten(structure, expand_composites=False):
    """The leaves of a structure, as a list. The list of a leaf has this leaf."""
    _no_composites(expand_composites)
    if not is_nested(structure):
        return [structure]
    return [leaf for value in _values(structure) for leaf in flatten(value)]


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """A structure like `structure`, whose leaves are the items of `flat_sequence`."""
    _no_composites(expand_composites)
    if not is_nested(flat_sequence):
        raise TypeError(f"the leaves of a structure must be a sequence, got {flat_sequence!r} of type "
                        f"{type(flat_sequence).__name__}")
    leaves = list(flat_sequence)
    wanted = len(flatten(structure))
    if wanted != len(leaves):
        raise ValueError(f"the structure {structure!r} has {wanted} leaves, but there are {len(leaves)} items: "
                         f"{leaves!r}")
    rest = iter(leaves)

    def pack(part):
        return _like(part, [pack(value) for value in _values(part)]) if is_nested(part) else next(rest)

    return pack(structure)


def _same_type(first, second):
    if isinstance(first, collections.abc.Mapping):
        return isinstance(second, collections.abc.Mapping)
    if is_namedtuple(first) and is_namedtuple(second):
        return type(first).__name__ == type(second).__name__ and first._fields == second._fields
    return type(first) is type(second)


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """Raises ValueError if the structures differ, and TypeError if only the types of sequences do."""
    _no_composites(expand_composites)
    _compare(nest1, nest2, check_types, f"the structures {nest1!r} and {nest2!r} differ: ")


def _compare(first, second, check_types, start):
    if is_nested(first) != is_nested(second):
        nested, leaf = (first, second) if is_nested(first) else (second, first)
        raise ValueError(f"{start}{nested!r} is a structure, but {leaf!r} is a leaf")
    if not is_nested(first):
        return
    if check_types and not _same_type(first, second):
        raise TypeError(f"{start}{first!r} is a {type(first).__name__}, but {second!r} is a {type(second).__name__}")
    if isinstance(first, collections.abc.Mapping) and isinstance(second, collections.abc.Mapping):
        if set(first) != set(second):
            raise ValueError(f"{start}the keys are {list(first)} and {list(second)}")
    if len(first) != len(second):
        raise ValueError(f"{start}{first!r} has {len(first)} elements, and {second!r} has {len(second)}")
    for a, b in zip(_values(first), _values(second)):
        _compare(a, b, check_types, start)


def _options(arguments):
    unknown = sorted(set(arguments) - {"check_types", "expand_composites"})
    if unknown:
        raise ValueError(f"the keyword arguments are check_types and expand_composites, not {unknown[0]!r}")
    _no_composites(arguments.get("expand_composites", False))
    return arguments.get("check_types", True)


def map_structure(func, *structure, **kwargs):
    """A structure like the first one. Its leaves are `func` of the leaves of all structures at the same place."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func!r}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = _options(kwargs)
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    return pack_sequence_as(structure[0], [func(*leaves) for leaves in zip(*[flatten(s) for s in structure])])


def assert_shallow_structure(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """Raises ValueError or TypeError unless `input_tree` has the structure `shallow_tree` at its top."""
    _no_composites(expand_composites)
    if not is_nested(shallow_tree):
        return
    if not is_nested(input_tree):
        raise TypeError(f"{shallow_tree!r} is a structure, so {input_tree!r} must be one, but is a "
                        f"{type(input_tree).__name__}")
    if check_types and not _same_type(shallow_tree, input_tree):
        raise TypeError(f"{shallow_tree!r} is a {type(shallow_tree).__name__}, but {input_tree!r} is a "
                        f"{type(input_tree).__name__}")
    if isinstance(shallow_tree, collections.abc.Mapping):
        missing = [key for key in shallow_tree if key not in input_tree]
        if missing:
            raise ValueError(f"the structure has no key {missing[0]!r}; its keys are {list(input_tree)}")
    if len(shallow_tree) != len(input_tree):
        raise ValueError(f"{shallow_tree!r} has {len(shallow_tree)} elements, and {input_tree!r} has {len(input_tree)}")
    for shallow, value in _pairs(shallow_tree, input_tree):
        assert_shallow_structure(shallow, value, check_types)


def _pairs(shallow_tree, input_tree):
    if isinstance(shallow_tree, collections.abc.Mapping):
        return [(value, input_tree[key]) for key, value in _entries(shallow_tree)]
    return list(zip(_values(shallow_tree), _values(input_tree)))


def flatten_up_to(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """The parts of `input_tree` that are where the leaves of `shallow_tree` are, as a list."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites)

    def parts(shallow, value):
        if not is_nested(shallow):
            return [value]
        return [part for pair in _pairs(shallow, value) for part in parts(*pair)]

    return parts(shallow_tree, input_tree)


def map_structure_up_to(shallow_tree, func, *inputs, **kwargs):
    """A structure like `shallow_tree`. Its leaves are `func` of the parts of all inputs at the same place."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types = _options(kwargs)
    columns = [flatten_up_to(shallow_tree, value, check_types) for value in inputs]
    return pack_sequence_as(shallow_tree, [func(*parts) for parts in zip(*columns)])


def flatten_with_tuple_paths(structure, expand_composites=False):
    """The pairs of the path of a leaf, as a tuple of keys and positions, and the leaf."""
    _no_composites(expand_composites)
    if not is_nested(structure):
        return [((), structure)]
    return [((key,) + path, leaf) for key, value in _entries(structure)
            for path, leaf in flatten_with_tuple_paths(value)]


def flatten_with_joined_string_paths(structure, separator="/", expand_composites=False):
    """The pairs of the path of a leaf, as a string, and the leaf."""
    return [(separator.join(str(key) for key in path), leaf)
            for path, leaf in flatten_with_tuple_paths(structure, expand_composites)]


def flatten_dict_items(dictionary):
    """A dictionary in which each key that is a structure is replaced by its leaves, with the leaves of the value."""
    flat = {}
    for key, value in dictionary.items():
        keys, values = (flatten(key), flatten(value)) if is_nested(key) else ([key], [value])
        if len(keys) != len(values):
            raise ValueError(f"the key {key!r} has {len(keys)} leaves, but its value {value!r} has {len(values)}")
        for leaf, part in zip(keys, values):
            if leaf in flat:
                raise ValueError(f"the key {leaf!r} occurs more than once")
            flat[leaf] = part
    return flat
