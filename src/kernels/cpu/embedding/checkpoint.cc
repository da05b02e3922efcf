// Saving and restoring growing tables.
#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/embedding/columns.h"
#include "kernels/cpu/embedding/copied_rows.h"
#include "kernels/cpu/embedding/restored_rows.h"
#include "kernels/cpu/embedding/save_tables.h"
#include "kernels/cpu/io/file_kernel.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

std::vector<int> InputsFrom(int first, const KernelContext& ctx) {
  std::vector<int> inputs(static_cast<size_t>(ctx.num_inputs() - first));
  std::iota(inputs.begin(), inputs.end(), first);
  return inputs;
}

// The columns of the table and of its slots, which are the inputs from `first` on.
StatusOr<TableColumns> TableAndSlots(KernelContext& ctx, int first) {
  TF_ASSIGN_OR_RETURN(TableColumns of, ColumnsOf(ctx, InputsFrom(first, ctx)));
  if (of.columns[0] == 0) return of;
  return InvalidArgument("input ", first,
                         ", 'table', must be the handle of a growing table, got the handle of its slot '",
                         of.table->ColumnName(of.columns[0]), "'");
}

Status TooManyRows(const EmbeddingTable& table, int64_t rows) {
  return InvalidArgument("growing table '", table.name(), "' has ", rows,
                         " rows in one part, but checkpoints count them in 32 bits: give it more parts");
}

// Sets an output to a list of all small tables.
template <typename T, typename ListOf>
Status SetList(KernelContext& ctx, int output, int64_t dim, std::span<const CopiedRows> copied, const ListOf& list_of) {
  int64_t n = 0;
  for (const CopiedRows& rows : copied) n += static_cast<int64_t>(list_of(rows).size());
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(output, dim == 0 ? Shape({n}) : Shape({n / dim, dim})));
  T* to = out->inplace_data<T>().data();
  for (const CopiedRows& rows : copied) to = std::ranges::copy(list_of(rows), to).out;
  return OkStatus();
}

// Sets an output to where the keys of each residue begin in such a list.
template <typename ListOf>
Status SetOffsets(KernelContext& ctx, int output, const EmbeddingTable& table, std::span<const CopiedRows> copied,
                  const ListOf& list_of) {
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(output, {kSmallTables + 1}));
  const auto offset = out->inplace_data<int32_t>();
  int64_t n = 0;
  offset[0] = 0;
  for (size_t r = 0; r < copied.size(); ++r) {
    n += static_cast<int64_t>(list_of(copied[r]).size());
    if (n > std::numeric_limits<int32_t>::max()) return TooManyRows(table, n);
    offset[r + 1] = static_cast<int32_t>(n);
  }
  return OkStatus();
}

// Sets the outputs to what was copied of each small table, by residue: keys, freqs, versions and partition_offset,
// `deleted` if it is an output, the numbers of each column, and the keys that are not admitted.
Status SetOutputs(KernelContext& ctx, const TableColumns& of, std::span<const CopiedRows> copied) {
  using Keys = std::vector<int64_t>;
  const auto lists = [&](int output, const std::vector<Keys CopiedRows::*>& members) -> Status {
    for (const auto member : members) {
      TF_RETURN_IF_ERROR(SetList<int64_t>(ctx, output++, 0, copied,
                                          [member](const CopiedRows& r) -> const Keys& { return r.*member; }));
    }
    return OkStatus();
  };
  TF_RETURN_IF_ERROR(lists(0, {&CopiedRows::keys, &CopiedRows::freqs, &CopiedRows::versions}));
  TF_RETURN_IF_ERROR(SetOffsets(ctx, 3, *of.table, copied, [](const CopiedRows& r) -> const Keys& { return r.keys; }));
  const int filtered = ctx.num_outputs() - 4, first_column = filtered - static_cast<int>(of.columns.size());
  if (first_column == 5) TF_RETURN_IF_ERROR(lists(4, {&CopiedRows::deleted}));
  for (size_t c = 0; c < of.columns.size(); ++c) {
    TF_RETURN_IF_ERROR(SetList<float>(ctx, first_column + static_cast<int>(c), of.table->width(of.columns[c]), copied,
                                      [c](const CopiedRows& r) -> const std::vector<float>& { return r.numbers[c]; }));
  }
  TF_RETURN_IF_ERROR(
      lists(filtered, {&CopiedRows::filtered_keys, &CopiedRows::filtered_freqs, &CopiedRows::filtered_versions}));
  return SetOffsets(ctx, filtered + 3, *of.table, copied,
                    [](const CopiedRows& r) -> const Keys& { return r.filtered_keys; });
}

