// Reading the Bloom filter of a growing table: schema and shape rule.
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status ExportFilterShape(ShapeContext& c) {
  c.set_output(0, Shape({Shape::kUnknownDim}));
  c.set_output(1, Shape({Shape::kUnknownDim, Shape::kUnknownDim}));
  c.set_output(2, Shape({3}));
  return OkStatus();
}

}  // namespace

void RegisterEmbeddingFilterOps(OpRegistry& r) {
  // The blocks of the table's Bloom filter that are not zero: their numbers, [n], and counters, [n, words of a block],
  // and the sizes of the filter, as checkpoints have them.
  r.Add(Op("_ExportFilter")
            .Input("table: resource")
            .Output("blocks: int64")
            .Output("counters: int64")
            .Output("shape: int64")
            .Stateful()
            .Shape(ExportFilterShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
