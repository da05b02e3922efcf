#include "checkpoint/table_writer.h"

#include <algorithm>

#include "checkpoint/coding.h"
#include "core/text/strings.h"
#include "core/values/crc32c.h"

namespace tensorbraid {
namespace {

// The size that TensorFlow uses. Blocks are large because a bundle's index is read from beginning to end more often
// than it is searched.
constexpr size_t kBlockSize = 1 << 18;

size_t SharedPrefix(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

// Returns a short key that is not less than `last`, but less than `next`.
std::string Between(const std::string& last, std::string_view next) {
  const size_t shared = SharedPrefix(last, next);
  if (shared == last.size() || shared == next.size()) return last;
  const auto byte = static_cast<unsigned char>(last[shared]);
  if (byte == 0xff || byte + 1 >= static_cast<unsigned char>(next[shared])) return last;
  std::string key = last.substr(0, shared + 1);
  ++key[shared];
  return key;
}

// Returns a short key that is not less than `last`.
std::string After(const std::string& last) {
  const auto larger = std::find_if(last.begin(), last.end(), [](char c) { return c != '\xff'; });
  if (larger == last.end()) return last;
  std::string key(last.begin(), larger + 1);
  ++key.back();
  return key;
}

}  // namespace

void BlockBuilder::Add(std::string_view key, std::string_view value) {
  size_t shared = 0;
  if (entries_ > 0 && entries_ % restart_interval_ == 0) {
    restarts_.push_back(static_cast<uint32_t>(bytes_.size()));
  } else if (entries_ > 0) {
    shared = SharedPrefix(last_key_, key);
  }
  PutVarint(shared, &bytes_);
  PutVarint(key.size() - shared, &bytes_);
  PutVarint(value.size(), &bytes_);
  bytes_.append(key.substr(shared));
  bytes_.append(value);
  last_key_ = key;
  ++entries_;
}

std::string BlockBuilder::Finish() {
  for (const uint32_t restart : restarts_) PutFixed(restart, &bytes_);
  PutFixed(static_cast<uint32_t>(restarts_.size()), &bytes_);
  std::string block = std::move(bytes_);
  bytes_.clear();
  last_key_.clear();
  restarts_ = {0};
  entries_ = 0;
  return block;
}

Status TableWriter::Add(std::string_view key, std::string_view value) {
  if (key.size() > kMaxKeySize) {
    return InvalidArgument("a name of ", key.size(), " bytes is too long for a checkpoint; at most ", kMaxKeySize,
                           " are allowed");
  }
  if (any_ && key <= last_key_) return InvalidArgument("the keys of a table must be added in order, each once");
  if (!pending_handle_.empty()) {
    index_.Add(Between(last_key_, key), pending_handle_);
    pending_handle_.clear();
  }
  data_.Add(key, value);
  last_key_ = key;
  any_ = true;
  return data_.size() >= kBlockSize ? WriteDataBlock() : OkStatus();
}

Status TableWriter::WriteDataBlock() { return data_.empty() ? OkStatus() : WriteBlock(&data_, &pending_handle_); }

Status TableWriter::WriteBlock(BlockBuilder* block, std::string* handle) {
  std::string bytes = block->Finish();
  PutVarint(offset_, handle);
  PutVarint(bytes.size(), handle);
  bytes.push_back('\0');
  PutFixed(MaskCrc(Crc32c(bytes)), &bytes);
  offset_ += bytes.size();
  return file_->Append(bytes);
}

Status TableWriter::Finish() {
  TF_RETURN_IF_ERROR(WriteDataBlock());
  std::string footer;
  BlockBuilder no_meta(/*restart_interval=*/16);  // the format requires a block for metadata
  TF_RETURN_IF_ERROR(WriteBlock(&no_meta, &footer));
  if (!pending_handle_.empty()) index_.Add(After(last_key_), pending_handle_);
  TF_RETURN_IF_ERROR(WriteBlock(&index_, &footer));
  footer.resize(kTableFooterSize - sizeof kTableMagic);
  PutFixed(kTableMagic, &footer);
  return file_->Append(footer);
}

}  // namespace tensorbraid
