// Saving and restoring growing tables.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "checkpoint/bundle_reader.h"
#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/embedding/columns.h"
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

// keys, freqs, versions, partition_offset, and the numbers of each column.
Status Export(KernelContext& ctx) {
  constexpr int kFirstColumn = 4;
  TF_ASSIGN_OR_RETURN(const TableColumns of, TableAndSlots(ctx, 0));
  const int64_t dim = of.table->dim();
  TF_ASSIGN_OR_RETURN(Tensor * offsets, ctx.AllocateOutput(3, {kSmallTables + 1}));
  std::vector<int64_t> rows_of(kSmallTables);  // each small table writes its own number
  int64_t* keys = nullptr;
  int64_t* versions = nullptr;
  std::vector<float*> numbers;
  const auto begin = [&](int64_t n) -> Status {
    if (n > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("growing table '", of.table->name(), "' has ", n,
                             " rows in one part, but checkpoints count them in 32 bits: give it more parts");
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {n}));
    keys = out->inplace_data<int64_t>().data();
    TF_RETURN_IF_ERROR(ctx.AllocateOutput(1, {0}).status());
    TF_ASSIGN_OR_RETURN(out, ctx.AllocateOutput(2, {n}));
    versions = out->inplace_data<int64_t>().data();
    for (size_t c = 0; c < of.columns.size(); ++c) {
      TF_ASSIGN_OR_RETURN(out, ctx.AllocateOutput(kFirstColumn + static_cast<int>(c), {n, dim}));
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
      for (size_t c = 0; c < of.columns.size(); ++c) {
        std::copy_n(small.numbers(static_cast<size_t>(of.columns[c]), row), dim, numbers[c] + (first + row) * dim);
      }
    }
  };
  TF_RETURN_IF_ERROR(of.table->Export(ctx.pool(), of.columns, begin, copy));
  int32_t* const offset = offsets->inplace_data<int32_t>().data();
  offset[0] = 0;
  for (int r = 0; r < kSmallTables; ++r)
    offset[r + 1] = offset[r] + static_cast<int32_t>(rows_of[static_cast<size_t>(r)]);
  return OkStatus();
}

// One part of a saved table, or the whole of it.
struct SavedPart {
  std::string name;  // "a/b/emb" or "a/b/emb/part_0"
  int64_t rows = 0;
  bool has_versions = false;
};

std::string Named(const std::string& part, const std::string& slot) {
  return slot.empty() ? part : StrCat(part, "/", slot);
}

// NotFound if the checkpoint has no tensor of this name, InvalidArgument if it has another dtype or shape. Unknown
// sizes of `shape` match any size. Returns the number of rows.
StatusOr<int64_t> RowsIn(BundleReader& reader, const std::string& tensor, DType dtype, const Shape& shape) {
  TF_ASSIGN_OR_RETURN(const auto info, reader.Find(tensor));
  if (info.dtype == dtype && shape.IsCompatibleWith(info.shape)) return info.shape.dim(0);
  return InvalidArgument("tensor '", tensor, "' of checkpoint ", reader.prefix(), " is ", info.dtype, info.shape,
                         ", but the growing table needs ", dtype, shape);
}

// Looks for the table `name` and its slots in a checkpoint, and checks the dtypes and shapes of their tensors.
StatusOr<std::vector<SavedPart>> FindParts(BundleReader& reader, const std::string& name,
                                           const std::vector<std::string>& slots, int64_t dim) {
  std::vector<SavedPart> parts;
  if (reader.Find(name + "-keys").ok()) {
    parts.push_back({.name = name});
  } else {
    for (int i = 0; i < kSmallTables; ++i) {
      const std::string part = StrCat(name, "/part_", i);
      const auto found = reader.Find(part + "-keys");
      if (!found.ok() && found.status().code() != absl::StatusCode::kNotFound) return found.status();
      if (!found.ok()) break;
      parts.push_back({.name = part});
    }
  }
  if (parts.empty()) {
    return NotFound("checkpoint ", reader.prefix(), " has no growing table '", name, "': it has neither '", name,
                    "-keys' nor '", name, "/part_0-keys'");
  }
  for (SavedPart& part : parts) {
    for (const std::string& slot : slots) {
      const std::string of = Named(part.name, slot);
      TF_ASSIGN_OR_RETURN(const int64_t rows, RowsIn(reader, of + "-keys", kInt64, Shape({Shape::kUnknownDim})));
      TF_RETURN_IF_ERROR(RowsIn(reader, of + "-values", kFloat32, Shape({rows, dim})).status());
      if (slot.empty()) part.rows = rows;
    }
    const auto versions = reader.Find(part.name + "-versions");
    part.has_versions = versions.ok() && versions->dtype == kInt64 && versions->shape == Shape({part.rows});
  }
  return parts;
}

// Whether part `part` of `parts` may hold keys that saved part `saved` of `saved_parts` has.
bool ShareSmallTables(int part, int parts, int saved, int saved_parts) {
  for (int r = part; r < kSmallTables; r += parts) {
    if (r % saved_parts == saved) return true;
  }
  return false;
}

