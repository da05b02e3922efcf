// The equations of Einsum, such as "...ij,...jk->...ik".
#ifndef TENSORBRAID_OPS_EINSUM_H_
#define TENSORBRAID_OPS_EINSUM_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/shape.h"
#include "tensorbraid/status.h"

namespace tensorbraid {

// The label of each axis of each operand and of the result. An ellipsis stands as kEllipsis until it is expanded to
// kEllipsis + 1, kEllipsis + 2, ... (aligned at the last, as in broadcasting).
struct EinsumEquation {
  static constexpr int kEllipsis = 256;
  std::vector<std::vector<int>> inputs;
  std::vector<int> output;
};

// InvalidArgument unless the equation names one or two operands and a result whose labels come from them.
StatusOr<EinsumEquation> ParseEinsum(std::string_view equation);

// With ellipses expanded for operands of these ranks. InvalidArgument when ranks and labels do not fit.
StatusOr<EinsumEquation> ExpandEinsum(const EinsumEquation& e, std::span<const int> ranks);

// The size of each label of an expanded equation, for operands of these shapes (of known rank): element l is that of
// label l, Shape::kUnknownDim when unknown or not used. InvalidArgument where a label has two sizes; those of an
// ellipsis are broadcast.
StatusOr<std::vector<int64_t>> EinsumSizes(const EinsumEquation& e, std::span<const Shape> shapes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_EINSUM_H_
