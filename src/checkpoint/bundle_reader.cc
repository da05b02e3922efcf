#include "checkpoint/bundle_reader.h"

#include <limits>

#include "checkpoint/bundle_writer.h"
#include "checkpoint/coding.h"
#include "checkpoint/copy_slice.h"
#include "checkpoint/tensor_bundle.pb.h"
#include "core/text/strings.h"
#include "core/values/bools.h"
#include "core/values/crc32c.h"
#include "core/values/tensor_value.h"
#include "graph/format/tensor_proto.h"

namespace tensorbraid {
namespace {

// Limited because each pair of slices is checked for overlap.
constexpr int kMaxSlices = 10'000;

}  // namespace

uint32_t ExtendByLength(uint64_t length, uint32_t crc) {
  std::string bytes;
  if (length <= std::numeric_limits<uint32_t>::max()) {
    PutFixed(static_cast<uint32_t>(length), &bytes);
  } else {
    PutFixed(length, &bytes);
  }
  return Crc32c(bytes, crc);
}

// An entry of the index, checked as far as is possible without the data.
struct BundleReader::Entry {
  DType dtype = DType::kInvalid;
  Shape shape;
  int shard = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t crc = 0;
  std::vector<TensorSlice> slices;
};

BundleReader::~BundleReader() = default;

StatusOr<std::unique_ptr<BundleReader>> BundleReader::Open(const std::string& prefix) {
  const std::string path = BundleIndexName(prefix);
  TF_ASSIGN_OR_RETURN(std::string bytes, ReadWholeFile(path));
  std::unique_ptr<BundleReader> reader(new BundleReader(prefix));
  TF_ASSIGN_OR_RETURN(reader->table_, TableReader::Open(std::move(bytes), path));
  TableReader::Iterator it(reader->table_.get());
  it.SeekToFirst();
  TF_RETURN_IF_ERROR(it.status());
  proto::BundleHeaderProto header;
  if (!it.valid() || !it.key().empty() ||
      !header.ParseFromArray(it.value().data(), static_cast<int>(it.value().size()))) {
    return DataLoss(path, " has no header");
  }
  if (header.num_shards() < 1) {
    return DataLoss(path, " is damaged: its header claims ", header.num_shards(), " data files");
  }
  if (header.endianness() != 0) return Unimplemented(path, " was written by a big-endian machine");
  if (header.version().min_consumer() > kBundleVersion) {
    return Unimplemented(path, " needs a reader of bundle version ", header.version().min_consumer(),
                         "; this one has version ", kBundleVersion);
  }
  reader->num_shards_ = header.num_shards();
  return reader;
}

Status BundleReader::Damaged(std::string_view name, const std::string& why) const {
  return DataLoss("checkpoint ", prefix_, " is damaged: tensor '", name, "' ", why);
}

StatusOr<BundleReader::Entry> BundleReader::Decode(std::string_view bytes, std::string_view name) const {
  proto::BundleEntryProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Damaged(name, "has an entry that cannot be parsed");
  }
  Entry entry;
  if (!IsKnownDType(proto.dtype()) || IsRef(DType(proto.dtype()))) {
    return Damaged(name, StrCat("has the unknown dtype ", proto.dtype()));
  }
  entry.dtype = DType(proto.dtype());
  auto shape = FromProto(proto.shape());
  if (!shape.ok() || !shape->is_fully_defined() || shape->num_elements() < 0 ||
      shape->num_elements() > std::numeric_limits<int64_t>::max() / 64) {
    return Damaged(name, StrCat("has an invalid shape: ", proto.shape().ShortDebugString()));
  }
  entry.shape = *std::move(shape);
  if (proto.shard_id() < 0 || proto.shard_id() >= num_shards_ || proto.offset() < 0 || proto.size() < 0) {
    return Damaged(name, StrCat("has an invalid location: ", proto.size(), " bytes at offset ", proto.offset(),
                                " of data file ", proto.shard_id(), " of ", num_shards_));
  }
  entry.shard = proto.shard_id();
  entry.offset = static_cast<uint64_t>(proto.offset());
  entry.size = static_cast<uint64_t>(proto.size());
  entry.crc = UnmaskCrc(proto.crc32c());
  if (proto.slices_size() > kMaxSlices) {
    return Damaged(name, StrCat("has ", proto.slices_size(), " slices; at most ", kMaxSlices, " are supported"));
  }
  for (const auto& slice : proto.slices()) {
    auto parsed = TensorSlice::FromProto(slice);
    if (!parsed.ok() || !parsed->ShapeWithin(entry.shape).ok()) {
      return Damaged(name, StrCat("has a slice outside of its shape ", entry.shape));
    }
    entry.slices.push_back(*std::move(parsed));
  }
  return entry;
}

