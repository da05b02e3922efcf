// Computes products with few columns, such as the weight gradient of a layer with few outputs.
#ifndef TENSORBRAID_KERNELS_CPU_NARROW_PRODUCT_H_
#define TENSORBRAID_KERNELS_CPU_NARROW_PRODUCT_H_

#include "kernels/cpu/gemm.h"

namespace tensorbraid::cpu {

// Whether MultiplyNarrow can compute this product, and does so faster than oneDNN: `a` is transposed, `b` is not, the
// result has at most 16 columns and at least 16 rows, it is not added to c, and the processor has AVX-512.
bool IsNarrowProduct(const GemmPart& part);

// c = transpose(a) * b, on the calling thread. oneDNN fills one vector with a row of the result, so 10 columns leave 6
// of 16 lanes idle; here a vector has 16 rows of one column. REQUIRES: IsNarrowProduct(part).
void MultiplyNarrow(const GemmPart& part, const float* a, const float* b, float* c);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_NARROW_PRODUCT_H_
