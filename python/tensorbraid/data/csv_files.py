"""Datasets of CSV files whose columns have names."""

import collections
import csv
import gzip
import io
import itertools
import zlib

import numpy as np

from tensorbraid import dtypes, gfile
from tensorbraid.data.readers import CsvDataset
from tensorbraid.internal import graphs

__all__ = ["column_defaults_of", "column_names_of", "columns_of", "named_rows"]

_FLOATS = {dtypes.float32: np.finfo(np.float32), dtypes.float64: np.finfo(np.float64)}
_INTEGERS = {dtypes.int32: np.iinfo(np.int32), dtypes.int64: np.iinfo(np.int64)}
_TYPES = [*_INTEGERS, *_FLOATS, dtypes.string]


def _records(names, delimiter, quotes, compression):
    """For each file, a csv.reader of its rows. Its `line_num` is the line where the last row ended."""
    for name in names:
        with gfile.Open(name, "rb") as file:
            data = file.read()
        data = {"GZIP": gzip.decompress, "ZLIB": zlib.decompress}.get(compression, bytes)(data)
        yield csv.reader(io.StringIO(data.decode(), newline=""), delimiter=delimiter,
                         quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)


def column_names_of(names, delimiter, quotes, compression):
    """The names in the first rows of the files, which must be the same in all."""
    headers = [next(records, []) for records in _records(names, delimiter, quotes, compression)]
    for name, header in zip(names, headers):
        if header != headers[0]:
            raise ValueError("All input CSV files should have the same column names in the header row. The columns of "
                             f"{names[0]} are {headers[0]}, but those of {name} are {header}.")
    return headers[0]


def _fits(text, dtype):
    try:
        if dtype in _INTEGERS:
            return _INTEGERS[dtype].min <= int(text) <= _INTEGERS[dtype].max
        return dtype == dtypes.string or -_FLOATS[dtype].max <= float(text) <= _FLOATS[dtype].max
    except ValueError:
        return False


def column_defaults_of(names, columns, count, delimiter, quotes, na_value, header, limit, compression):
    """Zeros or empty texts of the types that hold the values of the chosen columns in the first rows."""
    types = dict.fromkeys(columns)
    rows = ((f"{name}:{records.line_num}", row)
            for name, records in zip(names, _records(names, delimiter, quotes, compression))
            for row in itertools.islice(records, bool(header), None))
    for where, row in itertools.islice(rows, limit):
        if len(row) != count:
            raise ValueError(f"Problem inferring types: {where}: CSV row {row} has {len(row)} number of fields. "
                             f"Expected: {count}.")
        for column in columns:
            if row[column] not in ("", na_value):
                first = _TYPES.index(types[column] or dtypes.int32)
                types[column] = next(dtype for dtype in _TYPES[first:] if _fits(row[column], dtype))
    found = [types[column] or dtypes.string for column in columns]
    return [graphs.constant([0 if dtype != dtypes.string else ""], dtype) for dtype in found]


def columns_of(select, names):
    """The numbers of the chosen columns, in the order of the file."""
    if select is None:
        return list(range(len(names)))
    for column in select:
        if isinstance(column, str) and column not in names:
            raise ValueError(f"Value '{column}', specified in `select_columns`, is not a name of a column: {names}")
        if not isinstance(column, str) and not 0 <= column < len(names):
            raise ValueError(f"Index {column} of `select_columns` is not the number of one of {len(names)} columns")
    numbers = [names.index(column) if isinstance(column, str) else column for column in select]
    if len(set(numbers)) != len(numbers):
        raise ValueError("`select_columns` must not name a column twice")
    return sorted(numbers)


def named_rows(name, defaults, columns, names, header, delimiter, quotes, na_value, compression):
    """The rows of a file, as dictionaries of columns."""
    rows = CsvDataset(name, defaults, select_cols=columns, header=header, field_delim=delimiter, use_quote_delim=quotes,
                      na_value=na_value, compression_type=compression)
    chosen = [names[column] for column in columns]
    return rows.map(lambda *values: collections.OrderedDict(zip(chosen, values)))