// Reads saved rows into a part of a table.
class TableRestore {
 public:
  TableRestore(KernelContext& ctx, BundleReader& reader, const RowsDescription& description,
               const TableRows::Visit& visit, TableRows& rows)
      : ctx_(ctx), reader_(reader), description_(description), visit_(visit), rows_(rows) {}

  // Reads the rows of a saved part in one column. Makes the rows if `slot` is empty; otherwise leaves out keys that
  // have no row.
  Status Read(const SavedPart& part, const std::string& slot, int column) {
    const std::string name = Named(part.name, slot);
    TF_ASSIGN_OR_RETURN(const Tensor keys, reader_.Read(name + "-keys"));
    TF_ASSIGN_OR_RETURN(const Tensor values, reader_.Read(name + "-values"));
    Tensor versions;
    if (slot.empty() && part.has_versions) {
      TF_ASSIGN_OR_RETURN(versions, reader_.Read(part.name + "-versions"));
    }
    // Some keys at a time, so that the order of the visit takes little memory.
    constexpr size_t kBatch = size_t{1} << 20;
    const auto all = keys.data<int64_t>();
    for (size_t first = 0; first < all.size(); first += kBatch) {
      if (ctx_.env().cancellation != nullptr) TF_RETURN_IF_ERROR(ctx_.env().cancellation->status());
      TF_RETURN_IF_ERROR(ReadBatch(all, first, std::min(all.size(), first + kBatch), values.data<float>().data(),
                                   versions.is_valid() ? versions.data<int64_t>().data() : nullptr, slot.empty(),
                                   column));
    }
    return OkStatus();
  }

 private:
  Status ReadBatch(std::span<const int64_t> all, size_t begin, size_t end, const float* values, const int64_t* versions,
                   bool add, int column) {
    keys_.clear();
    at_.clear();
    for (size_t i = begin; i < end; ++i) {
      if (TableRows::ResidueOf(all[i]) % description_.parts != description_.part) continue;
      keys_.push_back(all[i]);
      at_.push_back(i);
    }
    TableRows::Visit visit = visit_;
    const int columns[] = {column};
    visit.keys = keys_;
    visit.columns = columns;
    visit.rows = nullptr;  // the values of new rows are read
    if (!add) visit.absent = TableRows::Absent::kReport;
    const auto dim = static_cast<size_t>(rows_.dim());
    return rows_.VisitKeys(ctx_.pool(), visit, [&](std::span<const VisitedRow> visited) {
      for (const VisitedRow& row : visited) {
        if (row.info == nullptr) continue;
        const size_t at = at_[row.number];
        std::copy_n(values + at * dim, dim, row.numbers[0]);
        if (versions != nullptr) row.info->version = versions[at];
      }
    });
  }

  KernelContext& ctx_;
  BundleReader& reader_;
  const RowsDescription& description_;
  const TableRows::Visit& visit_;
  TableRows& rows_;
  std::vector<int64_t> keys_;  // of a batch, those that the part holds
  std::vector<size_t> at_;     // and where they are in the tensors
};

Status Restore(KernelContext& ctx) {
  const Tensor& prefix = ctx.input(0);
  if (prefix.num_elements() != 1) return InvalidArgument("prefix must be one string, got shape ", prefix.shape());
  TF_ASSIGN_OR_RETURN(const TableColumns of, TableAndSlots(ctx, 1));
  std::vector<std::string> slots = ctx.node().attr<std::vector<std::string>>("slot_names");
  slots.insert(slots.begin(), "");
  if (slots.size() != of.columns.size() || std::count(slots.begin(), slots.end(), "") > 1) {
    return InvalidArgument("slot_names must have one name for each of ", of.columns.size() - 1, " slots");
  }
  TF_ASSIGN_OR_RETURN(const auto reader, BundleReader::Open(prefix.data<std::string>()[0]));
  TF_ASSIGN_OR_RETURN(const std::vector<SavedPart> parts,
                      FindParts(*reader, ctx.node().attr<std::string>("name"), slots, of.table->dim()));
  return of.table->Replace(
      of.columns, [&](const RowsDescription& description, const TableRows::Visit& visit, TableRows& rows) -> Status {
        TableRestore restore(ctx, *reader, description, visit, rows);
        for (size_t p = 0; p < parts.size(); ++p) {
          if (!ShareSmallTables(description.part, description.parts, static_cast<int>(p),
                                static_cast<int>(parts.size()))) {
            continue;
          }
          for (size_t c = 0; c < slots.size(); ++c) {
            TF_RETURN_IF_ERROR(restore.Read(parts[p], slots[c], of.columns[c]));
          }
        }
        return OkStatus();
      });
}

}  // namespace

void RegisterEmbeddingCheckpointKernels(KernelRegistry& r) {
  r.Add("_ExportTable", {}, Export);
  r.Add<FileKernel<Restore>>("_RestoreTable", {}, FileCost);
}

}  // namespace tensorbraid::cpu
