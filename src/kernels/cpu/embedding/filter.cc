// Reads the Bloom filter of a growing table.
#include <cstring>
#include <optional>
#include <tuple>
#include <vector>

#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/embedding/columns.h"
#include "kernels/cpu/embedding/copied_rows.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

Status ExportFilter(KernelContext& ctx) {
  const int inputs[] = {0};
  TF_ASSIGN_OR_RETURN(const TableColumns of, ColumnsOf(ctx, inputs));
  std::vector<int64_t> blocks;
  std::vector<BloomCounts::Block> counters;
  std::optional<BloomShape> shape;
  TF_RETURN_IF_ERROR(of.table->ExportInOrder(
      of.columns,
      [&](int residue, SmallTable&, const KeyCounts* counts) {
        if (counts == nullptr || counts->bloom() == nullptr) return;
        const BloomCounts& bloom = *counts->bloom();
        shape = bloom.shape();
        bloom.ForEachBlock(residue, [&](int64_t block, const BloomCounts::Block& of_block) {
          blocks.push_back(residue * shape->blocks + block);
          counters.push_back(of_block);
        });
      },
      [&] { return ctx.env().cancellation == nullptr ? OkStatus() : ctx.env().cancellation->status(); }));
  if (!shape) return FailedPrecondition("growing table '", of.table->name(), "' has no Bloom filter");
  constexpr auto kWords = static_cast<int64_t>(std::tuple_size_v<BloomCounts::Block>);
  TF_ASSIGN_OR_RETURN(Tensor * words, ctx.AllocateOutput(1, {std::ssize(counters), kWords}));
  if (!counters.empty()) {
    std::memcpy(words->inplace_data<int64_t>().data(), counters.data(), counters.size() * sizeof(counters[0]));
  }
  ctx.set_output(0, Tensor::Vector(blocks));
  ctx.set_output(2, TensorOf(*shape));
  return OkStatus();
}

}  // namespace

void RegisterEmbeddingFilterKernels(KernelRegistry& r) { r.Add("_ExportFilter", {}, ExportFilter, FileCost); }

}  // namespace tensorbraid::cpu
