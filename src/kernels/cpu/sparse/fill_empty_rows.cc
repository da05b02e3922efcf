#include "kernels/cpu/sparse/fill_empty_rows.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/functors.h"
#include "kernels/cpu/numbers.h"

namespace tensorbraid::cpu {
namespace {

// The gradient of the default value: the sum of the gradients of the output elements that do not come from the input.
// Only this function is compiled for each dtype.
template <typename T>
Tensor SumOfUnseen(const Tensor& grad, const std::vector<bool>& seen) {
  const auto g = grad.data<T>();
  ComputeType<T> rest{};
  for (size_t i = 0; i < g.size(); ++i) {
    if (seen[i]) continue;
    if constexpr (std::is_same_v<T, bool>) {
      rest = rest || g[i];
    } else {
      rest = AddF::Apply(rest, static_cast<ComputeType<T>>(g[i]));
    }
  }
  return Tensor::Scalar<T>(static_cast<T>(rest));
}

Status GradOfFilledRows(KernelContext& ctx, Tensor (*sum_of_unseen)(const Tensor&, const std::vector<bool>&)) {
  const Tensor &map = ctx.input(0), &grad = ctx.input(1);
  if (map.shape().rank() != 1) return InvalidArgument("reverse_index_map must be a vector, got shape ", map.shape());
  if (grad.shape().rank() != 1) return InvalidArgument("grad_values must be a vector, got shape ", grad.shape());
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, map.shape()));
  const size_t element = DTypeSize(grad.dtype());
  const char* const from = static_cast<const char*>(grad.raw_data());
  char* const to = static_cast<char*>(out->inplace_raw_data());
  std::vector<bool> seen(grad.num_elements(), false);
  for (int64_t i = 0; i < map.num_elements(); ++i) {
    const int64_t at = map.data<int64_t>()[i];
    if (at < 0 || at >= grad.num_elements()) {
      return InvalidArgument("Elements in reverse index must be in [0, ", grad.num_elements(), "), number ", i, " is ",
                             at);
    }
    std::memcpy(to + i * element, from + at * element, element);
    seen[at] = true;
  }
  ctx.set_output(1, sum_of_unseen(grad, seen));
  return OkStatus();
}

template <typename T>
Status FillEmptyRowsGrad(KernelContext& ctx) {
  return GradOfFilledRows(ctx, SumOfUnseen<T>);
}

}  // namespace

Status FillEmptyRows(KernelContext& ctx, const Tensor& indices, const Tensor& values, int64_t rows,
                     const Tensor& default_value) {
  if (!default_value.shape().is_scalar()) {
    return InvalidArgument("default_value must be a scalar, got ", default_value.shape());
  }
  const bool matrix = indices.shape().rank() == 2;
  const int64_t n = values.num_elements(), rank = matrix ? indices.shape().dim(1) : 1;
  if (rows == 0 && n > 0) return InvalidArgument("there are no rows, but ", n, " elements");
  const auto index = indices.data<int64_t>();
  TF_ASSIGN_OR_RETURN(Tensor * empty, ctx.AllocateOutput(2, {rows}));
  TF_ASSIGN_OR_RETURN(Tensor * map, ctx.AllocateOutput(3, {n}));
  TF_ASSIGN_OR_RETURN(Tensor counts, ctx.AllocateTemp(kInt64, {rows}));
  const auto next = counts.inplace_data<int64_t>();  // first the count of each row, then its next output position
  std::fill(next.begin(), next.end(), 0);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = index[i * rank];
    if (row < 0 || row >= rows) {
      return InvalidArgument("indices(", i, ", 0) is invalid: row ", row, " is not in [0, ", rows, ")");
    }
    ++next[row];
  }
  int64_t total = 0;
  for (int64_t r = 0; r < rows; ++r) {
    empty->inplace_data<bool>()[r] = next[r] == 0;
    const int64_t count = std::max<int64_t>(next[r], 1);
    next[r] = total;
    total += count;
  }
  TF_ASSIGN_OR_RETURN(Tensor * out_indices, ctx.AllocateOutput(0, matrix ? Shape({total, rank}) : Shape({total})));
  TF_ASSIGN_OR_RETURN(Tensor * out_values, ctx.AllocateOutput(1, {total}));
  const auto to = out_indices->inplace_data<int64_t>();
  std::vector<int64_t> sources(total, -1);  // the number of each output element in the input; -1 for the default value
  for (int64_t r = 0; r < rows; ++r) {
    if (!empty->data<bool>()[r]) continue;
    std::fill_n(to.begin() + next[r] * rank, rank, 0);
    to[next[r] * rank] = r;
  }
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = next[index[i * rank]]++;
    std::copy_n(index.begin() + i * rank, rank, to.begin() + at * rank);
    sources[at] = i;
    map->inplace_data<int64_t>()[i] = at;
  }
  return ForElementsOf(values.dtype(), [&]<typename E>() {
    for (int64_t i = 0; i < total; ++i) {
      MutableElements<E>(*out_values)[i] =
          sources[i] < 0 ? *Elements<E>(default_value) : Elements<E>(values)[sources[i]];
    }
    return OkStatus();
  });
}

void AddFillEmptyRowsGrad(KernelRegistry& r, const char* op, std::source_location location) {
  r.Add(op, {{"T", {kBool}}}, FillEmptyRowsGrad<bool>, DefaultCost, location);
  ForEachNumberType([&]<typename T>() {
    r.Add(op, {{"T", {DTypeOf<T>::value}}}, FillEmptyRowsGrad<T>, DefaultCost, location);
  });
}

}  // namespace tensorbraid::cpu
