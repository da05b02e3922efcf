#include "checkpoint/bundle_writer.h"

#include <limits>

#include "absl/strings/str_format.h"
#include "checkpoint/bundle_reader.h"
#include "checkpoint/coding.h"
#include "checkpoint/table_writer.h"
#include "checkpoint/tensor_bundle.pb.h"
#include "core/text/strings.h"
#include "core/values/crc32c.h"
#include "core/values/tensor_value.h"
#include "graph/format/tensor_proto.h"

namespace tensorbraid {

std::string BundleIndexName(const std::string& prefix) { return prefix + ".index"; }

std::string BundleDataName(const std::string& prefix, int shard, int num_shards) {
  return absl::StrFormat("%s.data-%05d-of-%05d", prefix, shard, num_shards);
}

Status CheckBundlePrefix(const std::string& prefix) {
  if (!prefix.empty() && !prefix.ends_with('/')) return OkStatus();
  return InvalidArgument("'", prefix, "' is not a path for a checkpoint; it must end with a file name");
}

StatusOr<std::unique_ptr<BundleWriter>> BundleWriter::Create(const std::string& prefix) {
  TF_RETURN_IF_ERROR(CheckBundlePrefix(prefix));
  TF_RETURN_IF_ERROR(MakeDirectory(DirectoryOf(prefix)));
  std::unique_ptr<BundleWriter> writer(new BundleWriter(prefix));
  TF_ASSIGN_OR_RETURN(writer->data_, AtomicFile::Create(BundleDataName(prefix, 0, 1)));
  return writer;
}

BundleWriter::BundleWriter(const std::string& prefix) : prefix_(prefix) {}
BundleWriter::~BundleWriter() = default;

Status BundleWriter::Append(std::string_view bytes, uint32_t* crc) {
  // The pieces are small enough to stay in the cache between the checksum and the write.
  constexpr size_t kPiece = 1 << 18;
  constexpr size_t kMuch = size_t{8} << 20;
  if (bytes.size() >= kMuch) data_->BypassPageCache();
  size_ += static_cast<int64_t>(bytes.size());
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kPiece);
    *crc = Crc32c(piece, *crc);
    TF_RETURN_IF_ERROR(data_->Append(piece));
    bytes.remove_prefix(piece.size());
  }
  return OkStatus();
}

// Writes the lengths, their checksum, then the bytes of all strings.
Status BundleWriter::AppendStrings(const Tensor& tensor, uint32_t* crc) {
  std::string lengths;
  for (const std::string& s : tensor.data<std::string>()) {
    PutVarint(s.size(), &lengths);
    *crc = ExtendByLength(s.size(), *crc);
  }
  PutFixed(MaskCrc(*crc), &lengths);
  *crc = Crc32c(std::string_view(lengths).substr(lengths.size() - sizeof(uint32_t)), *crc);
  size_ += static_cast<int64_t>(lengths.size());
  TF_RETURN_IF_ERROR(data_->Append(lengths));
  for (const std::string& s : tensor.data<std::string>()) TF_RETURN_IF_ERROR(Append(s, crc));
  return OkStatus();
}

// Writes for each element its length, its VariantTensorDataProto, and the checksum of everything up to there.
Status BundleWriter::AppendVariants(std::string_view name, const Tensor& tensor, uint32_t* crc) {
  for (const Variant& element : tensor.data<Variant>()) {
    const auto* value = dynamic_cast<const TensorValue*>(element.value.get());
    if (value == nullptr) {
      return Unimplemented("cannot save tensor '", name,
                           "': ", element.value ? element.value->DebugString() : "an empty variant",
                           " has no stored form");
    }
    proto::VariantTensorDataProto data;
    data.set_type_name(kTensorVariant);
    ToProto(value->tensor, data.add_tensors());
    const std::string bytes = data.SerializeAsString();
    std::string length, length_bytes, checksum;
    PutVarint(bytes.size(), &length);
    PutFixed(uint64_t{bytes.size()}, &length_bytes);
    *crc = Crc32c(length_bytes, *crc);
    size_ += static_cast<int64_t>(length.size());
    TF_RETURN_IF_ERROR(data_->Append(length));
    TF_RETURN_IF_ERROR(Append(bytes, crc));
    PutFixed(MaskCrc(*crc), &checksum);
    TF_RETURN_IF_ERROR(Append(checksum, crc));
  }
  return OkStatus();
}

Status BundleWriter::Add(std::string_view name, const Tensor& tensor) {
  if (name.empty()) return InvalidArgument("a tensor in a checkpoint needs a name");
  if (name.size() > kMaxKeySize) {
    return InvalidArgument("the name of a tensor has ", name.size(), " bytes; at most ", kMaxKeySize, " are allowed");
  }
  if (tensor.dtype() != kString && tensor.dtype() != DType::kVariant && !IsPlain(tensor.dtype())) {
    return Unimplemented("cannot save tensor '", name, "': dtype ", tensor.dtype(), " has no stored form");
  }
  const auto [it, is_new] = entries_.try_emplace(std::string(name));
  if (!is_new) return InvalidArgument("the checkpoint already has a tensor '", name, "'");
  proto::BundleEntryProto& entry = it->second;
  entry.set_dtype(static_cast<int32_t>(tensor.dtype()));
  entry.mutable_shape();
  for (const int64_t d : tensor.shape().dims()) entry.mutable_shape()->add_dim()->set_size(d);
  entry.set_offset(size_);
  uint32_t crc = 0;
  if (tensor.dtype() == kString) {
    TF_RETURN_IF_ERROR(AppendStrings(tensor, &crc));
  } else if (tensor.dtype() == DType::kVariant) {
    TF_RETURN_IF_ERROR(AppendVariants(name, tensor, &crc));
  } else {
    TF_RETURN_IF_ERROR(Append({static_cast<const char*>(tensor.raw_data()), tensor.num_bytes()}, &crc));
  }
  entry.set_size(size_ - entry.offset());
  entry.set_crc32c(MaskCrc(crc));
  return OkStatus();
}

