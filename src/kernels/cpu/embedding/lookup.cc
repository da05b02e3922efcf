// Lookups in growing tables.
#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/embedding/columns.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// What default_value says about keys that have no row.
StatusOr<EmbeddingTable::Defaults> DefaultsOf(const Tensor& value, int64_t keys, int64_t dim) {
  const Shape& shape = value.shape();
  if (shape.rank() == 1 && shape.dim(0) == 0) return EmbeddingTable::Defaults();
  if (shape.rank() == 1 && shape.dim(0) == dim) {
    return EmbeddingTable::Defaults{.rows = value.data<float>().data(), .one_for_all = true};
  }
  if (shape.rank() > 1 && shape.dim(shape.rank() - 1) == dim && shape.num_elements() == keys * dim) {
    return EmbeddingTable::Defaults{.rows = value.data<float>().data()};
  }
  return InvalidArgument("default_value must be empty (first values), one row [", dim, "], or a row for each of the ",
                         keys, " keys [", keys, ",", dim, "], got shape ", shape);
}

Status Lookup(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto column, ctx.LookupResource<TableColumn>(0));
  const EmbeddingTable& table = column->table();
  const int columns[] = {column->column()};
  TF_RETURN_IF_ERROR(table.CheckDescribed(columns, {&column->said(), 1}, TableUse::kLookup));
  const int64_t width = table.width(column->column());
  std::vector<int64_t> widened;
  const std::span<const int64_t> keys = KeysOf(ctx.input(1), &widened);
  TF_ASSIGN_OR_RETURN(const auto defaults, DefaultsOf(ctx.input(2), static_cast<int64_t>(keys.size()), width));
  Shape shape = ctx.input(1).shape();
  shape.AddDim(width);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  std::vector<int64_t> widened_counts;
  std::span<const int64_t> counts;
  if (ctx.num_inputs() > 3) {
    counts = KeysOf(ctx.input(3), &widened_counts);
    if (counts.size() != keys.size()) {
      return InvalidArgument("there must be one count per key of growing table '", table.name(), "', got ",
                             counts.size(), " counts for ", keys.size(), " keys");
    }
  }
  return table.Lookup(ctx.pool(), column->column(), keys, counts, defaults, out->inplace_data<float>().data());
}

// Keys wait for memory, unlike the rows of small variables, so threads share the lookups of a step.
Cost LookupCost(const CostContext& c) {
  Cost cost = GatherCost(c);
  cost.flops += c.input_elements(1) * FlopsOfNs(EmbeddingTable::kVisitNs);
  return cost;
}

}  // namespace

void RegisterEmbeddingLookupKernels(KernelRegistry& r) {
  for (const char* op : {"KvResourceGather", "KvResourceGatherV1"}) {
    r.Add(op, {{"dtype", {kFloat32}}, {"Tkeys", {kInt64, kInt32}}}, Lookup, LookupCost);
  }
}

}  // namespace tensorbraid::cpu
