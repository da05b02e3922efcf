#include "checkpoint/tensor_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/text/strings.h"
#include "core/values/crc32c.h"

namespace tensorbraid {
namespace {

constexpr uint64_t kMuchToStream = uint64_t{8} << 20, kStreamBlock = uint64_t{2} << 20;

}  // namespace

TensorStream::TensorStream(std::unique_ptr<RandomAccessFile> file, Extent extent)
    : file_(std::move(file)), extent_(std::move(extent)), left_(extent_.size) {
  if (extent_.size < kMuchToStream) return;
  block_ = MakeDirectBlock(kStreamBlock);
  if (block_ != nullptr) file_->BypassPageCache();
}

TensorStream::TensorStream(Tensor tensor) : tensor_(std::move(tensor)) { left_ = extent_.size = tensor_.num_bytes(); }

Status TensorStream::ReadBytes(size_t size, char* out) {
  uint64_t at = extent_.offset + (extent_.size - left_);
  if (file_ == nullptr) {
    std::memcpy(out, static_cast<const char*>(tensor_.raw_data()) + at, size);
    return OkStatus();
  }
  if (block_ == nullptr) return file_->Read(at, size, out);
  while (size > 0) {
    if (at >= block_end_) {
      block_at_ = at / kDirectAlignment * kDirectAlignment;
      // Bytes of the file after the tensor complete the last piece.
      block_end_ = std::min(block_at_ + kStreamBlock, file_->size());
      const Status read = file_->Read(block_at_, static_cast<size_t>(block_end_ - block_at_), block_.get());
      if (!read.ok()) {
        block_end_ = 0;
        return read;
      }
    }
    const size_t piece = std::min<size_t>(size, static_cast<size_t>(block_end_ - at));
    std::memcpy(out, block_.get() + (at - block_at_), piece);
    out += piece;
    at += piece;
    size -= piece;
  }
  return OkStatus();
}

Status TensorStream::Read(size_t size, void* out) {
  TF_RETURN_IF_ERROR(ReadBytes(size, static_cast<char*>(out)));
  left_ -= size;
  if (file_ == nullptr) return OkStatus();
  crc_ = Crc32c({static_cast<const char*>(out), size}, crc_);
  if (left_ > 0 || crc_ == extent_.crc) return OkStatus();
  return DataLoss(extent_.what, " has a wrong checksum");
}

}  // namespace tensorbraid
