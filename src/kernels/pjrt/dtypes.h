// Sets of dtypes for the constraints of emitters.
#ifndef TENSORBRAID_KERNELS_PJRT_DTYPES_H_
#define TENSORBRAID_KERNELS_PJRT_DTYPES_H_

#include "runtime/kernel/type_constraints.h"

namespace tensorbraid::pjrt {

inline constexpr DTypeSet kFloats = {kFloat16, kBfloat16, kFloat32, kFloat64};
inline constexpr DTypeSet kIntegers = {kInt8, kInt16, kInt32, kInt64, kUint8, kUint16, kUint32, kUint64};
inline constexpr DTypeSet kComplex = {DType::kComplex64, DType::kComplex128};
inline constexpr DTypeSet kReals = kFloats | kIntegers;
inline constexpr DTypeSet kNumbers = kReals | kComplex;
// All dtypes that tensors of programs have.
inline constexpr DTypeSet kTensors = kNumbers | DTypeSet{kBool};

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_KERNELS_PJRT_DTYPES_H_
