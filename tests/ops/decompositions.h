// What is unique about a decomposition, for comparing two of one matrix.
#ifndef TENSORBRAID_TESTS_OPS_DECOMPOSITIONS_H_
#define TENSORBRAID_TESTS_OPS_DECOMPOSITIONS_H_

#include <string>
#include <vector>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Whether two right results of `op` may differ: eigenvectors and singular vectors by a factor of modulus 1, and the
// eigenvalues of Eig by their order.
bool IsAmbiguous(const std::string& op);

// The same for all right results, as complex128: eigenvalues in order, and v v^H of each vector, or u v^H of each pair.
std::vector<Tensor> Unambiguous(const std::string& op, const std::vector<Tensor>& outputs);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_OPS_DECOMPOSITIONS_H_
