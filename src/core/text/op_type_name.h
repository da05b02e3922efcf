// Gives dtypes the names that TensorFlow's op definitions and messages use.
#ifndef TENSORBRAID_CORE_TEXT_OP_TYPE_NAME_H_
#define TENSORBRAID_CORE_TEXT_OP_TYPE_NAME_H_

#include <string_view>

#include "tensorbraid/core/dtype.h"

namespace tensorbraid {

// Returns "float", "double" and "half" for float32, float64 and float16, and the same as DTypeName for the others. A
// reference type has the name of the type that it refers to. Returns "invalid" if `t` is not a dtype.
std::string_view OpTypeName(DType t);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TEXT_OP_TYPE_NAME_H_
