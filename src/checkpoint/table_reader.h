// Reading sorted tables in LevelDB's format: indices of tensor bundles, and checkpoints of version 1.
#ifndef TENSORBRAID_CHECKPOINT_TABLE_READER_H_
#define TENSORBRAID_CHECKPOINT_TABLE_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Iterates over the entries of one block, in order. Checks the block while it reads.
class BlockIterator {
 public:
  BlockIterator() = default;
  // `block` must outlive the iterator.
  explicit BlockIterator(std::string_view block);

  // Moves to the first entry, or to the first one whose key is not less than `key`.
  void SeekToFirst();
  void Seek(std::string_view key);
  // REQUIRES: valid().
  void Next();
  // Whether the iterator is at an entry. False at the end and after an error.
  bool valid() const { return valid_; }
  const std::string& key() const { return key_; }
  std::string_view value() const { return value_; }
  // DataLoss for a malformed block.
  const Status& status() const { return status_; }

 private:
  // Reads the entry at `next_`. Its key must be greater than the one before, unless `first` is true.
  void Parse(bool first);
  void Fail(const char* why);
  void GoToRestart(uint32_t i);

  std::string_view entries_;
  std::string_view restarts_;
  uint32_t num_restarts_ = 0;
  size_t next_ = 0;
  bool valid_ = false;
  std::string key_;
  std::string_view value_;
  Status status_;
};

// A table in memory. Not thread-safe. Takes no more memory than the file and one key, whatever the file claims.
class TableReader {
 public:
  // DataLoss, naming `path`, if `bytes` are not a table.
  static StatusOr<std::unique_ptr<TableReader>> Open(std::string bytes, std::string path);
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  // Iterates over the entries of the table. Must not outlive it.
  class Iterator {
   public:
    explicit Iterator(TableReader* table);
    void SeekToFirst();
    void Seek(std::string_view key);
    void Next();
    bool valid() const { return status_.ok() && data_.valid(); }
    const std::string& key() const { return data_.key(); }
    std::string_view value() const { return data_.value(); }
    // DataLoss, naming the file, if the table is malformed.
    const Status& status() const { return status_; }

   private:
    // Opens the block at the index's position.
    bool OpenBlock();
    // Moves to the next block while the current one has no more entries.
    void SkipEmptyBlocks();
    bool Check(const Status& status);

    TableReader* table_;
    BlockIterator index_;
    BlockIterator data_;
    uint64_t end_of_last_ = 0;  // where the last opened block ends: the next one must not begin before
    Status status_;
  };

  const std::string& path() const { return path_; }

 private:
  TableReader(std::string bytes, std::string path) : bytes_(std::move(bytes)), path_(std::move(path)) {}
  // Removes a block handle (an offset and a size) from the front of `*handle` and returns the block. Checks the block's
  // checksum when it is first read. `*end` becomes the offset behind the block and its trailer.
  StatusOr<std::string_view> Block(std::string_view* handle, uint64_t* end = nullptr);

  const std::string bytes_;
  const std::string path_;
  std::string_view index_;
  absl::flat_hash_set<std::pair<uint64_t, uint64_t>> checked_;  // offset and size of blocks with a right checksum
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_TABLE_READER_H_
