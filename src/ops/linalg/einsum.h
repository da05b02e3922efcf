// Parses Einsum equations such as "...ij,...jk->...ik", for the shape rule and the kernel.
#ifndef TENSORBRAID_OPS_LINALG_EINSUM_H_
#define TENSORBRAID_OPS_LINALG_EINSUM_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The labels of the axes of each operand and of the result. The label of an axis is the code of its character in the
// equation. Until it is expanded, an ellipsis is the single label kEllipsis. ExpandEinsum replaces it by the labels
// kEllipsis + 1, kEllipsis + 2, ..., one for each axis that it stands for, aligned at the last axis as in broadcasting.
struct EinsumEquation {
  static constexpr int kEllipsis = 256;
  std::vector<std::vector<int>> inputs;
  std::vector<int> output;
};

// Returns InvalidArgument unless the equation has one or two operands and every label of its result occurs in an
// operand.
StatusOr<EinsumEquation> ParseEinsum(std::string_view equation);

// Expands the ellipses for operands of the given ranks. Returns InvalidArgument if a rank does not match its labels.
StatusOr<EinsumEquation> ExpandEinsum(const EinsumEquation& e, std::span<const int> ranks);

// The sizes of the labels of an expanded equation, for operands of the given shapes, whose ranks must be known. Element
// l is the size of label l, or Shape::kUnknownDim if it is unknown or the label is not used. Labels of an ellipsis are
// broadcast. Returns InvalidArgument if any other label has two different sizes, or broadcasting fails.
StatusOr<std::vector<int64_t>> EinsumSizes(const EinsumEquation& e, std::span<const Shape> shapes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_LINALG_EINSUM_H_
