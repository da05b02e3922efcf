// The element types of tensors. Their numbers and names are those of TensorFlow (types.proto), so they can be written
// unchanged to files and messages.
#ifndef TENSORBRAID_CORE_DTYPE_H_
#define TENSORBRAID_CORE_DTYPE_H_

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace tensorbraid {

enum class DType : int32_t {
  kInvalid = 0,
  kFloat32 = 1,
  kFloat64 = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQint8 = 11,
  kQuint8 = 12,
  kQint32 = 13,
  kBfloat16 = 14,
  kQint16 = 15,
  kQuint16 = 16,
  kUint16 = 17,
  kComplex128 = 18,
  kFloat16 = 19,
  kResource = 20,
  kVariant = 21,
  kUint32 = 22,
  kUint64 = 23,
};

inline constexpr DType kFloat32 = DType::kFloat32;
inline constexpr DType kFloat64 = DType::kFloat64;
inline constexpr DType kFloat16 = DType::kFloat16;
inline constexpr DType kBfloat16 = DType::kBfloat16;
inline constexpr DType kInt8 = DType::kInt8;
inline constexpr DType kInt16 = DType::kInt16;
inline constexpr DType kInt32 = DType::kInt32;
inline constexpr DType kInt64 = DType::kInt64;
inline constexpr DType kUint8 = DType::kUint8;
inline constexpr DType kUint16 = DType::kUint16;
inline constexpr DType kUint32 = DType::kUint32;
inline constexpr DType kUint64 = DType::kUint64;
inline constexpr DType kBool = DType::kBool;
inline constexpr DType kString = DType::kString;

// Reference types (TensorFlow's DT_FLOAT_REF and so on): a reference to T has the number of T plus this offset.
inline constexpr int32_t kRefOffset = 100;
constexpr bool IsRef(DType t) { return static_cast<int32_t>(t) > kRefOffset; }
constexpr DType BaseType(DType t) { return IsRef(t) ? DType(static_cast<int32_t>(t) - kRefOffset) : t; }
constexpr DType RefType(DType t) { return IsRef(t) ? t : DType(static_cast<int32_t>(t) + kRefOffset); }

// IEEE 754 half precision, stored as its bits. Conversions round to nearest, ties to even.
struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value);
  explicit operator float() const;
  friend bool operator==(Float16 a, Float16 b) { return float(a) == float(b); }
};

// The upper half of a float32, stored as its bits. Conversions round to nearest, ties to even.
struct Bfloat16 {
  uint16_t bits = 0;
  Bfloat16() = default;
  explicit Bfloat16(float value);
  explicit operator float() const {
    const uint32_t wide = uint32_t{bits} << 16;
    float f;
    std::memcpy(&f, &wide, sizeof f);
    return f;
  }
  friend bool operator==(Bfloat16 a, Bfloat16 b) { return float(a) == float(b); }
};

// The DType of a C++ element type: DTypeOf<float>::value.
template <typename T>
struct DTypeOf;
#define TB_DTYPE(T, D)                \
  template <>                         \
  struct DTypeOf<T> {                 \
    static constexpr DType value = D; \
  };
TB_DTYPE(float, DType::kFloat32)
TB_DTYPE(double, DType::kFloat64)
TB_DTYPE(Float16, DType::kFloat16)
TB_DTYPE(Bfloat16, DType::kBfloat16)
TB_DTYPE(int8_t, DType::kInt8)
TB_DTYPE(int16_t, DType::kInt16)
TB_DTYPE(int32_t, DType::kInt32)
TB_DTYPE(int64_t, DType::kInt64)
TB_DTYPE(uint8_t, DType::kUint8)
TB_DTYPE(uint16_t, DType::kUint16)
TB_DTYPE(uint32_t, DType::kUint32)
TB_DTYPE(uint64_t, DType::kUint64)
TB_DTYPE(bool, DType::kBool)
TB_DTYPE(std::string, DType::kString)
TB_DTYPE(std::complex<float>, DType::kComplex64)
TB_DTYPE(std::complex<double>, DType::kComplex128)
#undef TB_DTYPE

// The element type of a tensor that is made from values of type T. It is T itself, except for long long: in C++, long
// long and int64_t can be different types, so the element type of long long is the 64-bit integer of the same
// signedness.
template <typename T>
struct ElementOf {
  using type = T;
};
template <std::same_as<long long> T>
struct ElementOf<T> {
  using type = int64_t;
};
template <std::same_as<unsigned long long> T>
struct ElementOf<T> {
  using type = uint64_t;
};

// Bytes per element in memory; 0 for kInvalid. For a string, resource or variant, the size of its C++ object.
size_t DTypeSize(DType t);

// Returns "float32", "int64", "float32_ref" and so on; "invalid" if `t` is not a type.
std::string DTypeName(DType t);

// The inverse of DTypeName; also accepts TensorFlow's enumerators ("DT_FLOAT") and op-definition spellings ("float").
std::optional<DType> ParseDType(std::string_view name);

// Whether the number is a type (reference or not) that a Tensor can have.
bool IsKnownDType(int32_t number);

bool IsFloating(DType t);  // float16, bfloat16, float32, float64
bool IsInteger(DType t);   // signed and unsigned integers, but not the quantized types
bool IsComplex(DType t);

// The type in which elements are stored. For quantized types (qint8 and the like: integers that represent reals by a
// scale kept elsewhere) it is the integer type of the same size; for all others it is the type itself.
DType StorageType(DType t);

// True for types whose elements are plain bytes, which can be copied with memcpy and sent without conversion.
bool IsPlain(DType t);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_DTYPE_H_
