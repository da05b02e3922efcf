#include "tensorbraid/core/dtype.h"

#include <array>
#include <bit>

#include "core/text/op_type_name.h"
#include "core/values/resource_handle.h"
#include "core/values/variant.h"

namespace tensorbraid {
namespace {

struct TypeNames {
  DType type;
  const char* name;     // used by this project and NumPy
  const char* op_name;  // in TensorFlow's op definitions
  const char* enum_name;
  size_t size;
};

constexpr std::array kTypes = {
    TypeNames{DType::kFloat32, "float32", "float", "DT_FLOAT", 4},
    TypeNames{DType::kFloat64, "float64", "double", "DT_DOUBLE", 8},
    TypeNames{DType::kInt32, "int32", "int32", "DT_INT32", 4},
    TypeNames{DType::kUint8, "uint8", "uint8", "DT_UINT8", 1},
    TypeNames{DType::kInt16, "int16", "int16", "DT_INT16", 2},
    TypeNames{DType::kInt8, "int8", "int8", "DT_INT8", 1},
    TypeNames{DType::kString, "string", "string", "DT_STRING", sizeof(std::string)},
    TypeNames{DType::kComplex64, "complex64", "complex64", "DT_COMPLEX64", 8},
    TypeNames{DType::kInt64, "int64", "int64", "DT_INT64", 8},
    TypeNames{DType::kBool, "bool", "bool", "DT_BOOL", 1},
    TypeNames{DType::kQint8, "qint8", "qint8", "DT_QINT8", 1},
    TypeNames{DType::kQuint8, "quint8", "quint8", "DT_QUINT8", 1},
    TypeNames{DType::kQint32, "qint32", "qint32", "DT_QINT32", 4},
    TypeNames{DType::kBfloat16, "bfloat16", "bfloat16", "DT_BFLOAT16", 2},
    TypeNames{DType::kQint16, "qint16", "qint16", "DT_QINT16", 2},
    TypeNames{DType::kQuint16, "quint16", "quint16", "DT_QUINT16", 2},
    TypeNames{DType::kUint16, "uint16", "uint16", "DT_UINT16", 2},
    TypeNames{DType::kComplex128, "complex128", "complex128", "DT_COMPLEX128", 16},
    TypeNames{DType::kFloat16, "float16", "half", "DT_HALF", 2},
    TypeNames{DType::kResource, "resource", "resource", "DT_RESOURCE", sizeof(ResourceHandle)},
    TypeNames{DType::kVariant, "variant", "variant", "DT_VARIANT", sizeof(Variant)},
    TypeNames{DType::kUint32, "uint32", "uint32", "DT_UINT32", 4},
    TypeNames{DType::kUint64, "uint64", "uint64", "DT_UINT64", 8},
};

const TypeNames* Find(DType t) {
  for (const TypeNames& e : kTypes) {
    if (e.type == t) return &e;
  }
  return nullptr;
}

// Sizes indexed by the number of the dtype: DTypeSize is called for every tensor of a step and must be fast.
constexpr auto kSizes = [] {
  std::array<uint8_t, 32> sizes{};
  for (const TypeNames& e : kTypes) sizes[static_cast<size_t>(e.type)] = static_cast<uint8_t>(e.size);
  return sizes;
}();

}  // namespace

size_t DTypeSize(DType t) {
  const auto i = static_cast<uint32_t>(t);
  return i < kSizes.size() ? kSizes[i] : 0;
}

std::string DTypeName(DType t) {
  const TypeNames* e = Find(BaseType(t));
  if (e == nullptr) return "invalid";
  return IsRef(t) ? std::string(e->name) + "_ref" : e->name;
}

std::string_view OpTypeName(DType t) {
  const TypeNames* e = Find(BaseType(t));
  return e == nullptr ? "invalid" : e->op_name;
}

std::optional<DType> ParseDType(std::string_view name) {
  bool ref = false;
  for (std::string_view suffix : {"_ref", "_REF"}) {
    if (name.ends_with(suffix)) {
      name.remove_suffix(suffix.size());
      ref = true;
    }
  }
  for (const TypeNames& e : kTypes) {
    if (name == e.name || name == e.op_name || name == e.enum_name) return ref ? RefType(e.type) : e.type;
  }
  return std::nullopt;
}

bool IsKnownDType(int32_t number) { return Find(BaseType(DType(number))) != nullptr; }

bool IsFloating(DType t) {
  return t == DType::kFloat32 || t == DType::kFloat64 || t == DType::kFloat16 || t == DType::kBfloat16;
}

bool IsInteger(DType t) {
  switch (t) {
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64:
      return true;
    default:
      return false;
  }
}

bool IsComplex(DType t) { return t == DType::kComplex64 || t == DType::kComplex128; }

DType StorageType(DType t) {
  switch (t) {
    case DType::kQint8:
      return kInt8;
    case DType::kQuint8:
      return kUint8;
    case DType::kQint16:
      return kInt16;
    case DType::kQuint16:
      return kUint16;
    case DType::kQint32:
      return kInt32;
    default:
      return t;
  }
}

bool IsPlain(DType t) {
  return t != DType::kString && t != DType::kResource && t != DType::kVariant && DTypeSize(t) > 0;
}

Bfloat16::Bfloat16(float value) {
  uint32_t u = std::bit_cast<uint32_t>(value);
  if (value != value) {
    bits = static_cast<uint16_t>((u >> 16) | 0x40);  // keep it a NaN whatever the low bits were
    return;
  }
  u += 0x7fff + ((u >> 16) & 1);  // round to the nearest, and halves to even
  bits = static_cast<uint16_t>(u >> 16);
}

Float16::Float16(float value) {
  const uint32_t u = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((u >> 16) & 0x8000);
  const uint32_t magnitude = u & 0x7fffffff;
  if (magnitude > 0x7f800000) {  // NaN
    bits = sign | 0x7e00;
  } else if (magnitude >= 0x477ff000) {  // rounds beyond 65504
    bits = sign | 0x7c00;
  } else if (magnitude < 0x38800000) {  // subnormal or zero: let the float adder round at the right bit
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    bits = sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3f000000);
  } else {
    const uint32_t rounded = magnitude + 0xc8000fff + ((magnitude >> 13) & 1);  // re-bias the exponent, round to even
    bits = sign | static_cast<uint16_t>(rounded >> 13);
  }
}

Float16::operator float() const {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
  const uint32_t rest = bits & 0x7fffu;
  float magnitude;
  if (rest >= 0x7c00) {
    magnitude = std::bit_cast<float>((rest << 13) | 0x7f800000u);
  } else if (rest < 0x400) {
    magnitude = static_cast<float>(rest) * 0x1p-24f;
  } else {
    magnitude = std::bit_cast<float>((rest << 13) + 0x38000000u);
  }
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
}

}  // namespace tensorbraid
