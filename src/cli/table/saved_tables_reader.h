// Reads the growing tables of a checkpoint: nine tensors for each part of a table, and for each slot of a part
// (docs/design/0013-checkpoints.md), and those of the increments that follow it (docs/design/0036-increments.md).
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
  int64_t rows = 0;                     // in the checkpoint, without its increments
  int64_t dim = 0;                      // how many numbers a row has
  std::vector<int64_t> slot_dims = {};  // the same for the slots; some have one number for each row
  bool has_frequencies = false;         // whether any row has one, also in the increments
};

// A row that was saved.
struct SavedRow {
  int64_t key = 0;
  int64_t version = -1;                            // the global step of the last update; -1 if it was not saved
  std::optional<int64_t> frequency = {};           // how often updates had the key, in tables that count
  std::span<const float> numbers = {};             // of the table, [dim]
  std::vector<std::span<const float>> slots = {};  // those of each slot, if asked for
};

// "users" and 1 for "users/part_1"; the name itself and no number for a table without parts.
std::pair<std::string, std::optional<int>> WholeAndPart(const std::string& name);

// Gives the rows of tables.
class TableRowSource {
 public:
  virtual ~TableRowSource() = default;
  // Calls `visit` for each row, with the numbers of slots if they are asked for. The spans are valid during the call.
  // Ends at the first error.
  virtual Status ForEachRow(const TableInCheckpoint& table, bool slots,
                            const std::function<Status(const SavedRow&)>& visit) = 0;
};

// Not thread-safe. Reads one part at a time into memory, since the bytes of a tensor have one checksum.
class SavedTablesReader final : public TableRowSource {
 public:
  // Opens a full checkpoint with the increments that follow it, oldest first. NotFound if one of them does not exist,
  // DataLoss if it is damaged.
  static StatusOr<SavedTablesReader> Open(const std::string& prefix, const std::vector<std::string>& increments = {});
  // Opens one increment, whose tables have the rows that it brings.
  static StatusOr<SavedTablesReader> OpenIncrement(const std::string& prefix);

  // Sorted by name. A table whose tensors do not belong together is DataLoss.
  const std::vector<TableInCheckpoint>& tables() const { return tables_; }
  // NotFound lists the tables, or suggests the nearest name.
  StatusOr<TableInCheckpoint> Find(const std::string& name) const;

  // The number of rows with those of the increments. If there are increments, reads the keys of all of them.
  StatusOr<int64_t> CountRows(const TableInCheckpoint& table);

  // Calls `visit` for each row: first those of increments, the newest increment first, then the others. In one
  // checkpoint they come by part, then by key modulo 1,000. The spans are valid during the call. Ends at the first
  // error. DataLoss if tensors do not have the bytes that were saved.
  Status ForEachRow(const TableInCheckpoint& table, bool slots,
                    const std::function<Status(const SavedRow&)>& visit) override;
  // The keys that an increment deletes. Some may have a row in it again, which was made after that.
  StatusOr<std::vector<int64_t>> DeletedKeys(const TableInCheckpoint& table);

 private:
  enum class Kind { kFull, kIncrement };
  explicit SavedTablesReader(std::unique_ptr<BundleReader> reader) : reader_(std::move(reader)) {}
  static StatusOr<SavedTablesReader> OpenOne(const std::string& prefix, Kind kind);
  Status FindTables(Kind kind);
  Status ForEachRowHere(const TableInCheckpoint& table, bool slots,
                        const std::function<Status(const SavedRow&)>& visit);
  // As ForEachRow, with the keys alone.
  Status ForEachKeyHere(const TableInCheckpoint& table, const std::function<void(int64_t key)>& visit);

  std::unique_ptr<BundleReader> reader_;
  std::vector<SavedTablesReader> increments_;  // oldest first
  std::vector<TableInCheckpoint> tables_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_TABLE_SAVED_TABLES_READER_H_
