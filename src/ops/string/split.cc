// Ops that split strings: schemas and shape rules.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status StringSplitShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1));
  TF_RETURN_IF_ERROR(c.WithRank(1, 0));
  c.set_output(0, Shape({-1, 2}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, Shape({2}));
  return OkStatus();
}

Status NGramsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1));
  TF_ASSIGN_OR_RETURN(Shape splits, c.WithRank(1, 1));
  c.set_output(0, Shape({-1}));
  c.set_output(1, std::move(splits));
  return OkStatus();
}

}  // namespace

void RegisterStringSplitOps(OpRegistry& r) {
  r.Add(Op("StringSplit")
            .Input("input: string")
            .Input("delimiter: string")
            .Output("indices: int64")
            .Output("values: string")
            .Output("shape: int64")
            .Attr("skip_empty: bool = true")
            .Shape(StringSplitShape)
            .NotDifferentiable());
  r.Add(Op("StringSplitV2")
            .Input("input: string")
            .Input("sep: string")
            .Output("indices: int64")
            .Output("values: string")
            .Output("shape: int64")
            .Attr("maxsplit: int = -1")
            .Shape(StringSplitShape)
            .NotDifferentiable());
  r.Add(Op("StringNGrams")
            .Input("data: string")
            .Input("data_splits: Tsplits")
            .Output("ngrams: string")
            .Output("ngrams_splits: Tsplits")
            .Attr("separator: string")
            .Attr("ngram_widths: list(int) >= 0")
            .Attr("left_pad: string")
            .Attr("right_pad: string")
            .Attr("pad_width: int")
            .Attr("preserve_short_sequences: bool")
            .Attr("Tsplits: {int32, int64} = DT_INT64")
            .Shape(NGramsShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