StatusOr<BundleReader::Entry> BundleReader::Lookup(std::string_view key, std::string_view shown_name) {
  TableReader::Iterator it(table_.get());
  it.Seek(key);
  TF_RETURN_IF_ERROR(it.status());
  if (key.empty() || !it.valid() || it.key() != key) {
    return NotFound("Key ", shown_name, " not found in checkpoint ", prefix_);
  }
  return Decode(it.value(), shown_name);
}

StatusOr<BundleReader::Info> BundleReader::Find(std::string_view name) {
  TF_ASSIGN_OR_RETURN(Entry entry, Lookup(name, name));
  return Info{.name = std::string(name), .dtype = entry.dtype, .shape = std::move(entry.shape)};
}

StatusOr<std::vector<BundleReader::Info>> BundleReader::List() {
  std::vector<Info> tensors;
  TableReader::Iterator it(table_.get());
  for (it.SeekToFirst(); it.valid(); it.Next()) {
    // Skips the header and the entries of slices. A partitioned tensor also has an entry under its name.
    if (it.key().empty() || it.key()[0] == '\0') continue;
    TF_ASSIGN_OR_RETURN(Entry entry, Decode(it.value(), it.key()));
    tensors.push_back({.name = it.key(), .dtype = entry.dtype, .shape = std::move(entry.shape)});
  }
  TF_RETURN_IF_ERROR(it.status());
  return tensors;
}

Status BundleReader::ForEachEntry(
    const std::function<Status(const std::string& key, const proto::BundleEntryProto& entry)>& visit) {
  TableReader::Iterator it(table_.get());
  for (it.SeekToFirst(); it.valid(); it.Next()) {
    if (it.key().empty()) continue;
    TF_RETURN_IF_ERROR(Decode(it.value(), it.key()).status());
    proto::BundleEntryProto entry;
    (void)entry.ParseFromArray(it.value().data(), static_cast<int>(it.value().size()));
    TF_RETURN_IF_ERROR(visit(it.key(), entry));
  }
  return it.status();
}

std::string BundleReader::MissingFile() const {
  for (int i = 0; i < num_shards_; ++i) {
    if (std::string data = BundleDataName(prefix_, i, num_shards_); !FileExists(data)) return data;
  }
  return "";
}

StatusOr<const RandomAccessFile*> BundleReader::Shard(int shard) {
  auto& file = shards_[shard];
  if (file == nullptr) {
    TF_ASSIGN_OR_RETURN(file, RandomAccessFile::Open(BundleDataName(prefix_, shard, num_shards_)));
  }
  return file.get();
}

StatusOr<const RandomAccessFile*> BundleReader::CheckExtent(const Entry& entry, std::string_view name) {
  if (entry.dtype != kString && entry.dtype != DType::kVariant && !IsPlain(entry.dtype)) {
    return Unimplemented("tensor '", name, "' of checkpoint ", prefix_, " has dtype ", entry.dtype,
                         ", which cannot be read from a checkpoint");
  }
  TF_ASSIGN_OR_RETURN(const RandomAccessFile* file, Shard(entry.shard));
  if (entry.offset > file->size() || entry.size > file->size() - entry.offset) {
    return Damaged(name, StrCat("needs ", entry.size, " bytes at offset ", entry.offset, " of ", file->path(),
                                ", which has ", file->size()));
  }
  const auto elements = static_cast<uint64_t>(entry.shape.num_elements());
  // Each string takes at least one byte, for its length, and all strings together one checksum. Each variant takes at
  // least one byte, for its length, and a checksum.
  const bool fits = entry.dtype == kString           ? entry.size >= elements + sizeof(uint32_t)
                    : entry.dtype == DType::kVariant ? entry.size / (1 + sizeof(uint32_t)) >= elements
                                                     : entry.size == elements * DTypeSize(entry.dtype);
  if (!fits) return Damaged(name, StrCat("is ", entry.dtype, entry.shape, ", but has ", entry.size, " bytes"));
  return file;
}

StatusOr<Tensor> BundleReader::ReadWhole(const Entry& entry, std::string_view name) {
  TF_ASSIGN_OR_RETURN(const RandomAccessFile* file, CheckExtent(entry, name));
  if (entry.dtype == kString) return ReadStrings(entry, *file, name);
  if (entry.dtype == DType::kVariant) return ReadVariants(entry, *file, name);
  TF_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(entry.dtype, entry.shape));
  TF_RETURN_IF_ERROR(file->Read(entry.offset, entry.size, tensor.inplace_raw_data()));
  if (Crc32c({static_cast<const char*>(tensor.raw_data()), tensor.num_bytes()}) != entry.crc) {
    return Damaged(name, "has a wrong checksum");
  }
  NormalizeBools(&tensor);
  return tensor;
}

