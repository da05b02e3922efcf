// Summaries for TensorBoard, as serialized messages.
#include "graph/node.h"
#include "ops/register.h"

namespace tensorbraid {
namespace {

Status TaggedShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0));
  return ScalarShape(c);
}

Status WriterShape(ShapeContext& c) {
  c.set_output(0, {});
  return OkStatus();
}

// All inputs but the tensor to write are scalars.
Status WriteShape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (i != 2 || c.node().type() != "WriteSummary") TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  }
  return OkStatus();
}

// Summaries that go to a file from within the graph.
void RegisterWriters(OpRegistry& r) {
  const auto add = [&r](Op op) { r.Add(op.Stateful().Shape(WriteShape).NotDifferentiable()); };
  r.Add(Op("SummaryWriter")
            .Output("writer: resource")
            .Attr("shared_name: string = ''")
            .Attr("container: string = ''")
            .Stateful()
            .Shape(WriterShape)
            .NotDifferentiable());
  add(Op("CreateSummaryFileWriter")
          .Input("writer: resource")
          .Input("logdir: string")
          .Input("max_queue: int32")
          .Input("flush_millis: int32")
          .Input("filename_suffix: string"));
  add(Op("WriteSummary")
          .Input("writer: resource")
          .Input("step: int64")
          .Input("tensor: T")
          .Input("tag: string")
          .Input("summary_metadata: string")
          .Attr("T: type"));
  for (const char* op : {"WriteRawProtoSummary", "WriteGraphSummary"}) {
    add(Op(op).Input("writer: resource").Input("step: int64").Input("tensor: string"));
  }
  add(Op("ImportEvent").Input("writer: resource").Input("event: string"));
  for (const char* op : {"FlushSummaryWriter", "CloseSummaryWriter"}) add(Op(op).Input("writer: resource"));
}

}  // namespace

void RegisterSummaryOps(OpRegistry& r) {
  RegisterWriters(r);
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
