// Sorted tables of keys and values as LevelDB writes them, without compression: the index of a tensor bundle.
#ifndef TENSORBRAID_CHECKPOINT_TABLE_WRITER_H_
#define TENSORBRAID_CHECKPOINT_TABLE_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/files.h"

namespace tensorbraid {

// The last eight bytes of every table.
inline constexpr uint64_t kTableMagic = 0xdb4775248b80fb57;
// After each block: a byte for the compression (0: none) and a masked checksum of the block and that byte.
inline constexpr size_t kBlockTrailerSize = 5;
// Two handles of at most 20 bytes and the magic number.
inline constexpr size_t kTableFooterSize = 48;
// Longer keys are not written, and refused when read. (A key can share most of itself with the one before: without a
// limit a small file could hold any number of large ones.)
inline constexpr size_t kMaxKeySize = 8192;

// One block: entries whose keys share a prefix with the one before, except at every `restart_interval`-th.
class BlockBuilder {
 public:
  explicit BlockBuilder(int restart_interval) : restart_interval_(restart_interval) {}
  // REQUIRES: `key` is greater than any before.
  void Add(std::string_view key, std::string_view value);
  // The block so far, as it will be in the file.
  size_t size() const { return bytes_.size() + 4 * restarts_.size() + 4; }
  bool empty() const { return entries_ == 0; }
  // Ends the block and begins another one.
  std::string Finish();

 private:
  const int restart_interval_;
  std::string bytes_;
  std::string last_key_;
  std::vector<uint32_t> restarts_ = {0};
  int entries_ = 0;
};

// Writes a table to a file that the caller commits. Not thread-safe.
class TableWriter {
 public:
  explicit TableWriter(AtomicFile* file) : file_(file) {}
  // InvalidArgument when `key` is not greater than the one before, or too long.
  Status Add(std::string_view key, std::string_view value);
  Status Finish();

 private:
  Status WriteDataBlock();
  // Appends its handle to `*handle`.
  Status WriteBlock(BlockBuilder* block, std::string* handle);

  AtomicFile* const file_;
  BlockBuilder data_{16};
  BlockBuilder index_{1};
  std::string last_key_;
  bool any_ = false;
  // Of the block before this one, whose place in the index is made when the next key is known.
  std::string waiting_handle_;
  uint64_t offset_ = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_TABLE_WRITER_H_
