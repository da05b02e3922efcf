// Ops that create and describe growing tables: schemas and shape rules. The names, and those in lookup.cc and
// update.cc, are DeepRec's; names that begin with "_" are our own.
#include "core/text/strings.h"
#include "ops/embedding/shapes.h"

namespace tensorbraid {
namespace {

// The attribute `shape` is that of one row.
Status TableHandleShape(ShapeContext& c) {
  const Shape& row = c.attr<Shape>("shape");
  if (!row.has_rank() || row.rank() != 1 || row.dim(0) < 1) {
    return InvalidArgument(
        "the attribute 'shape' of a growing table is the shape of one row, [dim] with dim >= 1, got ", row);
  }
  c.set_output(0, Shape());
  return OkStatus();
}

Status TableShapeShape(ShapeContext& c) {
  c.set_output(0, Shape({2}));
  return OkStatus();
}

}  // namespace

void RegisterEmbeddingTableOps(OpRegistry& r) {
  // Attributes that only some nodes have: `_whole`, `_part`, `_parts`, `_seed`, `_seed_of_graph`, `_initializer`,
  // `_initializer_args`, `_matrix_rows` and `_matrix` on the handle of a table; `_table` and `_initial` on the handle
  // of a slot, and `_dim`, the row length of the table, if the slot has another one (docs/design/0035).
  r.Add(Op("KvVarHandleOp")
            .Attr("container: string = ''")
            .Attr("shared_name: string = ''")
            .Attr("dtype: {float}")
            .Attr("shape: shape")
            .Attr("Tkeys: {int64, int32, string} = DT_INT64")
            .Output("resource: resource")
            .Stateful()
            .Shape(TableHandleShape)
            .NotDifferentiable());
  r.Add(Op("KvVarIsInitializedOp")
            .Input("resource: resource")
            .Output("is_initialized: bool")
            .Attr("Tkeys: {int64, int32, string} = DT_INT64")
            .Stateful()
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("KvVariableShape")
            .Input("input: resource")
            .Output("output: out_type")
            .Attr("out_type: {int32, int64} = DT_INT32")
            .Attr("Tkeys: {int64, int32, string} = DT_INT64")
            .Stateful()
            .Shape(TableShapeShape)
            .NotDifferentiable());
  // The handle of a table: removes all rows. The handle of a slot: gives every row the initial number of the slot.
  r.Add(Op("_InitializeTable").Input("resource: resource").Stateful().Shape(NoOutputs).NotDifferentiable());
}

}  // namespace tensorbraid
