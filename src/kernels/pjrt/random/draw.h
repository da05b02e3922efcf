// What the emitters of random ops with and without state share.
#ifndef TENSORBRAID_KERNELS_PJRT_RANDOM_DRAW_H_
#define TENSORBRAID_KERNELS_PJRT_RANDOM_DRAW_H_

#include "kernels/pjrt/random/philox.h"

namespace tensorbraid::pjrt {

// One of the functions of philox.h.
using Distribution = Expr (*)(const Stream& stream, DType dtype, const Shape& shape);

// Integers from `minval`, input `first`, up to but without `maxval`, the next input. InvalidArgument if there are none,
// or if the two are not scalars that are known when the program is made.
StatusOr<Expr> IntegersBetween(const EmitContext& ctx, const Stream& stream, const Shape& shape, int first);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_KERNELS_PJRT_RANDOM_DRAW_H_
