#include "graph/format/tensor_proto.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <complex>
#include <vector>

#include "core/text/strings.h"
#include "core/values/bools.h"
#include "core/values/repeated_tensor.h"
#include "graph/format/graph.pb.h"

namespace tensorbraid {
namespace {

// Fills `out` with the values, of which each element has `per_element`: 2 if it is complex, otherwise 1. As in
// TensorFlow, the last element is repeated if there are too few, and extra values are ignored.
template <typename T, typename Values, typename Convert>
void Fill(const Values& values, int per_element, Tensor* out, const Convert& convert) {
  auto data = out->inplace_data<T>();
  const size_t given = static_cast<size_t>(values.size()) / per_element;
  if (given == 0) {
    std::fill(data.begin(), data.end(), T());
    return;
  }
  for (size_t i = 0; i < data.size(); ++i) data[i] = convert(values, std::min(i, given - 1));
}

template <typename T, typename Values>
void FillPlain(const Values& values, Tensor* out) {
  Fill<T>(values, /*per_element=*/1, out,
          [](const Values& v, size_t i) { return static_cast<T>(v.Get(static_cast<int>(i))); });
}

template <typename T>
void FillHalf(const proto::TensorProto& p, Tensor* out) {
  Fill<T>(p.half_val(), /*per_element=*/1, out, [](const auto& v, size_t i) {
    T h;
    h.bits = static_cast<uint16_t>(v.Get(static_cast<int>(i)));
    return h;
  });
}

template <typename T, typename Values>
void FillComplex(const Values& values, Tensor* out) {
  Fill<std::complex<T>>(values, /*per_element=*/2, out, [](const Values& v, size_t i) {
    return std::complex<T>(v.Get(static_cast<int>(2 * i)), v.Get(static_cast<int>(2 * i + 1)));
  });
}

// Reads strings from tensor_content: the lengths of all strings as varints, then their bytes.
Status FillStrings(const std::string& content, Tensor* out) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(content.data()),
                                            static_cast<int>(content.size()));
  auto strings = out->inplace_data<std::string>();
  std::vector<uint32_t> lengths(strings.size());
  for (uint32_t& length : lengths) {
    if (!in.ReadVarint32(&length)) {
      return InvalidArgument("TensorProto of shape ", out->shape(), " has tensor_content that ends too early");
    }
  }
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] > content.size() || !in.ReadString(&strings[i], static_cast<int>(lengths[i]))) {
      return InvalidArgument("TensorProto of shape ", out->shape(), " has tensor_content that ends too early");
    }
  }
  return OkStatus();
}

template <typename T>
T ValueAt(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof(value));
  return value;
}

// Adds the value at `element`, which the message repeats to fill its shape. False if messages have no field for values
// of that dtype.
bool AddValue(DType dtype, const void* element, proto::TensorProto* out) {
  switch (StorageType(dtype)) {
    case DType::kFloat32:
      out->add_float_val(ValueAt<float>(element));
      return true;
    case DType::kFloat64:
      out->add_double_val(ValueAt<double>(element));
      return true;
    case DType::kInt8:
      out->add_int_val(ValueAt<int8_t>(element));
      return true;
    case DType::kInt16:
      out->add_int_val(ValueAt<int16_t>(element));
      return true;
    case DType::kInt32:
      out->add_int_val(ValueAt<int32_t>(element));
      return true;
    case DType::kUint8:
      out->add_int_val(ValueAt<uint8_t>(element));
      return true;
    case DType::kUint16:
      out->add_int_val(ValueAt<uint16_t>(element));
      return true;
    case DType::kInt64:
      out->add_int64_val(ValueAt<int64_t>(element));
      return true;
    case DType::kUint32:
      out->add_uint32_val(ValueAt<uint32_t>(element));
      return true;
    case DType::kUint64:
      out->add_uint64_val(ValueAt<uint64_t>(element));
      return true;
    case DType::kBool:
      out->add_bool_val(ValueAt<uint8_t>(element) != 0);
      return true;
    case DType::kFloat16:
    case DType::kBfloat16:
      out->add_half_val(ValueAt<uint16_t>(element));
      return true;
    case DType::kComplex64:
      out->add_scomplex_val(ValueAt<std::complex<float>>(element).real());
      out->add_scomplex_val(ValueAt<std::complex<float>>(element).imag());
      return true;
    case DType::kComplex128:
      out->add_dcomplex_val(ValueAt<std::complex<double>>(element).real());
      out->add_dcomplex_val(ValueAt<std::complex<double>>(element).imag());
      return true;
    default:
      return false;
  }
}

}  // namespace

