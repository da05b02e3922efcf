// How the programs of accelerators compute, for the whole process: TensorFlow's switches.
#ifndef TENSORBRAID_PJRT_MATH_SWITCHES_H_
#define TENSORBRAID_PJRT_MATH_SWITCHES_H_

#include <string>
#include <string_view>

#include "tensorbraid/core/dtype.h"

namespace tensorbraid::pjrt {

// The functions are thread-safe. A switch changes the programs that are compiled later, not those that exist.

// Whether matrix products and convolutions of float32 may round their operands to TensorFloat-32, which has 10 bits of
// mantissa, where the device is faster then. True at first, unless the environment variable NVIDIA_TF32_OVERRIDE is
// "0". Source: enable_tensor_float_32_execution of tf.config.experimental.
bool AllowsTensorFloat32();
void AllowTensorFloat32(bool allow);

// Whether the same program gives the same bits for the same arguments in each run, which may be slower. At first this
// is what the environment variables TF_DETERMINISTIC_OPS and TF_CUDNN_DETERMINISTIC say: true if one of them is "1" or
// "true". Source: enable_op_determinism of tf.config.experimental.
bool RequiresDeterminism();
void RequireDeterminism(bool require);

// The name of the module of a program that is compiled now. Programs that have to be deterministic have a name of their
// own, so that they are not taken for others with the same ops.
std::string_view ModuleName();
// The precision of a matrix product or convolution that is compiled now, as attributes of its op; "" is the usual one.
// `dtype` is the dtype of the operands.
std::string_view PrecisionOf(DType dtype);
// CompileOptionsProto, serialized, for a program in StableHLO, whose module has one of the names above.
std::string CompileOptionsProto(std::string_view program);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_MATH_SWITCHES_H_
