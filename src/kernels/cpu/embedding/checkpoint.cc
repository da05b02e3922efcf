// Saving and restoring growing tables.
#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/embedding/columns.h"
#include "kernels/cpu/embedding/restored_rows.h"
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

// The keys of each small table, by residue, that have no row and were counted.
using FilteredKeys = std::vector<std::vector<KeyCount>>;

// Sets the last four outputs: keys, freqs, versions and partition_filter_offset.
Status SetFiltered(KernelContext& ctx, const FilteredKeys& filtered) {
  const int first = ctx.num_outputs() - 4;
  int64_t n = 0;
  for (const auto& keys : filtered) n += static_cast<int64_t>(keys.size());
  if (n > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("a growing table has ", n, " keys without a row in one part, but checkpoints count them in ",
                           "32 bits: give it more parts");
  }
  std::array<int64_t*, 3> to;
  for (int i = 0; i < 3; ++i) {
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(first + i, {n}));
    to[static_cast<size_t>(i)] = out->inplace_data<int64_t>().data();
  }
  TF_ASSIGN_OR_RETURN(Tensor * offsets, ctx.AllocateOutput(first + 3, {kSmallTables + 1}));
  const auto offset = offsets->inplace_data<int32_t>();
  int32_t at = 0;
  for (size_t r = 0; r < filtered.size(); ++r) {
    offset[r] = at;
    for (const KeyCount& key : filtered[r]) {
      to[0][at] = key.key;
      to[1][at] = key.count;
      to[2][at++] = key.version;
    }
  }
  offset[filtered.size()] = at;
  return OkStatus();
}

// Sets outputs 0 to 3 to keys, freqs, versions and partition_offset, those from `first_column` on to the numbers of
// each column, and the last four to the keys without a row. Calls copied(small, count) after the first `count` rows of
// a small table were copied, before its lock is released.
template <typename Copied>
Status ExportAll(KernelContext& ctx, const TableColumns& of, int first_column, const Copied& copied) {
  const int64_t dim = of.table->dim();
  TF_ASSIGN_OR_RETURN(Tensor * offsets, ctx.AllocateOutput(3, {kSmallTables + 1}));
  std::vector<int64_t> rows_of(kSmallTables);  // each small table writes its own number
  int64_t* keys = nullptr;
  int64_t* versions = nullptr;
  int64_t* freqs = nullptr;
  const KeyCounts* counts = nullptr;
  FilteredKeys filtered(kSmallTables);
  std::vector<float*> numbers;
  const auto begin = [&](int64_t n) -> Status {
    if (n > std::numeric_limits<int32_t>::max()) return TooManyRows(*of.table, n);
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {n}));
    keys = out->inplace_data<int64_t>().data();
    counts = of.table->exported_counts();
    TF_ASSIGN_OR_RETURN(out, ctx.AllocateOutput(1, {counts == nullptr ? 0 : n}));
    freqs = out->inplace_data<int64_t>().data();
    TF_ASSIGN_OR_RETURN(out, ctx.AllocateOutput(2, {n}));
    versions = out->inplace_data<int64_t>().data();
    for (size_t c = 0; c < of.columns.size(); ++c) {
      TF_ASSIGN_OR_RETURN(out, ctx.AllocateOutput(first_column + static_cast<int>(c), {n, dim}));
      numbers.push_back(out->inplace_data<float>().data());
    }
    return OkStatus();
  };
  // The caller holds the lock of the small table, which the analysis does not see.
  const auto copy = [&](int residue, int64_t first, SmallTable& small, uint32_t count) TB_NO_THREAD_SAFETY_ANALYSIS {
    rows_of[static_cast<size_t>(residue)] = count;
    for (uint32_t row = 0; row < count; ++row) {
      const RowInfo& info = small.info(row);
      keys[first + row] = info.key;
      versions[first + row] = info.version;
      if (counts != nullptr) freqs[first + row] = counts->CountOf(info.key);
      for (size_t c = 0; c < of.columns.size(); ++c) {
        std::copy_n(small.numbers(static_cast<size_t>(of.columns[c]), row), dim, numbers[c] + (first + row) * dim);
      }
    }
    if (counts != nullptr) {
      counts->ForEach(residue, [&](const KeyCount& key) TB_NO_THREAD_SAFETY_ANALYSIS {
        const uint32_t row = small.Find(key.key, KeyHash(key.key));
        if (row == RowIndex::kNone || row >= count) filtered[static_cast<size_t>(residue)].push_back(key);
      });
    }
    copied(small, count);
  };
  TF_RETURN_IF_ERROR(of.table->Export(ctx.pool(), of.columns, begin, copy));
  int32_t* const offset = offsets->inplace_data<int32_t>().data();
  offset[0] = 0;
  for (int r = 0; r < kSmallTables; ++r)
    offset[r + 1] = offset[r] + static_cast<int32_t>(rows_of[static_cast<size_t>(r)]);
  return SetFiltered(ctx, filtered);
}

Status Export(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const TableColumns of, TableAndSlots(ctx, 0));
  return ExportAll(ctx, of, 4, [](SmallTable&, uint32_t) {});
}

// What has changed in a small table.
struct TakenRows {
  std::vector<int64_t> keys = {}, freqs = {}, versions = {}, deleted = {};
  std::vector<std::vector<float>> numbers = {};  // of each column
};

// Concatenates one list of all small tables in an output.
template <typename T, typename ListOf>
Status SetList(KernelContext& ctx, int output, const Shape& shape, std::span<const TakenRows> taken,
               const ListOf& list_of) {
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(output, shape));
  T* to = out->inplace_data<T>().data();
  for (const TakenRows& rows : taken) to = std::ranges::copy(list_of(rows), to).out;
  return OkStatus();
}