void ToProto(const Shape& shape, proto::TensorShapeProto* out) {
  out->set_unknown_rank(!shape.has_rank());
  for (int64_t d : shape.dims()) out->add_dim()->set_size(d);
}

StatusOr<Shape> FromProto(const proto::TensorShapeProto& proto) {
  if (proto.unknown_rank()) return Shape::Unknown();
  // TensorFlow's limit, too.
  if (proto.dim_size() > 254) return InvalidArgument("a shape cannot have ", proto.dim_size(), " dimensions");
  Shape s;
  for (const auto& d : proto.dim()) {
    if (d.size() < -1) return InvalidArgument("a shape cannot have a dimension of size ", d.size());
    s.AddDim(d.size());
  }
  return s;
}

void ToProto(const Tensor& tensor, proto::TensorProto* out) {
  out->set_dtype(static_cast<proto::DataType>(tensor.dtype()));
  ToProto(tensor.shape(), out->mutable_tensor_shape());
  if (tensor.dtype() == kString) {
    for (const std::string& s : tensor.data<std::string>()) out->add_string_val(s);
    return;
  }
  const void* element = RepeatedElement(tensor);
  if (element != nullptr && AddValue(tensor.dtype(), element, out)) return;
  if (IsPlain(tensor.dtype())) out->set_tensor_content(tensor.raw_data(), tensor.num_bytes());
}

int64_t RepeatedBytes(const proto::TensorProto& p) {
  if (!p.tensor_content().empty() || !IsKnownDType(p.dtype()) || p.tensor_shape().unknown_rank()) return 0;
  int64_t bytes = static_cast<int64_t>(DTypeSize(DType(p.dtype())));
  for (const auto& d : p.tensor_shape().dim()) {
    if (d.size() < 0 || __builtin_mul_overflow(bytes, d.size(), &bytes)) return 0;
  }
  return std::max<int64_t>(0, bytes - static_cast<int64_t>(p.ByteSizeLong()));
}

namespace {

// The shape of a message whose tensor_content has `content_bytes` bytes. InvalidArgument if the message is malformed.
StatusOr<Shape> CheckedShape(const proto::TensorProto& p, size_t content_bytes) {
  if (!IsKnownDType(p.dtype())) return InvalidArgument("TensorProto has unknown dtype ", p.dtype());
  const DType dtype = DType(p.dtype());
  if (IsRef(dtype) || (!IsPlain(dtype) && dtype != kString)) {
    return InvalidArgument("TensorProto cannot carry dtype ", dtype);
  }
  TF_ASSIGN_OR_RETURN(Shape shape, FromProto(p.tensor_shape()));
  if (!shape.is_fully_defined()) return InvalidArgument("TensorProto must have a fully defined shape, got ", shape);
  const int64_t elements = shape.num_elements();
  if (elements < 0) return InvalidArgument("TensorProto has too many elements: ", shape);
  if (content_bytes == 0 && elements > kMaxRepeatedBytes / static_cast<int64_t>(DTypeSize(dtype))) {
    return InvalidArgument("TensorProto of shape ", shape, " repeats one value to fill more than ", kMaxRepeatedBytes,
                           " bytes");
  }
  if (content_bytes > 0 && dtype != kString && content_bytes != static_cast<size_t>(elements) * DTypeSize(dtype)) {
    return InvalidArgument("TensorProto of ", dtype, shape, " has ", content_bytes, " bytes of content; expected ",
                           static_cast<size_t>(elements) * DTypeSize(dtype));
  }
  if (dtype == kString && content_bytes > 0 && static_cast<size_t>(elements) > content_bytes) {
    return InvalidArgument("TensorProto of string", shape, " has ", content_bytes,
                           " bytes of content; expected at least ", elements);
  }
  return shape;
}

// How many values the message has outside of tensor_content.
int NumValues(const proto::TensorProto& p) {
  return p.half_val_size() + p.float_val_size() + p.double_val_size() + p.int_val_size() + p.int64_val_size() +
         p.uint32_val_size() + p.uint64_val_size() + p.bool_val_size() + p.scomplex_val_size() / 2 +
         p.dcomplex_val_size() / 2;
}

}  // namespace

