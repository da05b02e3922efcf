// Ops that write summaries to files: schemas and shape rules.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// All inputs are scalars, except the tensor of WriteSummary, which is its input 2.
Status WriteSummaryShape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (i != 2 || c.node().type() != "WriteSummary") TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  }
  return OkStatus();
}

}  // namespace

void RegisterSummaryWriterOps(OpRegistry& r) {
  const auto add = [&r](Op op) { r.Add(op.Stateful().Shape(WriteSummaryShape).NotDifferentiable()); };
  r.Add(Op("SummaryWriter")
            .Output("writer: resource")
            .Attr("shared_name: string = ''")
            .Attr("container: string = ''")
            .Stateful()
            .Shape(ScalarShape)
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

}  // namespace tensorbraid