// Copies all rows, or those that have changed, to the outputs. The rows are in memory twice at the end.
Status ExportRows(KernelContext& ctx, const TableColumns& of, const SaveNumbers& numbers, bool only_changes) {
  if (!only_changes) of.table->Evict();
  const RowCopier copier(*of.table, of.columns);
  std::vector<CopiedRows> copied(kSmallTables, {.numbers = std::vector<std::vector<float>>(of.columns.size())});
  std::atomic<bool> known{true};
  TF_RETURN_IF_ERROR(
      of.table->Export(ctx.pool(), of.columns, [&](int residue, SmallTable& small, const KeyCounts* counts) {
        CopiedRows* const to = &copied[static_cast<size_t>(residue)];
        if (!only_changes) {
          copier.CopyAll(residue, small, counts, numbers, to);
        } else if (!copier.CopyChanges(residue, small, counts, numbers, to)) {
          known = false;
        }
      }));
  if (known) return SetOutputs(ctx, of, copied);
  return FailedPrecondition("growing table '", of.table->name(), "' was not recorded since the save before: it was ",
                            "restored, initialized or saved by others meanwhile; save a full checkpoint");
}

Status Export(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const TableColumns of, TableAndSlots(ctx, 0));
  return ExportRows(ctx, of, {}, /*only_changes=*/false);
}

Status ExportTracked(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const TableColumns of, TableAndSlots(ctx, 2));
  const auto number = [&](int input) { return static_cast<uint64_t>(ctx.input(input).scalar<int64_t>()); };
  return ExportRows(ctx, of, {.save = number(0), .predecessor = number(1)}, ctx.node().attr<bool>("only_changes"));
}

// Restores the table whose handle is input `first`, with its slots, from a full checkpoint and increments.
Status RestoreTable(KernelContext& ctx, int first, const std::vector<std::string>& prefixes, uint64_t save) {
  TF_ASSIGN_OR_RETURN(const TableColumns of, TableAndSlots(ctx, first));
  RestoredTable table = {.whole = ctx.node().attr<std::string>("name"),
                         .slots = ctx.node().attr<std::vector<std::string>>("slot_names"),
                         .columns = of.columns};
  table.slots.insert(table.slots.begin(), "");
  if (table.slots.size() != of.columns.size() || std::count(table.slots.begin(), table.slots.end(), "") > 1) {
    return InvalidArgument("slot_names must have one name for each of ", of.columns.size() - 1, " slots");
  }
  return of.table->Replace(of.columns, of.said,
                           [&](const RowsDescription& description, const TableRows::Visit& visit, TableRows& rows,
                               KeyCounts* counts) -> Status {
                             TF_RETURN_IF_ERROR(ReadRows(ctx, table, prefixes, description, visit, rows, counts));
                             if (save == 0) return OkStatus();
                             rows.RecordChanges(save);
                             for (int r = 0; counts != nullptr && r < kSmallTables; ++r) counts->TakeAll(r, save);
                             return OkStatus();
                           });
}

StatusOr<std::string> PrefixOf(KernelContext& ctx) {
  const Tensor& prefix = ctx.input(0);
  if (prefix.num_elements() != 1) return InvalidArgument("prefix must be one string, got shape ", prefix.shape());
  return prefix.data<std::string>()[0];
}

Status Restore(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string prefix, PrefixOf(ctx));
  return RestoreTable(ctx, 1, {prefix}, 0);
}

Status RestoreTracked(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string prefix, PrefixOf(ctx));
  std::vector<std::string> prefixes = {prefix};
  for (const std::string& increment : ctx.input(1).data<std::string>()) prefixes.push_back(increment);
  return RestoreTable(ctx, 3, prefixes, static_cast<uint64_t>(ctx.input(2).scalar<int64_t>()));
}

}  // namespace

void RegisterEmbeddingCheckpointKernels(KernelRegistry& r) {
  r.Add("_ExportTable", {}, Export);
  r.Add("_ExportTrackedTable", {}, ExportTracked);
  r.Add<SaveTablesKernel>("_SaveTables");
  r.Add<FileKernel<Restore>>("_RestoreTable", {}, FileCost);
  r.Add<FileKernel<RestoreTracked>>("_RestoreTrackedTable", {}, FileCost);
}

}  // namespace tensorbraid::cpu