StatusOr<Tensor> AllocateFor(const proto::TensorProto& p, size_t content_bytes) {
  TF_ASSIGN_OR_RETURN(const Shape shape, CheckedShape(p, content_bytes));
  return Tensor::Create(DType(p.dtype()), shape);
}

namespace {

// Reads the values of a message into `t`, which has the message's dtype, and more than 0 elements.
Status ReadValues(const proto::TensorProto& p, Tensor* t) {
  const DType dtype = t->dtype();
  if (!p.tensor_content().empty() && dtype != kString) {
    std::memcpy(t->inplace_raw_data(), p.tensor_content().data(), p.tensor_content().size());
    NormalizeBools(t);
    return OkStatus();
  }
  switch (StorageType(dtype)) {
    case DType::kFloat32:
      FillPlain<float>(p.float_val(), t);
      break;
    case DType::kFloat64:
      FillPlain<double>(p.double_val(), t);
      break;
    case DType::kInt8:
      FillPlain<int8_t>(p.int_val(), t);
      break;
    case DType::kInt16:
      FillPlain<int16_t>(p.int_val(), t);
      break;
    case DType::kInt32:
      FillPlain<int32_t>(p.int_val(), t);
      break;
    case DType::kUint8:
      FillPlain<uint8_t>(p.int_val(), t);
      break;
    case DType::kUint16:
      FillPlain<uint16_t>(p.int_val(), t);
      break;
    case DType::kInt64:
      FillPlain<int64_t>(p.int64_val(), t);
      break;
    case DType::kUint32:
      FillPlain<uint32_t>(p.uint32_val(), t);
      break;
    case DType::kUint64:
      FillPlain<uint64_t>(p.uint64_val(), t);
      break;
    case DType::kBool:
      FillPlain<bool>(p.bool_val(), t);
      break;
    case DType::kString:
      if (p.tensor_content().empty()) {
        FillPlain<std::string>(p.string_val(), t);
      } else {
        TF_RETURN_IF_ERROR(FillStrings(p.tensor_content(), t));
      }
      break;
    case DType::kFloat16:
      FillHalf<Float16>(p, t);
      break;
    case DType::kBfloat16:
      FillHalf<Bfloat16>(p, t);
      break;
    case DType::kComplex64:
      FillComplex<float>(p.scomplex_val(), t);
      break;
    case DType::kComplex128:
      FillComplex<double>(p.dcomplex_val(), t);
      break;
    default:
      return InvalidArgument("TensorProto cannot carry dtype ", dtype);
  }
  return OkStatus();
}

}  // namespace

StatusOr<Tensor> FromProto(const proto::TensorProto& p) {
  const auto& dims = p.tensor_shape().dim();
  const bool is_empty = std::any_of(dims.begin(), dims.end(), [](const auto& d) { return d.size() == 0; });
  TF_ASSIGN_OR_RETURN(const Shape shape, CheckedShape(p, is_empty ? 0 : p.tensor_content().size()));
  const auto dtype = DType(p.dtype());
  if (!is_empty && IsPlain(dtype) && p.tensor_content().empty() && NumValues(p) <= 1) {
    Tensor element(dtype, {});
    TF_RETURN_IF_ERROR(ReadValues(p, &element));
    return RepeatedTensor(dtype, shape, element.raw_data());
  }
  TF_ASSIGN_OR_RETURN(Tensor t, Tensor::Create(dtype, shape));
  if (!is_empty) TF_RETURN_IF_ERROR(ReadValues(p, &t));
  return t;
}

}  // namespace tensorbraid