Status BundleWriter::AddSlice(std::string_view name, const Shape& full_shape, const TensorSlice& slice,
                              const Tensor& tensor) {
  TF_ASSIGN_OR_RETURN(const Shape shape, slice.ShapeWithin(full_shape));
  if (shape != tensor.shape()) {
    return InvalidArgument("the slice ", slice.ToString(), " of '", name, "' has shape ", shape,
                           ", but its tensor has shape ", tensor.shape());
  }
  if (shape == full_shape) return Add(name, tensor);
  if (name.empty()) return InvalidArgument("a tensor in a checkpoint needs a name");
  TF_RETURN_IF_ERROR(Add(SliceKey(name, slice), tensor));
  const auto [it, is_new] = entries_.try_emplace(std::string(name));
  proto::BundleEntryProto& entry = it->second;
  if (is_new) {
    entry.set_dtype(static_cast<int32_t>(tensor.dtype()));
    ToProto(full_shape, entry.mutable_shape());
  }
  proto::TensorShapeProto wanted;
  ToProto(full_shape, &wanted);
  if (entry.dtype() != static_cast<int32_t>(tensor.dtype()) || (!is_new && entry.slices_size() == 0) ||
      entry.shape().SerializeAsString() != wanted.SerializeAsString()) {
    return InvalidArgument("the slice ", slice.ToString(), " of '", name, "' belongs to a ", tensor.dtype(), full_shape,
                           ", but the checkpoint already has a different tensor of that name");
  }
  slice.ToProto(entry.add_slices());
  return OkStatus();
}

Status BundleWriter::Finish() {
  TF_RETURN_IF_ERROR(data_->Sync());  // takes long, so another writer need not wait for it
  const BundleLock lock(prefix_);
  BundleFiles files(prefix_, 1);
  const Status committed = data_->CommitAs(files.DataName(0));
  if (data_->renamed()) files.Added();
  TF_RETURN_IF_ERROR(committed);
  return files.Commit(entries_);
}

namespace {

// Adds the index of one bundle to `*merged`. The numbers of its shards begin at `first_shard` there.
Status Gather(BundleReader& bundle, int first_shard, BundleEntries* merged) {
  return bundle.ForEachEntry([&](const std::string& key, const proto::BundleEntryProto& entry) -> Status {
    const auto [it, is_new] = merged->try_emplace(key, entry);
    proto::BundleEntryProto& to = it->second;
    if (is_new) {
      if (to.slices_size() == 0) to.set_shard_id(to.shard_id() + first_shard);
      return OkStatus();
    }
    if (to.slices_size() == 0 || entry.slices_size() == 0) {
      return InvalidArgument("two of the checkpoints to merge have a tensor '", key, "'; one of them is ",
                             bundle.prefix());
    }
    if (to.dtype() != entry.dtype() || to.shape().SerializeAsString() != entry.shape().SerializeAsString()) {
      return InvalidArgument("the checkpoints to merge have slices of '", key,
                             "' with different dtypes or full shapes; one of them is ", bundle.prefix());
    }
    to.mutable_slices()->MergeFrom(entry.slices());
    return OkStatus();
  });
}

}  // namespace

Status MergeBundles(const std::vector<std::string>& prefixes, const std::string& destination,
                    const MergeOptions& options) {
  TF_RETURN_IF_ERROR(CheckBundlePrefix(destination));
  BundleEntries merged;
  std::vector<std::string> data_files;
  std::vector<std::string> merged_prefixes;
  for (const std::string& prefix : prefixes) {
    auto bundle = BundleReader::Open(prefix);
    if (absl::IsNotFound(bundle.status())) {
      if (options.allow_missing) continue;
      return InvalidArgument("cannot merge checkpoint ", prefix,
                             ", which does not exist: ", std::string(bundle.status().message()));
    }
    TF_RETURN_IF_ERROR(bundle.status());
    TF_RETURN_IF_ERROR(Gather(**bundle, static_cast<int>(data_files.size()), &merged));
    const int shards = (*bundle)->num_shards();
    for (int i = 0; i < shards; ++i) {
      std::string file = BundleDataName(prefix, i, shards);
      if (!FileExists(file)) return NotFound("the data file ", file, " of checkpoint ", prefix, " does not exist");
      data_files.push_back(std::move(file));
    }
    merged_prefixes.push_back(prefix);
  }
  if (merged_prefixes.empty()) return InvalidArgument("none of the checkpoints to merge exists");
  TF_RETURN_IF_ERROR(MakeDirectory(DirectoryOf(destination)));
  const int num_data_files = static_cast<int>(data_files.size());
  const BundleLock lock(destination);
  BundleFiles files(destination, num_data_files);
  for (int i = 0; i < num_data_files; ++i) {
    TF_RETURN_IF_ERROR(RenameFile(data_files[i], files.DataName(i)));
    files.Added();
  }
  TF_RETURN_IF_ERROR(SyncDirectory(DirectoryOf(destination)));
  TF_RETURN_IF_ERROR(files.Commit(merged));
  for (const std::string& prefix : merged_prefixes) {
    if (prefix != destination) TF_RETURN_IF_ERROR(RemoveFile(BundleIndexName(prefix)));
  }
  return OkStatus();
}

}  // namespace tensorbraid
