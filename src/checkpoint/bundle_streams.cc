#include "checkpoint/bundle_streams.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "checkpoint/bundle_writer.h"
#include "checkpoint/tensor_bundle.pb.h"
#include "core/system/direct_block.h"
#include "core/text/strings.h"
#include "core/values/crc32c.h"
#include "io/file.h"

namespace tensorbraid {

StatusOr<std::unique_ptr<BundleStreams>> BundleStreams::Create(const std::string& prefix, int num_files,
                                                               bool has_thread) {
  TF_RETURN_IF_ERROR(CheckBundlePrefix(prefix));
  TF_RETURN_IF_ERROR(MakeDirectory(DirectoryOf(prefix)));
  return std::unique_ptr<BundleStreams>(new BundleStreams(prefix, num_files, has_thread));
}

// Each file may hold a block, and some more wait to be written.
BundleStreams::BundleStreams(const std::string& prefix, int num_files, bool has_thread)
    : prefix_(prefix),
      files_(static_cast<size_t>(num_files)),
      writer_(static_cast<size_t>(num_files) + 4, has_thread) {}
BundleStreams::~BundleStreams() = default;

Status BundleStreams::EnsureFile(int file) {
  auto& made = files_[static_cast<size_t>(file)].file;
  if (made != nullptr) return OkStatus();
  TF_ASSIGN_OR_RETURN(made, AtomicFile::Create(BundleDataName(prefix_, file, static_cast<int>(files_.size()))));
  return OkStatus();
}

Status BundleStreams::Append(int file, std::string_view bytes) {
  constexpr int64_t kFew = int64_t{1} << 20;
  File& to = files_[static_cast<size_t>(file)];
  to.size += static_cast<int64_t>(bytes.size());
  to.crc = Crc32c(bytes, to.crc);
  if (to.file != nullptr) return Fill(to, bytes);
  to.few.append(bytes);
  if (to.size < kFew) return OkStatus();
  TF_RETURN_IF_ERROR(EnsureFile(file));
  return Fill(to, std::exchange(to.few, {}));
}

Status BundleStreams::Fill(File& file, std::string_view bytes) {
  while (!bytes.empty()) {
    if (file.block == nullptr) file.block = writer_.Take();
    if (file.block == nullptr) return ResourceExhausted("there is no memory to write checkpoint ", prefix_);
    const size_t piece = std::min(bytes.size(), kDirectBlock - file.filled);
    std::memcpy(file.block.get() + file.filled, bytes.data(), piece);
    file.filled += piece;
    bytes.remove_prefix(piece);
    if (file.filled == kDirectBlock) TF_RETURN_IF_ERROR(WriteBlock(file));
  }
  return OkStatus();
}

Status BundleStreams::WriteBlock(File& file) {
  if (file.block == nullptr) return OkStatus();
  if (file.filled == kDirectBlock && !file.is_large) {
    file.is_large = true;
    file.file->BypassPageCache();
  }
  return writer_.Write(*file.file, std::move(file.block), std::exchange(file.filled, 0));
}

Status BundleStreams::End(int file, const std::string& name, DType dtype, const Shape& shape) {
  File& of = files_[static_cast<size_t>(file)];
  const int64_t size = of.size - of.begin;
  if (size != shape.num_elements() * static_cast<int64_t>(DTypeSize(dtype))) {
    return InvalidArgument("the tensor '", name, "' is ", dtype, shape, ", but ", size, " bytes were written");
  }
  const auto [it, is_new] = entries_.try_emplace(name);
  if (!is_new) return InvalidArgument("the checkpoint already has a tensor '", name, "'");
  proto::BundleEntryProto& entry = it->second;
  entry.set_dtype(static_cast<int32_t>(dtype));
  entry.mutable_shape();
  for (const int64_t d : shape.dims()) entry.mutable_shape()->add_dim()->set_size(d);
  entry.set_shard_id(file);
  entry.set_offset(of.begin);
  entry.set_size(size);
  entry.set_crc32c(MaskCrc(of.crc));
  of.begin = of.size;
  of.crc = 0;
  return OkStatus();
}

Status BundleStreams::AddAgain(const std::string& name, const std::string& earlier) {
  const auto of = entries_.find(earlier);
  if (of == entries_.end()) return NotFound("the checkpoint has no tensor '", earlier, "'");
  const proto::BundleEntryProto entry = of->second;
  if (entries_.try_emplace(name, entry).second) return OkStatus();
  return InvalidArgument("the checkpoint already has a tensor '", name, "'");
}

Status BundleStreams::Add(int file, const std::string& name, const Tensor& tensor) {
  TF_RETURN_IF_ERROR(Append(file, {static_cast<const char*>(tensor.raw_data()), tensor.num_bytes()}));
  return End(file, name, tensor.dtype(), tensor.shape());
}

Status BundleStreams::Finish() {
  const auto is_made = [](const File& file) { return file.file != nullptr; };
  if (std::ranges::none_of(files_, is_made)) {
    TF_RETURN_IF_ERROR(EnsureFile(0));
    TF_RETURN_IF_ERROR(files_[0].file->Append(files_[0].few));
  }
  for (File& file : files_) TF_RETURN_IF_ERROR(WriteBlock(file));
  TF_RETURN_IF_ERROR(writer_.Wait());
  File& shared = *std::ranges::find_if(files_, is_made);
  std::vector<int> numbers(files_.size());     // those that the files get
  std::vector<int64_t> begins(files_.size());  // where their bytes begin in these
  int made = 0;
  for (size_t i = 0; i < files_.size(); ++i) {
    File& file = files_[i];
    if (is_made(file)) {
      numbers[i] = made++;
    } else {
      begins[i] = shared.size;  // in the first file, whose number is 0
      TF_RETURN_IF_ERROR(shared.file->Append(file.few));
      shared.size += file.size;
    }
  }
  for (File& file : files_) {
    if (is_made(file)) TF_RETURN_IF_ERROR(file.file->Sync());
  }
  for (auto& [name, entry] : entries_) {
    const auto file = static_cast<size_t>(entry.shard_id());
    entry.set_offset(entry.offset() + begins[file]);
    entry.set_shard_id(numbers[file]);
  }
  const BundleLock lock(prefix_);
  BundleFiles files(prefix_, made);
  for (size_t i = 0; i < files_.size(); ++i) {
    if (!is_made(files_[i])) continue;
    const Status committed = files_[i].file->CommitAs(files.DataName(numbers[i]));
    if (files_[i].file->renamed()) files.Added();
    TF_RETURN_IF_ERROR(committed);
  }
  return files.Commit(entries_);
}

}  // namespace tensorbraid
