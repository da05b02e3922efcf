#include "pjrt/element_type.h"

namespace tensorbraid::pjrt {
namespace {

struct ElementTypeRow {
  DType dtype;
  c_api::ElementType type;
};

constexpr ElementTypeRow kElementTypes[] = {
    {kFloat32, c_api::ElementType::kF32},
    {kFloat64, c_api::ElementType::kF64},
    {kFloat16, c_api::ElementType::kF16},
    {kBfloat16, c_api::ElementType::kBF16},
    {kInt8, c_api::ElementType::kS8},
    {kInt16, c_api::ElementType::kS16},
    {kInt32, c_api::ElementType::kS32},
    {kInt64, c_api::ElementType::kS64},
    {kUint8, c_api::ElementType::kU8},
    {kUint16, c_api::ElementType::kU16},
    {kUint32, c_api::ElementType::kU32},
    {kUint64, c_api::ElementType::kU64},
    {kBool, c_api::ElementType::kPred},
    {DType::kComplex64, c_api::ElementType::kC64},
    {DType::kComplex128, c_api::ElementType::kC128},
};

}  // namespace

c_api::ElementType ToElementType(DType dtype) {
  for (const ElementTypeRow& row : kElementTypes) {
    if (row.dtype == dtype) return row.type;
  }
  return c_api::ElementType::kInvalid;
}

DType ToDType(c_api::ElementType type) {
  for (const ElementTypeRow& row : kElementTypes) {
    if (row.type == type) return row.dtype;
  }
  return DType::kInvalid;
}

}  // namespace tensorbraid::pjrt
