// How PJRT names the dtypes.
#ifndef TENSORBRAID_PJRT_ELEMENT_TYPE_H_
#define TENSORBRAID_PJRT_ELEMENT_TYPE_H_

#include "pjrt/c_api.h"
#include "tensorbraid/core/dtype.h"

namespace tensorbraid::pjrt {

// kInvalid for strings, handles, variants and quantized types, which no program of a plugin takes.
c_api::ElementType ToElementType(DType dtype);
// kInvalid for types that have no dtype.
DType ToDType(c_api::ElementType type);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_ELEMENT_TYPE_H_
