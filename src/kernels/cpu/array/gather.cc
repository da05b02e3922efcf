// Kernels that gather rows and slices of tensors and of variables. A variable is read in place, under its lock. So it
// is not copied, and no snapshot of it prevents later updates in place. Other rows of the variable may be updated at
// the same time.
#include "ops/array/gather.h"

#include <optional>
#include <utility>

#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/prefetch.h"
#include "runtime/kernel/kernel.h"
#include "runtime/variables/row_stripes.h"
#include "runtime/variables/slice_indices.h"
#include "runtime/variables/variable_access.h"

namespace tensorbraid::cpu {
namespace {

// Sets output 0 to the slices of `params` along dimension `wanted_axis` that the indices select; without an axis, along
// the first dimension after the batch dimensions. The first `batch_dims` dimensions of params and indices are batch
// dimensions. `locks` are the locks of the rows of `params`, or null if the rows need no locks.
template <typename I>
Status GatherAlong(KernelContext& ctx, const Tensor& params, RowLocks* locks, std::optional<int64_t> wanted_axis,
                   int64_t batch_dims) {
  const Tensor& indices = ctx.input(1);
  const Shape& ps = params.shape();
  const Shape& is = indices.shape();
  TF_ASSIGN_OR_RETURN(const int batch, NumBatchDims(batch_dims, ps, is));
  TF_ASSIGN_OR_RETURN(const int axis, AxisOf(wanted_axis.value_or(batch), ps.rank()));
  TF_ASSIGN_OR_RETURN(const Shape shape, GatheredShape(ps, is, axis, batch));
  const int64_t limit = ps.dim(axis);
  const auto index = indices.data<I>();
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0 || static_cast<int64_t>(index[i]) >= limit) {
      return cpu::IndexOutOfRange(is, static_cast<int64_t>(i), static_cast<int64_t>(index[i]), ps, axis);
    }
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  const int64_t batches = SizeOf(is, 0, batch);
  const int64_t outer = SizeOf(ps, batch, axis);
  const int64_t num = SizeOf(is, batch, is.rank());
  const int64_t inner = SizeOf(ps, axis + 1, ps.rank());
  const bool has_one_block = batches * outer == 1;
  std::optional<RowLocks::All> all_rows;
  if (locks != nullptr && (axis > 0 || !has_one_block)) all_rows.emplace(*std::exchange(locks, nullptr));
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    const E* from = Elements<E>(params);
    E* to = MutableElements<E>(*out);
    const int64_t row_bytes = inner * static_cast<int64_t>(sizeof(E));
    const double cost_ns = 5 + 0.1 * static_cast<double>(row_bytes);
    if (locks != nullptr) {
      const std::vector<int64_t> rows(index.begin(), index.end());
      const auto from_row = [&](int64_t number) { return from + rows[static_cast<size_t>(number)] * inner; };
      cpu::VisitByStripe(ctx.pool(), rows, std::span(&locks, 1), cost_ns, [&](std::span<const int64_t> numbers) {
        for (size_t i = 0; i < numbers.size(); ++i) {
          const size_t later = i + cpu::kPrefetchedRows;
          if (later < numbers.size()) cpu::PrefetchRow<false>(from_row(numbers[later]), row_bytes);
          CopyElements(from_row(numbers[i]), inner, to + numbers[i] * inner);
        }
      });
      return OkStatus();
    }
    const auto row = [&](int64_t r) {
      if (has_one_block) return from + static_cast<int64_t>(index[r]) * inner;
      const int64_t block = r / num;  // the number of the block, counted over batches and outer positions
      const auto i = static_cast<int64_t>(index[block / outer * num + r % num]);
      return from + (block * limit + i) * inner;
    };
    ctx.pool().ParallelFor(batches * outer * num, cost_ns, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t later = r + cpu::kPrefetchedRows;
        if (later < end) cpu::PrefetchRow<false>(row(later), row_bytes);
        CopyElements(row(r), inner, to + r * inner);
      }
    });
    return OkStatus();
  });
}

Status GatherSlices(KernelContext& ctx, const Tensor& params) {
  const Tensor& indices = ctx.input(1);
  const Shape& ps = params.shape();
  TF_ASSIGN_OR_RETURN(const Shape shape, SlicesShape(indices.shape(), ps, "params of shape"));
  const int rank = indices.shape().rank();
  if (SizeOf(indices.shape(), 0, rank - 1) > 0 && ps.num_elements() == 0) {
    return InvalidArgument("Requested more than 0 entries, but params is empty: it has shape ", ps);
  }
  TF_ASSIGN_OR_RETURN(const bool ignore, IgnoresBadIndices(ctx.node()));
  const int64_t inner = SizeOf(ps, static_cast<int>(indices.shape().dim(rank - 1)), ps.rank());
  // Allocates the output first, because indices of shape [n, 0] have no elements, but select n slices.
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  TF_ASSIGN_OR_RETURN(const std::vector<int64_t> slices, SlicesOf(indices, ps, ignore, "param shape"));
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    E* to = MutableElements<E>(*out);
    for (const int64_t slice : slices) {
      if (slice < 0) {
        RepeatElement(ZeroElement<E>(), inner, to);
      } else {
        CopyElements(Elements<E>(params) + slice * inner, inner, to);
      }
      to += inner;
    }
    return OkStatus();
  });
}

template <typename I>
Status Gather(KernelContext& ctx) {
  return ctx.ReadInputRows(0, [&](const Tensor& params, RowLocks* locks) -> Status {
    if (ctx.num_inputs() == 2) return GatherAlong<I>(ctx, params, locks, 0, 0);
    TF_ASSIGN_OR_RETURN(const int64_t axis, IntegerOf(ctx.input(2), "the axis"));
    return GatherAlong<I>(ctx, params, locks, axis, ctx.node().attr<int64_t>("batch_dims"));
  });
}

Status GatherNd(KernelContext& ctx) {
  return ctx.ReadInput(0, [&](const Tensor& params) { return GatherSlices(ctx, params); });
}

template <typename I>
Status ResourceGather(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto variable, VariableWithValue(ctx, 0, ctx.node().output_type(0)));
  const int64_t batch_dims = ctx.node().attr<int64_t>("batch_dims");
  return variable->ReadRows([&](const Tensor& params, RowLocks* locks) {
    return GatherAlong<I>(ctx, params, locks, /*wanted_axis=*/std::nullopt, batch_dims);
  });
}

Status ResourceGatherNd(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto variable, VariableWithValue(ctx, 0, ctx.node().output_type(0)));
  return variable->ReadInPlace([&](const Tensor& params) { return GatherSlices(ctx, params); });
}

template <typename I>
void AddGather(KernelRegistry& r) {
  const DTypeSet type = {DTypeOf<I>::value};
  r.Add("Gather", {{"Tindices", type}}, Gather<I>, cpu::GatherCost).reads_reference = true;
  r.Add("GatherV2", {{"Tindices", type}}, Gather<I>, cpu::GatherCost).reads_reference = true;
  r.Add("GatherNd", {{"Tindices", type}}, GatherNd, cpu::GatherCost).reads_reference = true;
  r.Add("ResourceGather", {{"Tindices", type}}, ResourceGather<I>, cpu::GatherCost);
  r.Add("ResourceGatherNd", {{"Tindices", type}}, ResourceGatherNd, cpu::GatherCost);
}

}  // namespace

void RegisterArrayGatherKernels(KernelRegistry& r) {
  AddGather<int16_t>(r);
  AddGather<int32_t>(r);
  AddGather<int64_t>(r);
}

}  // namespace tensorbraid::cpu
