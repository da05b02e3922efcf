// Makes the texts that `tensorbraid table` prints.
#ifndef TENSORBRAID_CLI_TABLE_TABLE_REPORT_H_
#define TENSORBRAID_CLI_TABLE_TABLE_REPORT_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/table/saved_tables_reader.h"

namespace tensorbraid {

// A line for each growing table: rows, numbers per row, parts, slots, and the bytes of the numbers with those of slots.
StatusOr<std::string> DescribeTables(SavedTablesReader& reader);

// The key that a word stands for: the word's number, or, with `hash`, the key that feature columns make of a string:
// its fingerprint modulo 2^63 - 1. InvalidArgument if the word is no 64-bit number.
StatusOr<int64_t> KeyOf(const std::string& word, bool hash);

struct RowsText {
  std::string text;
  int64_t missing = 0;  // keys that have no row
};
// The rows of the keys, in their order; `words` are what the user called them.
StatusOr<RowsText> DescribeRows(TableRowSource& reader, const TableInCheckpoint& table,
                                const std::vector<std::string>& words, const std::vector<int64_t>& keys, bool slots);

enum class RowOrder { kNorm, kFrequency, kVersion };
// The `count` rows with the largest L2 norm or frequency, or the latest updates. FailedPrecondition if the table does
// not have what the order needs.
StatusOr<std::string> DescribeTopRows(TableRowSource& reader, const TableInCheckpoint& table, RowOrder order,
                                      int count);

// Writes all rows as CSV with a headline: key, version, frequency if the table counts, and the numbers v0, v1, ...;
// with `slots` also "Adagrad:0", .... Each number is the shortest text from which the same float is read.
Status WriteRows(TableRowSource& reader, const TableInCheckpoint& table, bool slots, std::ostream& out);
// As WriteRows. A file has its name only once it is whole. A pipe or a device gets the rows as they come.
Status WriteRowsToFile(TableRowSource& reader, const TableInCheckpoint& table, bool slots, const std::string& path);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_TABLE_TABLE_REPORT_H_
