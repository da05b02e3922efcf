// Writing sorted tables of keys and values in LevelDB's format, without compression: indices of tensor bundles, and
// checkpoints of version 1.
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
// Two block handles (offset and size) of at most 20 bytes each, and the magic number.
inline constexpr size_t kTableFooterSize = 48;
// Longer keys are neither written nor accepted by the reader. (A key can share most of its bytes with the one before:
// without a limit, a small file could claim any number of large keys.)
inline constexpr size_t kMaxKeySize = 8192;

// Builds one block. Each entry stores its key without the prefix that it shares with the key before it. Every
// `restart_interval`-th entry is a restart point, which stores its whole key.
class BlockBuilder {
 public:
  explicit BlockBuilder(int restart_interval) : restart_interval_(restart_interval) {}
  // REQUIRES: `key` is greater than all keys before it.
  void Add(std::string_view key, std::string_view value);
  // The size of the block so far, as it will be in the file.
  size_t size() const { return bytes_.size() + 4 * restarts_.size() + 4; }
  bool empty() const { return entries_ == 0; }
  // Ends the block, returns its bytes, and begins another one.
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
  // Writes `block` and appends its handle to `*handle`.
  Status WriteBlock(BlockBuilder* block, std::string* handle);

  AtomicFile* const file_;
  BlockBuilder data_{/*restart_interval=*/16};
  BlockBuilder index_{/*restart_interval=*/1};
  std::string last_key_;
  bool any_ = false;
  // Handle of the last finished data block. Its index entry is added when the next key is known.
  std::string pending_handle_;
  uint64_t offset_ = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_TABLE_WRITER_H_
