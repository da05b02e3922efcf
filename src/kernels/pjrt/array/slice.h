// Tensors of which a strided slice is replaced.
#ifndef TENSORBRAID_KERNELS_PJRT_ARRAY_SLICE_H_
#define TENSORBRAID_KERNELS_PJRT_ARRAY_SLICE_H_

#include "pjrt/emitter.h"

namespace tensorbraid::pjrt {

// `in`, with `value` in place of the slice that begin, end and strides select: inputs 1 to 3 of the node, all known.
// The value is broadcast to the slice. If `is_assignment`, it may have more dimensions than the slice, of size 1, and
// any shape if the slice is empty: so do the kernels of the CPU.
StatusOr<stablehlo::Value> WithStridedSlice(EmitContext& ctx, const stablehlo::Value& in, stablehlo::Value value,
                                            bool is_assignment);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_KERNELS_PJRT_ARRAY_SLICE_H_
