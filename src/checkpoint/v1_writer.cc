#include "checkpoint/files.h"
#include "checkpoint/saved_tensor_slice.pb.h"
#include "checkpoint/table_writer.h"
#include "checkpoint/v1_checkpoint.h"
#include "core/text/strings.h"
#include "graph/format/tensor_proto.h"

namespace tensorbraid {
namespace {

constexpr int kVersion = 1;
// A protobuf message must be smaller than 2 GiB. Values take up to ten bytes, and this bound leaves space for the other
// fields.
constexpr int64_t kMaxElements = 200'000'000;

template <typename T, typename To>
void Append(const Tensor& tensor, To* to) {
  for (const T& v : tensor.data<T>()) to->Add(v);
}
template <typename T, typename To>
void AppendBits(const Tensor& tensor, To* to) {
  for (const T& v : tensor.data<T>()) to->Add(v.bits);
}
template <typename T, typename To>
void AppendComplex(const Tensor& tensor, To* to) {
  for (const std::complex<T>& v : tensor.data<std::complex<T>>()) {
    to->Add(v.real());
    to->Add(v.imag());
  }
}

// Returns false for dtypes that TensorFlow does not save in version 1.
bool FillValues(const Tensor& t, proto::TensorProto* p) {
  switch (StorageType(t.dtype())) {
    case DType::kFloat32:
      Append<float>(t, p->mutable_float_val());
      return true;
    case DType::kFloat64:
      Append<double>(t, p->mutable_double_val());
      return true;
    case DType::kInt8:
      Append<int8_t>(t, p->mutable_int_val());
      return true;
    case DType::kInt16:
      Append<int16_t>(t, p->mutable_int_val());
      return true;
    case DType::kInt32:
      Append<int32_t>(t, p->mutable_int_val());
      return true;
    case DType::kUint8:
      Append<uint8_t>(t, p->mutable_int_val());
      return true;
    case DType::kUint16:
      Append<uint16_t>(t, p->mutable_int_val());
      return true;
    case DType::kInt64:
      Append<int64_t>(t, p->mutable_int64_val());
      return true;
    case DType::kBool:
      Append<bool>(t, p->mutable_bool_val());
      return true;
    case DType::kString:
      for (const std::string& s : t.data<std::string>()) p->add_string_val(s);
      return true;
    case DType::kFloat16:
      AppendBits<Float16>(t, p->mutable_half_val());
      return true;
    case DType::kComplex64:
      AppendComplex<float>(t, p->mutable_scomplex_val());
      return true;
    case DType::kComplex128:
      AppendComplex<double>(t, p->mutable_dcomplex_val());
      return true;
    default:
      return false;
  }
}

}  // namespace

struct V1Writer::Meta {
  DType dtype;
  Shape shape;
  std::vector<TensorSlice> slices;
};

V1Writer::V1Writer(std::string path) : path_(std::move(path)) {}
V1Writer::~V1Writer() = default;

Status V1Writer::Add(const std::string& name, const Shape& full_shape, const TensorSlice& slice, const Tensor& tensor) {
  if (name.empty()) return InvalidArgument("a tensor in a checkpoint needs a name");
  TF_ASSIGN_OR_RETURN(const Shape shape, slice.ShapeWithin(full_shape));
  if (shape != tensor.shape()) {
    return InvalidArgument("the slice ", slice.ToString(), " of '", name, "' has shape ", shape,
                           ", but its tensor has shape ", tensor.shape());
  }
  if (tensor.num_elements() > kMaxElements) {
    return InvalidArgument("'", name, "' of shape ", shape, " is too large for a checkpoint of version 1");
  }
  proto::SavedTensorSlices saved;
  saved.mutable_data()->set_name(name);
  slice.ToProto(saved.mutable_data()->mutable_slice());
  if (!FillValues(tensor, saved.mutable_data()->mutable_data())) {
    const std::string why =
        StrCat("cannot save tensor '", name, "': checkpoints of version 1 do not support dtype ", tensor.dtype());
    return tensor.dtype() == kBfloat16 ? Unimplemented(why) : InvalidArgument(why);
  }
  if (saved.ByteSizeLong() >= (size_t{1} << 31) - 1) {
    return InvalidArgument("'", name, "' of shape ", shape, " is too large for a checkpoint of version 1");
  }
  Meta& meta = tensors_.try_emplace(name, Meta{tensor.dtype(), full_shape, {}}).first->second;
  if (meta.dtype != tensor.dtype() || meta.shape != full_shape) {
    return InvalidArgument("the slice ", slice.ToString(), " of '", name, "' belongs to a ", tensor.dtype(), full_shape,
                           ", but an earlier slice to a ", meta.dtype, meta.shape);
  }
  for (const TensorSlice& other : meta.slices) {
    if (Overlap(other.Resolved(full_shape), slice.Resolved(full_shape)) || full_shape.num_elements() == 0 ||
        full_shape.rank() == 0) {
      return InvalidArgument("the checkpoint already has '", name, "', or a slice of it that overlaps with ",
                             slice.ToString());
    }
  }
  values_[SliceKey(name, slice)] = saved.SerializeAsString();
  meta.slices.push_back(slice);
  return OkStatus();
}

Status V1Writer::Finish() {
  proto::SavedTensorSlices saved;
  saved.mutable_meta()->mutable_versions()->set_producer(kVersion);
  for (const auto& [name, meta] : tensors_) {
    auto* tensor = saved.mutable_meta()->add_tensor();
    tensor->set_name(name);
    ToProto(meta.shape, tensor->mutable_shape());
    tensor->set_type(static_cast<int32_t>(meta.dtype));
    for (const TensorSlice& slice : meta.slices) slice.ToProto(tensor->add_slice());
  }
  TF_ASSIGN_OR_RETURN(const auto file, AtomicFile::Create(path_));
  TableWriter table(file.get());
  TF_RETURN_IF_ERROR(table.Add("", saved.SerializeAsString()));
  for (const auto& [key, value] : values_) TF_RETURN_IF_ERROR(table.Add(key, value));
  TF_RETURN_IF_ERROR(table.Finish());
  return file->Commit();
}

}  // namespace tensorbraid
