// Barriers: schemas and shape rules.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status TakeManyShape(ShapeContext& c) {
  const Tensor n = c.input_value(1);
  const bool exact = n.is_valid() && n.num_elements() == 1 && !c.attr<bool>("allow_small_batch");
  const int64_t rows = exact && n.data<int32_t>()[0] >= 0 ? n.data<int32_t>()[0] : Shape::kUnknownDim;
  c.set_output(0, Shape({rows}));
  c.set_output(1, Shape({rows}));
  return OkStatus();
}

}  // namespace

void RegisterDataFlowBarrierOps(OpRegistry& r) {
  r.Add(Op("Barrier")
            .Output("handle: Ref(string)")
            .Attr("component_types: list(type) >= 1")
            .Attr("shapes: list(shape) >= 0 = []")
            .Attr("capacity: int = -1")
            .Attr("container: string = ''")
            .Attr("shared_name: string = ''")
            .Stateful()
            .Shape(UnknownShape)
            .NotDifferentiable());
  r.Add(Op("BarrierInsertMany")
            .Input("handle: Ref(string)")
            .Input("keys: string")
            .Input("values: T")
            .Attr("T: type")
            .Attr("component_index: int")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
  r.Add(Op("BarrierTakeMany")
            .Input("handle: Ref(string)")
            .Input("num_elements: int32")
            .Output("indices: int64")
            .Output("keys: string")
            .Output("values: component_types")
            .Attr("component_types: list(type) >= 1")
            .Attr("allow_small_batch: bool = false")
            .Attr("wait_for_incomplete: bool = false")
            .Attr("timeout_ms: int = -1")
            .Stateful()
            .Shape(TakeManyShape)
            .NotDifferentiable());
  r.Add(Op("BarrierClose")
            .Input("handle: Ref(string)")
            .Attr("cancel_pending_enqueues: bool = false")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
  for (const char* op : {"BarrierReadySize", "BarrierIncompleteSize"}) {
    r.Add(Op(op).Input("handle: Ref(string)").Output("size: int32").Stateful().Shape(ScalarShape).NotDifferentiable());
  }
}

}  // namespace tensorbraid
