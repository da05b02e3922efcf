// Computes the unique properties of decompositions, to compare two decompositions of one matrix.
#ifndef TENSORBRAID_TESTS_OPS_DECOMPOSITIONS_H_
#define TENSORBRAID_TESTS_OPS_DECOMPOSITIONS_H_

#include <string>
#include <vector>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Whether two correct results of `op` may differ: eigenvectors and singular vectors by a factor of modulus 1, and the
// eigenvalues of Eig by their order.
bool IsAmbiguous(const std::string& op);

// Returns tensors of complex128 that are equal for all correct results: the eigenvalues in order, and v v^H of each
// vector, or u v^H of each pair of vectors.
std::vector<Tensor> Unambiguous(const std::string& op, const std::vector<Tensor>& outputs);

// Turns `grad_ys`, the gradients of the outputs `theirs`, into gradients of `ours`, another correct result. A gradient
// is invalid where none flows. Each column of a gradient moves to the column of our vector, and is multiplied by the
// factor that turns their vector into ours. So functions of the matrix alone get the same gradient.
std::vector<Tensor> TurnedGradients(const std::string& op, const std::vector<Tensor>& grad_ys,
                                    const std::vector<Tensor>& theirs, const std::vector<Tensor>& ours);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_OPS_DECOMPOSITIONS_H_
