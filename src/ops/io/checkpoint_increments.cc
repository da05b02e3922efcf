// Ops for increments of variables whose rows are updated: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/io/restore_shape.h"

namespace tensorbraid {
namespace {

Status RecordRowsShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  return OkStatus();
}

Status ChangedRowsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(RecordRowsShape(c));
  const Shape variable = c.input_handle_shape(2);
  Shape rows = variable;
  if (rows.has_rank() && rows.rank() > 0) rows.set_dim(0, Shape::kUnknownDim);
  c.set_output(0, Shape({Shape::kUnknownDim}));
  c.set_output(1, rows);
  return OkStatus();
}

Status RestoreIncrementsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(3, 1).status());
  return RestoreShape(c);
}

}  // namespace

void RegisterIoCheckpointIncrementsOps(OpRegistry& r) {
  // Records which rows of the variable change after the save with the number `save`, which reads the whole variable, or
  // has restored it. `predecessor` is the number of the save before that was completed, or 0. Does nothing if `save` is
  // 0.
  r.Add(Op("_RecordRows")
            .Input("save: int64")
            .Input("predecessor: int64")
            .Input("resource: resource")
            .Stateful()
            .Shape(RecordRowsShape)
            .NotDifferentiable());
  // The rows of the variable that have changed since the save `predecessor`, for the save `save`: their numbers, to
  // which `first_row` is added, and their values. If they are not known, or are more than half of all rows, there are
  // no numbers, and the values are those of all rows.
  r.Add(Op("_ChangedRows")
            .Input("save: int64")
            .Input("predecessor: int64")
            .Input("resource: resource")
            .Output("rows: int64")
            .Output("values: dtype")
            .Attr("dtype: type")
            .Attr("first_row: int >= 0 = 0")
            .Stateful()
            .Shape(ChangedRowsShape)
            .NotDifferentiable());
  // As RestoreV2, but the increments with the prefixes `increments`, oldest first, follow the checkpoint. A tensor is
  // read from the newest of them that has all of it, and then gets the rows that the later ones have.
  r.Add(Op("_RestoreIncrements")
            .Input("prefix: string")
            .Input("tensor_names: string")
            .Input("shape_and_slices: string")
            .Input("increments: string")
            .Output("tensors: dtypes")
            .Attr("dtypes: list(type) >= 1")
            .Stateful()
            .Shape(RestoreIncrementsShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
