// Staging areas and maps: schemas and shape rules.
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// Starts an op on a staging area or map, with the attributes that all of these ops have. `dtypes` is the declaration of
// the attribute dtypes.
Op AreaOp(const std::string& name, const char* dtypes) {
  Op op(name);
  op.Attr("capacity: int >= 0 = 0").Attr("memory_limit: int >= 0 = 0").Attr(dtypes);
  return op;
}

// Adds the last two attributes, which all of these ops have, and registers the op.
void Finish(OpRegistry& r, Op op, ShapeFn shape) {
  op.Attr("container: string = ''").Attr("shared_name: string = ''");
  r.Add(op.Stateful().Shape(shape).NotDifferentiable());
}

constexpr const char* kSome = "dtypes: list(type) >= 1";
constexpr const char* kAny = "dtypes: list(type)";

// Output 0, the key, is a scalar; the shapes of the other outputs, the values, are unknown.
Status KeyShape(ShapeContext& c) {
  c.set_output(0, Shape::UnknownOfRank(0));
  return OkStatus();
}

}  // namespace

void RegisterDataFlowStagingOps(OpRegistry& r) {
  Finish(r, AreaOp("Stage", kSome).Input("values: dtypes"), NoOutputs);
  Finish(r, AreaOp("Unstage", kSome).Output("values: dtypes"), UnknownShape);
  Finish(r, AreaOp("StagePeek", kSome).Input("index: int32").Output("values: dtypes"), UnknownShape);
  Finish(r, AreaOp("StageSize", kAny).Output("size: int32"), ScalarShape);
  Finish(r, AreaOp("StageClear", kAny), NoOutputs);
  for (const std::string map : {"Map", "OrderedMap"}) {
    Op stage = AreaOp(map + "Stage", kAny);
    stage.Attr("fake_dtypes: list(type) >= 1");
    Finish(r, stage.Input("key: int64").Input("indices: int32").Input("values: fake_dtypes"), NoOutputs);
    for (const char* op : {"Peek", "Unstage"}) {
      Finish(r, AreaOp(map + op, kSome).Input("key: int64").Input("indices: int32").Output("values: dtypes"),
             UnknownShape);
    }
    Finish(r, AreaOp(map + "UnstageNoKey", kSome).Input("indices: int32").Output("key: int64").Output("values: dtypes"),
           KeyShape);
    Finish(r, AreaOp(map + "Size", kAny).Output("size: int32"), ScalarShape);
    Finish(r, AreaOp(map + "IncompleteSize", kAny).Output("size: int32"), ScalarShape);
    Finish(r, AreaOp(map + "Clear", kAny), NoOutputs);
  }
}

}  // namespace tensorbraid