// Sets the outputs of _ExportTrackedTable to the rows that were taken from each small table, by residue.
Status SetTaken(KernelContext& ctx, const TableColumns& of, std::span<const TakenRows> taken) {
  constexpr int kFirstColumn = 5;
  TF_ASSIGN_OR_RETURN(Tensor * offsets, ctx.AllocateOutput(3, {kSmallTables + 1}));
  const auto offset = offsets->inplace_data<int32_t>();
  int64_t rows = 0, deleted = 0;
  offset[0] = 0;
  for (size_t r = 0; r < taken.size(); ++r) {
    rows += static_cast<int64_t>(taken[r].keys.size());
    deleted += static_cast<int64_t>(taken[r].deleted.size());
    if (rows > std::numeric_limits<int32_t>::max()) return TooManyRows(*of.table, rows);
    offset[r + 1] = static_cast<int32_t>(rows);
  }
  TF_RETURN_IF_ERROR(SetList<int64_t>(
      ctx, 0, {rows}, taken, [](const TakenRows& t) -> auto& { return t.keys; }));
  int64_t freqs = 0;  // none without a filter
  for (const TakenRows& t : taken) freqs += static_cast<int64_t>(t.freqs.size());
  TF_RETURN_IF_ERROR(SetList<int64_t>(
      ctx, 1, {freqs}, taken, [](const TakenRows& t) -> auto& { return t.freqs; }));
  TF_RETURN_IF_ERROR(SetFiltered(ctx, FilteredKeys(kSmallTables)));
  TF_RETURN_IF_ERROR(SetList<int64_t>(
      ctx, 2, {rows}, taken, [](const TakenRows& t) -> auto& { return t.versions; }));
  TF_RETURN_IF_ERROR(SetList<int64_t>(
      ctx, 4, {deleted}, taken, [](const TakenRows& t) -> auto& { return t.deleted; }));
  for (size_t c = 0; c < of.columns.size(); ++c) {
    TF_RETURN_IF_ERROR(SetList<float>(
        ctx, kFirstColumn + static_cast<int>(c), {rows, of.table->dim()},
        taken, [c](const TakenRows& t) -> auto& { return t.numbers[c]; }));
  }
  return OkStatus();
}

// Takes the rows that have changed since the save `predecessor`. They are fewer than all, so they are copied twice.
Status ExportChanges(KernelContext& ctx, const TableColumns& of, uint64_t predecessor, uint64_t save) {
  std::vector<TakenRows> taken(kSmallTables, {.numbers = std::vector<std::vector<float>>(of.columns.size())});
  std::atomic<bool> known{true};
  const auto dim = static_cast<size_t>(of.table->dim());
  const auto take = [&](int residue, int64_t, SmallTable& small, uint32_t) TB_NO_THREAD_SAFETY_ANALYSIS {
    if (small.changes == nullptr || !small.changes->TakeSince(predecessor, save)) {
      known = false;
      return;
    }
    TakenRows& rows = taken[static_cast<size_t>(residue)];
    small.changes->ForEachTaken([&](uint32_t row) TB_NO_THREAD_SAFETY_ANALYSIS {
      rows.keys.push_back(small.info(row).key);
      rows.versions.push_back(small.info(row).version);
      if (const KeyCounts* const counts = of.table->exported_counts(); counts != nullptr) {
        rows.freqs.push_back(counts->CountOf(small.info(row).key));
      }
      for (size_t c = 0; c < of.columns.size(); ++c) {
        const float* const numbers = small.numbers(static_cast<size_t>(of.columns[c]), row);
        rows.numbers[c].insert(rows.numbers[c].end(), numbers, numbers + dim);
      }
    });
    rows.deleted = small.changes->taken_deleted();
  };
  TF_RETURN_IF_ERROR(of.table->Export(
      ctx.pool(), of.columns, [](int64_t) { return OkStatus(); }, take));
  if (known) return SetTaken(ctx, of, taken);
  return FailedPrecondition("growing table '", of.table->name(), "' was not recorded since the save before: it was ",
                            "restored, initialized or saved by others meanwhile; save a full checkpoint");
}

Status ExportTracked(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const TableColumns of, TableAndSlots(ctx, 2));
  const auto number = [&](int input) { return static_cast<uint64_t>(ctx.input(input).scalar<int64_t>()); };
  const uint64_t save = number(0), predecessor = number(1);
  if (ctx.node().attr<bool>("only_changes")) return ExportChanges(ctx, of, predecessor, save);
  TF_RETURN_IF_ERROR(ctx.AllocateOutput(4, {0}).status());
  return ExportAll(ctx, of, 5, [&](SmallTable& small, uint32_t count) TB_NO_THREAD_SAFETY_ANALYSIS {
    if (save == 0) return;
    if (small.changes == nullptr) small.changes = std::make_unique<Changes>(0);
    small.changes->TakeAll(predecessor, save, count, small.rows());
  });
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
  return of.table->Replace(of.columns,
                           [&](const RowsDescription& description, const TableRows::Visit& visit, TableRows& rows,
                               KeyCounts* counts) -> Status {
                             TF_RETURN_IF_ERROR(ReadRows(ctx, table, prefixes, description, visit, rows, counts));
                             if (save != 0) rows.RecordChanges(save);
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
  r.Add<FileKernel<Restore>>("_RestoreTable", {}, FileCost);
  r.Add<FileKernel<RestoreTracked>>("_RestoreTrackedTable", {}, FileCost);
}

}  // namespace tensorbraid::cpu