StatusOr<Tensor> BundleReader::ReadStrings(const Entry& entry, const RandomAccessFile& file, std::string_view name) {
  std::string bytes(entry.size, '\0');
  TF_RETURN_IF_ERROR(file.Read(entry.offset, bytes.size(), bytes.data()));
  TF_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(kString, entry.shape));
  std::string_view rest = bytes;
  std::vector<uint64_t> lengths(static_cast<size_t>(tensor.num_elements()));
  uint32_t crc = 0;
  for (uint64_t& length : lengths) {
    if (!GetVarint(&rest, &length)) return Damaged(name, "ends within the lengths of its strings");
    crc = ExtendByLength(length, crc);
  }
  if (rest.size() < sizeof crc || UnmaskCrc(GetFixed<uint32_t>(rest)) != crc) {
    return Damaged(name, "has a wrong checksum of its strings' lengths");
  }
  if (Crc32c(rest, crc) != entry.crc) {
    return Damaged(name, "has a wrong checksum");
  }
  rest.remove_prefix(sizeof crc);
  const auto strings = tensor.inplace_data<std::string>();
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] > rest.size()) return Damaged(name, "ends within its strings");
    strings[i].assign(rest.substr(0, lengths[i]));
    rest.remove_prefix(lengths[i]);
  }
  return tensor;
}

StatusOr<Tensor> BundleReader::ReadVariants(const Entry& entry, const RandomAccessFile& file, std::string_view name) {
  std::string bytes(entry.size, '\0');
  TF_RETURN_IF_ERROR(file.Read(entry.offset, bytes.size(), bytes.data()));
  TF_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(DType::kVariant, entry.shape));
  std::string_view rest = bytes;
  uint32_t crc = 0;
  for (Variant& element : tensor.inplace_data<Variant>()) {
    uint64_t length = 0;
    if (!GetVarint(&rest, &length) || rest.size() < sizeof crc || length > rest.size() - sizeof crc) {
      return Damaged(name, "ends within its variants");
    }
    std::string length_bytes;
    PutFixed(length, &length_bytes);
    crc = Crc32c(rest.substr(0, length), Crc32c(length_bytes, crc));
    if (UnmaskCrc(GetFixed<uint32_t>(rest, length)) != crc) return Damaged(name, "has a wrong checksum");
    proto::VariantTensorDataProto data;
    if (!data.ParseFromArray(rest.data(), static_cast<int>(length))) return Damaged(name, "has a malformed variant");
    if (data.type_name() != kTensorVariant || data.tensors_size() != 1) {
      return Unimplemented("tensor '", name, "' of checkpoint ", prefix_, " holds a variant of type '",
                           data.type_name(), "', which cannot be read");
    }
    auto value = FromProto(data.tensors(0));
    if (!value.ok()) return Damaged(name, StrCat("has a malformed tensor: ", std::string(value.status().message())));
    element.value = MakeRef<TensorValue>(*std::move(value));
    crc = Crc32c(rest.substr(length, sizeof crc), crc);
    rest.remove_prefix(length + sizeof crc);
  }
  if (!rest.empty() || crc != entry.crc) return Damaged(name, "has a wrong checksum");
  return tensor;
}

