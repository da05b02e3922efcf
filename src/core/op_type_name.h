// Names of dtypes as TensorFlow's op definitions and messages spell them.
#ifndef TENSORBRAID_CORE_OP_TYPE_NAME_H_
#define TENSORBRAID_CORE_OP_TYPE_NAME_H_

#include <string_view>

#include "tensorbraid/dtype.h"

namespace tensorbraid {

// "float", "double" and "half" where DTypeName says float32, float64 and float16; else the same. References too have
// the name of what they refer to; "invalid" for what is no dtype.
std::string_view OpTypeName(DType t);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_OP_TYPE_NAME_H_
