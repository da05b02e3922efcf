// Reads the growing tables of a checkpoint: nine tensors for each part of a table, and for each slot of a part
// (docs/design/0013-checkpoints.md).
#ifndef TENSORBRAID_CLI_TABLE_SAVED_TABLES_READER_H_
#define TENSORBRAID_CLI_TABLE_SAVED_TABLES_READER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/bundle_reader.h"

namespace tensorbraid {

// A growing table as it was saved.
struct TableInCheckpoint {
  std::string name;                     // of the whole table: "users"
  std::vector<std::string> parts = {};  // "users/part_0", ...; "users" alone if it has no parts
  std::vector<std::string> slots = {};  // of optimizers: "Adagrad"
  int64_t rows = 0;
  int64_t dim = 0;
  bool has_frequencies = false;
};

// A row that was saved.
struct SavedRow {
  int64_t key = 0;
  int64_t version = -1;                            // the global step of the last update; -1 if it was not saved
  std::optional<int64_t> frequency = {};           // how often updates had the key, in tables that count
  std::span<const float> numbers = {};             // of the table, [dim]
  std::vector<std::span<const float>> slots = {};  // those of each slot, if they were asked for
};

// Not thread-safe. Reads one part at a time into memory, since the bytes of a tensor have one checksum.
class SavedTablesReader {
 public:
  // NotFound if the checkpoint does not exist, DataLoss if it is damaged.
  static StatusOr<SavedTablesReader> Open(const std::string& prefix);

  // Sorted by name. A table whose tensors do not belong together is DataLoss.
  const std::vector<TableInCheckpoint>& tables() const { return tables_; }
  // NotFound lists the tables, or suggests the nearest name.
  StatusOr<TableInCheckpoint> Find(const std::string& name) const;

  // Calls `visit` for each row, in the order of the checkpoint: by part, then by key modulo 1,000. The spans are valid
  // during the call. Ends at the first error. DataLoss if tensors do not have the bytes that were saved.
  Status ForEachRow(const TableInCheckpoint& table, bool slots, const std::function<Status(const SavedRow&)>& visit);

 private:
  explicit SavedTablesReader(std::unique_ptr<BundleReader> reader) : reader_(std::move(reader)) {}
  Status FindTables();

  std::unique_ptr<BundleReader> reader_;
  std::vector<TableInCheckpoint> tables_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_TABLE_SAVED_TABLES_READER_H_
