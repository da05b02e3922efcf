// Saving and restoring growing tables: schemas and shape rules.
#include <utility>

#include "core/text/strings.h"
#include "ops/embedding/shapes.h"

namespace tensorbraid {
namespace {

// keys, freqs, versions, partition_offset, then the numbers of the table and of each slot, whose handles are the inputs
// from `first_handle` on, and then what is known of keys that are not admitted.
Status ExportShape(ShapeContext& c, int first_handle, int first_numbers) {
  const Shape rows({Shape::kUnknownDim});
  c.set_output(0, rows);
  c.set_output(1, rows);  // [0] without a filter
  c.set_output(2, rows);
  c.set_output(3, Shape({1001}));
  const int filtered = c.num_outputs() - 4;
  for (int i = 0; i < 3; ++i) c.set_output(filtered + i, rows);
  c.set_output(filtered + 3, Shape({1001}));
  for (int i = first_numbers; i < filtered; ++i) {
    const auto handle = static_cast<size_t>(i - first_numbers + first_handle);
    c.set_output(i, Shape({Shape::kUnknownDim, RowShapeOf(c.node().inputs()[handle]).dim(0)}));
  }
  return OkStatus();
}

Status ExportTableShape(ShapeContext& c) { return ExportShape(c, 0, 4); }

Status ExportTrackedTableShape(ShapeContext& c) {
  for (int i = 0; i < 2; ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  c.set_output(4, Shape({Shape::kUnknownDim}));
  return ExportShape(c, 2, 5);
}

// `first` is the number of inputs before the handle of the table.
Status CheckSlotNames(ShapeContext& c, int first) {
  const auto& names = c.attr<std::vector<std::string>>("slot_names");
  const int slots = c.num_inputs() - first - 1;
  if (static_cast<int>(names.size()) == slots) return OkStatus();
  return InvalidArgument("there are ", slots, " slots, but slot_names has ", names.size(), " names");
}

Status RestoreTableShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  return CheckSlotNames(c, 1);
}

Status RestoreTrackedTableShape(ShapeContext& c) {
  for (const auto& [input, rank] : {std::pair(0, 0), {1, 1}, {2, 0}}) {
    TF_RETURN_IF_ERROR(c.WithRank(input, rank).status());
  }
  return CheckSlotNames(c, 3);
}

Status SaveTablesShape(ShapeContext& c) {
  constexpr int kHandles = 3;
  for (int i = 0; i < kHandles; ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  const int handles = c.num_inputs() - kHandles;
  int64_t columns = 0;
  for (const int64_t n : c.attr<std::vector<int64_t>>("columns")) {
    if (n < 1) return InvalidArgument("a table has ", n, " columns in the attribute 'columns'");
    columns += n;
  }
  const auto& names = c.attr<std::vector<std::string>>("names");
  if (columns == handles && static_cast<int>(names.size()) == handles) return OkStatus();
  return InvalidArgument("there are ", handles, " handles, but 'columns' has ", columns, " of them, and 'names' ",
                         names.size());
}

// Adds the inputs and outputs that exports of tables have in common; tracked ones also have `deleted`.
Op AddExport(Op op, bool tracked) {
  op.Input("table: resource").Input("slots: N * resource").Attr("N: int >= 0");
  for (const char* output : {"keys: int64", "freqs: int64", "versions: int64", "partition_offset: int32"}) {
    op.Output(output);
  }
  if (tracked) op.Output("deleted: int64");
  for (const char* output : {"values: float", "slot_values: N * float", "keys_filtered: int64", "freqs_filtered: int64",
                             "versions_filtered: int64", "partition_filter_offset: int32"}) {
    op.Output(output);
  }
  op.Stateful().NotDifferentiable();
  return op;
}

}  // namespace

void RegisterEmbeddingCheckpointOps(OpRegistry& r) {
  r.Add(AddExport(Op("_ExportTable"), /*tracked=*/false).Shape(ExportTableShape));
  r.Add(Op("_RestoreTable")
            .Input("prefix: string")
            .Input("table: resource")
            .Input("slots: N * resource")
            .Attr("N: int >= 0")
            .Attr("name: string")
            .Attr("slot_names: list(string)")
            .Stateful()
            .Shape(RestoreTableShape)
            .NotDifferentiable());
  // As _ExportTable, and begins to record what changes after the save with the number `save`; 0 records nothing.
  // `predecessor` is the number of the save before that was completed, or 0. If `only_changes`, the rows are those that
  // have changed since then, and `deleted` has the keys that were deleted, also those that have a row again.
  r.Add(AddExport(Op("_ExportTrackedTable").Input("save: int64").Input("predecessor: int64").Attr("only_changes: bool"),
                  /*tracked=*/true)
            .Shape(ExportTrackedTableShape));
  // Writes a checkpoint of growing tables, 1/1,000 of a table at a time. `columns` has, for each table, the number of
  // handles that belong to it: its own, then those of its slots. `names` are their names in the checkpoint. `save` and
  // `predecessor` are those of _ExportTrackedTable.
  r.Add(Op("_SaveTables")
            .Input("prefix: string")
            .Input("save: int64")
            .Input("predecessor: int64")
            .Input("handles: N * resource")
            .Attr("N: int >= 1")
            .Attr("columns: list(int)")
            .Attr("names: list(string)")
            .Stateful()
            .Shape(SaveTablesShape)
            .NotDifferentiable());
  // As _RestoreTable, but the increments with the prefixes `increments`, oldest first, follow the checkpoint. Then
  // begins to record what changes after the save with the number `save`; 0 records nothing.
  r.Add(Op("_RestoreTrackedTable")
            .Input("prefix: string")
            .Input("increments: string")
            .Input("save: int64")
            .Input("table: resource")
            .Input("slots: N * resource")
            .Attr("N: int >= 0")
            .Attr("name: string")
            .Attr("slot_names: list(string)")
            .Stateful()
            .Shape(RestoreTrackedTableShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
