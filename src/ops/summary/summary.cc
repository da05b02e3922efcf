// Ops that make Summary messages: schemas and shape rules.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// The tag, input 0, and the summary are scalars.
Status TaggedShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0));
  return ScalarShape(c);
}

}  // namespace

void RegisterSummaryOps(OpRegistry& r) {
  r.Add(Op("ScalarSummary")
            .Input("tags: string")
            .Input("values: T")
            .Output("summary: string")
            .Attr("T: realnumbertype")
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("HistogramSummary")
            .Input("tag: string")
            .Input("values: T")
            .Output("summary: string")
            .Attr("T: realnumbertype = DT_FLOAT")
            .Shape(TaggedShape)
            .NotDifferentiable());
  r.Add(Op("ImageSummary")
            .Input("tag: string")
            .Input("tensor: T")
            .Output("summary: string")
            .Attr("max_images: int >= 1 = 3")
            .Attr("T: {uint8, float, half, double} = DT_FLOAT")
            .Attr("bad_color: tensor = uint8 [255, 0, 0, 255]")
            .Shape(TaggedShape)
            .NotDifferentiable());
  r.Add(Op("AudioSummaryV2")
            .Input("tag: string")
            .Input("tensor: float")
            .Input("sample_rate: float")
            .Output("summary: string")
            .Attr("max_outputs: int >= 1 = 3")
            .Shape(TaggedShape)
            .NotDifferentiable());
  r.Add(Op("MergeSummary")
            .Input("inputs: N * string")
            .Output("summary: string")
            .Attr("N: int >= 1")
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("TensorSummary")
            .Input("tensor: T")
            .Output("summary: string")
            .Attr("T: type")
            .Attr("description: string = ''")
            .Attr("labels: list(string) = []")
            .Attr("display_name: string = ''")
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("TensorSummaryV2")
            .Input("tag: string")
            .Input("tensor: T")
            .Input("serialized_summary_metadata: string")
            .Output("summary: string")
            .Attr("T: type")
            .Shape(TaggedShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
