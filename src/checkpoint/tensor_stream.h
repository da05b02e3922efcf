// Reading a tensor of a bundle piece by piece.
#ifndef TENSORBRAID_CHECKPOINT_TENSOR_STREAM_H_
#define TENSORBRAID_CHECKPOINT_TENSOR_STREAM_H_

#include <cstdint>
#include <memory>
#include <string>

#include "core/system/direct_block.h"
#include "core/system/env.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// The bytes of a tensor that may be too large for memory, from front to back. BundleReader::Stream makes it, and need
// not outlive it. Not thread-safe; blocks for as long as the file system does.
class TensorStream {
 public:
  // Where the bytes are in a file, and their checksum. `what` begins the message of a wrong checksum. The caller has
  // checked that the file is as long.
  struct Extent {
    uint64_t offset = 0;
    uint64_t size = 0;
    uint32_t crc = 0;
    std::string what;
  };
  // A file with many bytes is read past the page cache.
  TensorStream(std::unique_ptr<RandomAccessFile> file, Extent extent);
  // A tensor that is in memory, and was verified. REQUIRES: its dtype is one of numbers.
  explicit TensorStream(Tensor tensor);

  // The bytes that were not read yet.
  uint64_t left() const { return left_; }
  // Reads the next `size` bytes. DataLoss if these are the last ones, and the checksum of all bytes is wrong. Until
  // then, what was read is not verified. REQUIRES: size <= left().
  Status Read(size_t size, void* out);

 private:
  Status ReadBytes(size_t size, char* out);

  std::unique_ptr<RandomAccessFile> file_;  // null: the bytes are in tensor_
  Tensor tensor_;
  Extent extent_;
  uint64_t left_ = 0;
  uint32_t crc_ = 0;        // of the bytes that were read
  DirectBlock block_;       // null: reads go straight to the caller's memory
  uint64_t block_at_ = 0;   // where the block begins in the file
  uint64_t block_end_ = 0;  // where it ends
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_TENSOR_STREAM_H_
