// Ragged tensors, as the values of all rows one after the other and where rows end, level by level.
#include <algorithm>

#include "core/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/sparse.h"

namespace tensorbraid::cpu {
namespace {

// The bounds of the rows of one level, whose elements are `count`; -1: as many as they say.
StatusOr<IntVector> SplitsOf(const Tensor& t, int64_t count) {
  if (t.shape().rank() != 1) return InvalidArgument("splits must be a vector, got shape ", t.shape());
  TF_ASSIGN_OR_RETURN(IntVector splits, IntegersOf(t, "splits"));
  if (splits.empty()) return InvalidArgument("ragged splits may not be empty, they begin with a 0");
  if (splits[0] != 0) return InvalidArgument("ragged splits must begin with 0, got ", splits[0]);
  if (!std::is_sorted(splits.begin(), splits.end())) return InvalidArgument("splits must not fall");
  const int64_t last = splits[splits.size() - 1];
  if (count >= 0 && last != count) {
    return InvalidArgument("Final value of ragged splits must match: it is ", last, ", the values are ", count);
  }
  return splits;
}

// Inputs: the splits of each level, the values. Outputs: indices, values, shape.
Status RaggedTensorToSparse(KernelContext& ctx) {
  const int levels = ctx.num_inputs() - 1;
  const Tensor& values = ctx.input(levels);
  const Shape& inner = values.shape();
  if (inner.rank() < 1) return InvalidArgument("the values must be a vector at least, got a scalar");
  std::vector<IntVector> splits(levels);
  for (int l = levels - 1; l >= 0; --l) {
    const int64_t count = l == levels - 1 ? inner.dim(0) : static_cast<int64_t>(splits[l + 1].size()) - 1;
    TF_ASSIGN_OR_RETURN(splits[l], SplitsOf(ctx.input(l), count));
  }
  const int rank = levels + inner.rank();
  std::vector<int64_t> sizes(rank, 0);
  sizes[0] = static_cast<int64_t>(splits[0].size()) - 1;
  for (int l = 0; l < levels; ++l) {
    for (size_t row = 0; row + 1 < splits[l].size(); ++row) {
      sizes[l + 1] = std::max(sizes[l + 1], splits[l][row + 1] - splits[l][row]);
    }
  }
  for (int d = 1; d < inner.rank(); ++d) sizes[levels + d] = inner.dim(d);

  const int64_t n = values.num_elements();
  TF_ASSIGN_OR_RETURN(Tensor * indices, ctx.AllocateOutput(0, Shape({n, rank})));
  TF_ASSIGN_OR_RETURN(Tensor flat, values.Reshaped(Shape({n})));
  ctx.set_output(1, std::move(flat));
  ctx.set_output(2, Tensor::Vector(sizes));
  if (n == 0) return OkStatus();
  int64_t* to = indices->mutable_data<int64_t>().data();
  const int64_t per_element = n / inner.dim(0);
  std::vector<size_t> rows(levels, 0);  // of each level, the one that the element is in
  for (int64_t element = 0; element < inner.dim(0); ++element) {
    int64_t at = element;
    std::vector<int64_t> place(levels + 1);
    for (int l = levels - 1; l >= 0; --l) {
      while (splits[l][rows[l] + 1] <= at) ++rows[l];
      place[l + 1] = at - splits[l][rows[l]];
      at = static_cast<int64_t>(rows[l]);
    }
    place[0] = at;
    for (int64_t i = 0; i < per_element; ++i, to += rank) {
      std::copy(place.begin(), place.end(), to);
      int64_t rest = i;
      for (int d = inner.rank() - 1; d > 0; rest /= inner.dim(d), --d) to[levels + d] = rest % inner.dim(d);
    }
  }
  return OkStatus();
}

}  // namespace

void RegisterRaggedKernels(KernelRegistry& r) { r.Add("RaggedTensorToSparse", {}, RaggedTensorToSparse); }

}  // namespace tensorbraid::cpu
