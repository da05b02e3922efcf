#include <algorithm>

#include "checkpoint/copy_slice.h"
#include "checkpoint/files.h"
#include "checkpoint/saved_tensor_slice.pb.h"
#include "checkpoint/v1_checkpoint.h"
#include "core/system/env.h"
#include "core/text/strings.h"
#include "graph/format/tensor_proto.h"
#include "io/file.h"

namespace tensorbraid {
namespace {

// Limited because each pair of slices is checked for overlap.
constexpr size_t kMaxSlicesOfTensor = 10'000;

// Number of elements of a dtype in a message; -1 for dtypes that version 1 does not support.
int64_t CountValues(const proto::TensorProto& p, DType dtype) {
  switch (StorageType(dtype)) {
    case DType::kFloat32:
      return p.float_val_size();
    case DType::kFloat64:
      return p.double_val_size();
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kUint8:
    case DType::kUint16:
      return p.int_val_size();
    case DType::kUint32:
      return p.uint32_val_size();
    case DType::kUint64:
      return p.uint64_val_size();
    case DType::kInt64:
      return p.int64_val_size();
    case DType::kBool:
      return p.bool_val_size();
    case DType::kString:
      return p.string_val_size();
    case DType::kFloat16:
    case DType::kBfloat16:
      return p.half_val_size();
    case DType::kComplex64:
      return p.scomplex_val_size() / 2;
    case DType::kComplex128:
      return p.dcomplex_val_size() / 2;
    default:
      return -1;
  }
}

Status Parse(TableReader& table, std::string_view key, proto::SavedTensorSlices* saved) {
  TableReader::Iterator it(&table);
  it.Seek(key);
  TF_RETURN_IF_ERROR(it.status());
  if (!it.valid() || it.key() != key ||
      !saved->ParseFromArray(it.value().data(), static_cast<int>(it.value().size()))) {
    return DataLoss(table.path(), " is damaged: cannot read ",
                    key.empty() ? "its list of tensors" : "the values of a tensor");
  }
  return OkStatus();
}

}  // namespace

V1Reader::~V1Reader() = default;

bool V1CheckpointExists(const std::string& pattern) {
  const auto paths = MatchingPaths(pattern);
  if (!paths.ok()) return false;
  return std::any_of(paths->begin(), paths->end(), [](const std::string& path) {
    // The files of a checkpoint of version 2, and the graph beside a checkpoint.
    if (path.ends_with(".index") || path.ends_with(".meta") || path.find(".data-") != path.npos) return false;
    const auto file = Env::Default().Stat(path);
    return file.ok() && !file->is_directory;
  });
}

StatusOr<std::unique_ptr<V1Reader>> V1Reader::Open(const std::string& pattern) {
  TF_ASSIGN_OR_RETURN(const std::vector<std::string> paths, MatchingPaths(pattern));
  if (paths.empty()) return NotFound("no checkpoint file matches '", pattern, "'");
  std::unique_ptr<V1Reader> reader(new V1Reader(pattern));
  for (const std::string& path : paths) {
    TF_ASSIGN_OR_RETURN(std::string bytes, ReadWholeFile(path));
    TF_ASSIGN_OR_RETURN(auto table, TableReader::Open(std::move(bytes), path));
    reader->tables_.push_back(std::move(table));
    TF_RETURN_IF_ERROR(reader->AddTable(reader->tables_.back().get()));
  }
  return reader;
}

std::vector<std::string> V1Reader::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

Status V1Reader::AddTable(TableReader* table) {
  proto::SavedTensorSlices saved;
  TF_RETURN_IF_ERROR(Parse(*table, "", &saved));
  for (const auto& tensor : saved.meta().tensor()) {
    auto shape = FromProto(tensor.shape());
    if (!shape.ok() || !shape->is_fully_defined() || shape->num_elements() < 0 || !IsKnownDType(tensor.type()) ||
        IsRef(DType(tensor.type()))) {
      return DataLoss(table->path(), " is damaged: tensor '", tensor.name(), "' has an invalid shape or dtype");
    }
    const auto [it, is_new] = entries_.try_emplace(tensor.name());
    Entry& entry = it->second;
    if (is_new) entry.info = {DType(tensor.type()), *shape};
    if (entry.info.dtype != DType(tensor.type()) || entry.info.shape != *shape) {
      return DataLoss(table->path(), " is damaged: tensor '", tensor.name(),
                      "' has another dtype or shape than its other slices");
    }
    if (entry.parts.size() + static_cast<size_t>(tensor.slice_size()) > kMaxSlicesOfTensor) {
      return DataLoss(table->path(), " is damaged: tensor '", tensor.name(), "' has more than ", kMaxSlicesOfTensor,
                      " slices");
    }
    for (const auto& slice : tensor.slice()) {
      TF_ASSIGN_OR_RETURN(const TensorSlice parsed, TensorSlice::FromProto(slice));
      if (!parsed.ShapeWithin(*shape).ok()) {
        return DataLoss(table->path(), " is damaged: tensor '", tensor.name(), "' has a slice outside of its shape ",
                        *shape);
      }
      entry.parts.push_back({parsed, table});
    }
  }
  return OkStatus();
}

StatusOr<V1Reader::Info> V1Reader::Find(const std::string& name) const {
  const auto it = entries_.find(name);
  if (it == entries_.end()) return NotFound("Key ", name, " not found in checkpoint ", pattern_);
  return it->second.info;
}

StatusOr<Tensor> V1Reader::ReadPart(const std::string& name, const Entry& entry, const Part& part) {
  proto::SavedTensorSlices saved;
  TF_RETURN_IF_ERROR(Parse(*part.table, SliceKey(name, part.slice), &saved));
  TF_ASSIGN_OR_RETURN(const Shape shape, part.slice.ShapeWithin(entry.info.shape));
  proto::TensorProto& data = *saved.mutable_data()->mutable_data();
  // Checks this before memory is taken, because the shape of a TensorProto may have more elements than the message
  // holds.
  if (CountValues(data, entry.info.dtype) != shape.num_elements()) {
    return DataLoss(part.table->path(), " is damaged: tensor '", name, "' does not have ", shape.num_elements(),
                    " values");
  }
  data.clear_tensor_content();
  data.set_dtype(static_cast<proto::DataType>(entry.info.dtype));
  data.clear_tensor_shape();
  ToProto(shape, data.mutable_tensor_shape());
  return FromProto(data);
}

StatusOr<Tensor> V1Reader::ReadSlice(const std::string& name, const TensorSlice& slice) {
  const auto it = entries_.find(name);
  if (it == entries_.end()) return NotFound("Key ", name, " not found in checkpoint ", pattern_);
  const Entry& entry = it->second;
  TF_ASSIGN_OR_RETURN(const Shape shape, slice.ShapeWithin(entry.info.shape));
  const TensorSlice target = slice.Resolved(entry.info.shape);
  struct Piece {
    TensorSlice slice, needed;
    Tensor values;
  };
  std::vector<Piece> pieces;
  int64_t covered = 0;
  for (const Part& part : entry.parts) {
    Piece piece{.slice = part.slice.Resolved(entry.info.shape), .needed = {}, .values = {}};
    if (!Intersect(piece.slice, target, &piece.needed)) continue;
    for (const Piece& other : pieces) {
      if (Overlap(other.slice, piece.slice)) return DataLoss(pattern_, ": slices of '", name, "' overlap");
    }
    TF_ASSIGN_OR_RETURN(piece.values, ReadPart(name, entry, part));
    TF_ASSIGN_OR_RETURN(const Shape needed, piece.needed.ShapeWithin(entry.info.shape));
    covered += needed.num_elements();
    pieces.push_back(std::move(piece));
  }
  if (covered != shape.num_elements()) {
    return InvalidArgument("the slices of '", name, "' in checkpoint ", pattern_, " do not cover ", slice.ToString(),
                           " of shape ", entry.info.shape, ": they have ", covered, " of its ", shape.num_elements(),
                           " elements");
  }
  TF_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(entry.info.dtype, shape));
  for (const Piece& piece : pieces) CopySlice(piece.values, piece.slice, piece.needed, target, &tensor);
  return tensor;
}

StatusOr<Tensor> RestoreV1(V1Reader& reader, const std::string& name, const std::string& shape_and_slice, DType dtype) {
  TF_ASSIGN_OR_RETURN(const V1Reader::Info info, reader.Find(name));
  if (info.dtype != dtype) {
    return InvalidArgument("tensor '", name, "' has the original dtype ", info.dtype, " in the checkpoint ",
                           reader.pattern(), ", not ", dtype);
  }
  if (shape_and_slice.empty()) return reader.ReadSlice(name, TensorSlice(info.shape.rank()));
  TF_ASSIGN_OR_RETURN(const ShapeAndSlice part, ParseShapeAndSlice(shape_and_slice));
  if (part.shape != info.shape) {
    return InvalidArgument("tensor '", name, "' has shape ", info.shape, " in the checkpoint ", reader.pattern(),
                           ", not ", part.shape);
  }
  return reader.ReadSlice(name, part.slice);
}

}  // namespace tensorbraid
