// Saving and restoring growing tables: schemas and shape rules.
#include "core/text/strings.h"
#include "ops/embedding/shapes.h"

namespace tensorbraid {
namespace {

// keys, freqs, versions, partition_offset, then the numbers of the table and of each slot.
Status ExportTableShape(ShapeContext& c) {
  const Shape rows({Shape::kUnknownDim});
  c.set_output(0, rows);
  c.set_output(1, Shape({0}));
  c.set_output(2, rows);
  c.set_output(3, Shape({1001}));
  for (int i = 4; i < c.num_outputs(); ++i) {
    c.set_output(i, Shape({Shape::kUnknownDim, RowShapeOf(c.node().inputs()[static_cast<size_t>(i - 4)]).dim(0)}));
  }
  return OkStatus();
}

Status RestoreTableShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  const auto& names = c.attr<std::vector<std::string>>("slot_names");
  if (static_cast<int>(names.size()) != c.num_inputs() - 2) {
    return InvalidArgument("there are ", c.num_inputs() - 2, " slots, but slot_names has ", names.size(), " names");
  }
  return OkStatus();
}

}  // namespace

void RegisterEmbeddingCheckpointOps(OpRegistry& r) {
  r.Add(Op("_ExportTable")
            .Input("table: resource")
            .Input("slots: N * resource")
            .Output("keys: int64")
            .Output("freqs: int64")
            .Output("versions: int64")
            .Output("partition_offset: int32")
            .Output("values: float")
            .Output("slot_values: N * float")
            .Attr("N: int >= 0")
            .Stateful()
            .Shape(ExportTableShape)
            .NotDifferentiable());
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
}

}  // namespace tensorbraid
