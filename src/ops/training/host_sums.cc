// Sums of the gradients of a host: schemas. SyncReplicasOptimizer and AsyncReplicasOptimizer use these internal ops;
// HostSums (runtime/replicas/host_sums.h) does the work.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

constexpr const char* kTypes = "T: list(type) >= 0";
// Of the tensors in T.
constexpr const char* kShapes = "shapes: list(shape) = []";

// The first `scalars` outputs are scalars. The others have the shapes of attribute `shapes`.
template <int scalars>
Status ShapesAfter(ShapeContext& c) {
  const auto& shapes = c.attr<std::vector<Shape>>("shapes");
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (i < scalars) {
      c.set_output(i, Shape());
    } else if (i - scalars < static_cast<int>(shapes.size())) {
      c.set_output(i, shapes[i - scalars]);
    }
  }
  return OkStatus();
}

// _TakeHostSums: the stamp, the workers, and the sums.
Status TakeSumsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(ShapesAfter<2>(c));
  c.set_output(1, Shape::UnknownOfRank(1));
  return OkStatus();
}

Status SumsVectorShape(ShapeContext& c) {
  c.set_output(0, Shape::UnknownOfRank(1));
  return OkStatus();
}

void AddOp(OpRegistry& r, Op op, ShapeFn shape) { r.Add(op.Stateful().Shape(shape).NotDifferentiable()); }

}  // namespace

void RegisterTrainingHostSumsOps(OpRegistry& r) {
  AddOp(r,
        Op("_HostSums")
            .Output("sums: resource")
            .Attr("container: string = ''")
            .Attr("shared_name: string = ''")
            .Attr("spares: int >= 0 = 0")
            .Attr("async: bool = false"),
        ScalarShape);
  AddOp(r, Op("_ResetHostSums").Input("sums: resource"), NoOutputs);
  // `ended`: the training has ended (OutOfRange). Otherwise this task has left (Unavailable).
  AddOp(r, Op("_CloseHostSums").Input("sums: resource").Attr("ended: bool"), NoOutputs);
  // `shared`: other tasks of the machine will read the values, so they are moved to shared memory.
  AddOp(r,
        Op("_StoreHostValues")
            .Input("sums: resource")
            .Input("epoch: int64")
            .Input("stamp: int64")
            .Input("values: T")
            .Output("latest: int64")
            .Attr(kTypes)
            .Attr("reopens: bool = false")
            .Attr("shared: bool = false"),
        ScalarShape);
  AddOp(r,
        Op("_ReadHostValues")
            .Input("sums: resource")
            .Input("of_epoch: int64")
            .Input("after: int64")
            .Output("epoch: int64")
            .Output("stamp: int64")
            .Output("values: T")
            .Attr(kTypes)
            .Attr(kShapes),
        ShapesAfter<2>);
  // Those of the values that are here; the stamp is -1 if there are none. Does not wait.
  AddOp(r, Op("_HostStamp").Input("sums: resource").Output("epoch: int64").Output("stamp: int64"), ScalarShape);
  AddOp(r, Op("_JoinHostSums").Input("sums: resource").Input("after: int64").Attr("replica: int >= 0"), NoOutputs);
  // `leaves`: the gradients will be sent to another task of the machine, so they should be made in shared memory.
  AddOp(r,
        Op("_AddToHostSums")
            .Input("sums: resource")
            .Input("stamp: int64")
            .Input("replicas: int64")
            .Input("gradients: T")
            .Input("if_dropped: int64")
            .Output("outcomes: int64")
            .Attr(kTypes)
            .Attr("leaves: bool = false"),
        SumsVectorShape);
  // `joins` says for each tensor how those of several workers are joined: "sum", "concat" (of the rows) or "min"; if it
  // is empty, all are summed.
  AddOp(r,
        Op("_TakeHostSums")
            .Input("sums: resource")
            .Output("stamp: int64")
            .Output("replicas: int64")
            .Output("gradients: T")
            .Attr(kTypes)
            .Attr(kShapes)
            .Attr("joins: list(string) = []"),
        TakeSumsShape);
  AddOp(r, Op("_ReportHostSums").Input("sums: resource").Input("outcomes: int64"), NoOutputs);
}

}  // namespace tensorbraid