StatusOr<Tensor> BundleReader::Assemble(const Entry& entry, std::string_view name, const TensorSlice& wanted,
                                        const Shape& shape) {
  struct Part {
    Entry entry;
    TensorSlice slice;   // its place in the whole tensor
    TensorSlice needed;  // the intersection with `wanted`
  };
  const TensorSlice target = wanted.Resolved(entry.shape);
  std::vector<Part> parts;
  int64_t covered = 0;
  std::map<int, uint64_t> used;  // bytes of slices in each data file
  for (const TensorSlice& slice : entry.slices) {
    Part part{.entry = {}, .slice = slice.Resolved(entry.shape), .needed = {}};
    if (!Intersect(part.slice, target, &part.needed)) continue;
    for (const Part& other : parts) {
      if (Overlap(other.slice, part.slice)) {
        return Damaged(name, StrCat("has slices that overlap: ", slice.ToString(), " and ", other.slice.ToString()));
      }
    }
    TF_ASSIGN_OR_RETURN(part.entry, Lookup(SliceKey(name, slice), name));
    TF_ASSIGN_OR_RETURN(const Shape slice_shape, slice.ShapeWithin(entry.shape));
    if (part.entry.dtype != entry.dtype || part.entry.shape != slice_shape || !part.entry.slices.empty()) {
      return Damaged(name, StrCat("has a slice ", slice.ToString(), " of another dtype or shape"));
    }
    TF_ASSIGN_OR_RETURN(const RandomAccessFile* file, CheckExtent(part.entry, name));
    uint64_t& file_bytes = used[part.entry.shard];
    if (part.entry.size > file->size() - file_bytes) return Damaged(name, "has slices that share bytes");
    file_bytes += part.entry.size;
    TF_ASSIGN_OR_RETURN(const Shape needed_shape, part.needed.ShapeWithin(entry.shape));
    covered += needed_shape.num_elements();
    parts.push_back(std::move(part));
  }
  // The slices do not overlap: if they have as many elements as requested, none is missing.
  if (covered != shape.num_elements()) {
    return InvalidArgument("the slices of '", name, "' in checkpoint ", prefix_, " do not cover ", wanted.ToString(),
                           " of shape ", entry.shape, ": they have ", covered, " of its ", shape.num_elements(),
                           " elements");
  }
  TF_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(entry.dtype, shape));
  for (const Part& part : parts) {
    TF_ASSIGN_OR_RETURN(const Tensor piece, ReadWhole(part.entry, name));
    CopySlice(piece, part.slice, part.needed, target, &tensor);
  }
  return tensor;
}

StatusOr<Tensor> BundleReader::Read(std::string_view name) {
  TF_ASSIGN_OR_RETURN(const Entry entry, Lookup(name, name));
  if (entry.slices.empty()) return ReadWhole(entry, name);
  return Assemble(entry, name, TensorSlice(entry.shape.rank()), entry.shape);
}

StatusOr<Tensor> BundleReader::ReadSlice(std::string_view name, const TensorSlice& slice) {
  TF_ASSIGN_OR_RETURN(const Entry entry, Lookup(name, name));
  TF_ASSIGN_OR_RETURN(const Shape shape, slice.ShapeWithin(entry.shape));
  if (!entry.slices.empty()) return Assemble(entry, name, slice, shape);
  TF_ASSIGN_OR_RETURN(Tensor whole, ReadWhole(entry, name));
  if (shape == entry.shape) return whole;
  TF_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(entry.dtype, shape));
  const TensorSlice target = slice.Resolved(entry.shape);
  if (shape.num_elements() == 0) return tensor;
  CopySlice(whole, TensorSlice(entry.shape.rank()).Resolved(entry.shape), target, target, &tensor);
  return tensor;
}

StatusOr<std::vector<TensorSlice>> BundleReader::Slices(std::string_view name) {
  TF_ASSIGN_OR_RETURN(Entry entry, Lookup(name, name));
  for (TensorSlice& slice : entry.slices) {
    TF_RETURN_IF_ERROR(slice.ShapeWithin(entry.shape).status());
    slice = slice.Resolved(entry.shape);
  }
  return std::move(entry.slices);
}

StatusOr<std::unique_ptr<TensorStream>> BundleReader::Stream(std::string_view name) {
  TF_ASSIGN_OR_RETURN(const Entry entry, Lookup(name, name));
  if (!IsPlain(entry.dtype)) {
    return InvalidArgument("tensor '", name, "' of checkpoint ", prefix_, " has dtype ", entry.dtype,
                           ", and can only be read as a whole");
  }
  if (!entry.slices.empty() || entry.size == 0 || entry.dtype == kBool) {
    TF_ASSIGN_OR_RETURN(Tensor tensor, Read(name));
    return std::make_unique<TensorStream>(std::move(tensor));
  }
  TF_ASSIGN_OR_RETURN(const RandomAccessFile* checked, CheckExtent(entry, name));
  TF_ASSIGN_OR_RETURN(auto file, RandomAccessFile::Open(checked->path()));
  if (file->size() != checked->size()) return Damaged(name, StrCat("is in ", file->path(), ", which changes"));
  return std::make_unique<TensorStream>(
      std::move(file),
      TensorStream::Extent{.offset = entry.offset,
                           .size = entry.size,
                           .crc = entry.crc,
                           .what = StrCat("checkpoint ", prefix_, " is damaged: tensor '", name, "'")});
}

StatusOr<bool> BundleReader::ShareBytes(std::string_view a, std::string_view b) {
  TF_ASSIGN_OR_RETURN(const Entry one, Lookup(a, a));
  TF_ASSIGN_OR_RETURN(const Entry other, Lookup(b, b));
  return one.slices.empty() && other.slices.empty() && one.dtype == other.dtype && one.shape == other.shape &&
         one.shard == other.shard && one.offset == other.offset && one.size == other.size && one.crc == other.crc;
}

}  // namespace tensorbraid
