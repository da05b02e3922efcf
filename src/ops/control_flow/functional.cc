// Ops that refer to library functions (calls, and v2 control flow): schemas, shape rules, gradients. The master
// replaces them by the bodies of the functions before a step runs (see graph/functions/expand_functions.h), so they
// have no kernels. The helper ops _ForTurns, _CheckOwnTask, ToBool and FakeParam are not replaced; they have kernels.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/control_flow/function_gradients.h"

namespace tensorbraid {
namespace {

Status DeclaredShapes(ShapeContext& c) {
  const AttrValue* attr = c.node().FindAttr("output_shapes");
  const auto* shapes = attr == nullptr ? nullptr : attr->get<std::vector<Shape>>();
  if (shapes == nullptr || static_cast<int>(shapes->size()) != c.num_outputs()) return OkStatus();
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, (*shapes)[i]);
  return OkStatus();
}

Status FakeParamShape(ShapeContext& c) {
  c.set_output(0, c.attr<Shape>("shape"));
  return OkStatus();
}

Op Call(const char* name) {
  return Op(name)
      .Input("args: Tin")
      .Output("output: Tout")
      .Attr("Tin: list(type) >= 0")
      .Attr("Tout: list(type) >= 0")
      .Attr("f: func")
      .Attr("config: string = ''")
      .Attr("config_proto: string = ''")
      .Attr("executor_type: string = ''")
      .Gradient(CallGradient);
}

Op If(const char* name) {
  return Op(name)
      .Input("cond: Tcond")
      .Input("input: Tin")
      .Output("output: Tout")
      .Attr("Tcond: type")
      .Attr("Tin: list(type) >= 0")
      .Attr("Tout: list(type) >= 0")
      .Attr("then_branch: func")
      .Attr("else_branch: func")
      .Attr("output_shapes: list(shape) = []")
      .Shape(DeclaredShapes)
      .Gradient(IfGradient);
}

Op Case(const char* name) {
  return Op(name)
      .Input("branch_index: int32")
      .Input("input: Tin")
      .Output("output: Tout")
      .Attr("Tin: list(type) >= 0")
      .Attr("Tout: list(type) >= 0")
      .Attr("branches: list(func) >= 1")
      .Attr("output_shapes: list(shape) = []")
      .Shape(DeclaredShapes)
      .Gradient(CaseGradient);
}

Op While(const char* name) {
  return Op(name)
      .Input("input: T")
      .Output("output: T")
      .Attr("T: list(type) >= 0")
      .Attr("cond: func")
      .Attr("body: func")
      .Attr("output_shapes: list(shape) = []")
      .Attr("parallel_iterations: int = 10")
      .Shape(DeclaredShapes);
}

}  // namespace

void RegisterControlFlowFunctionalOps(OpRegistry& r) {
  r.Add(Call("PartitionedCall"));
  r.Add(Call("StatefulPartitionedCall").Stateful());
  r.Add(If("If").Stateful());
  r.Add(If("StatelessIf"));
  r.Add(Case("Case").Stateful());
  r.Add(Case("StatelessCase"));
  r.Add(While("While").Stateful());
  r.Add(While("StatelessWhile"));
  r.Add(Op("For")
            .Input("start: int32")
            .Input("limit: int32")
            .Input("delta: int32")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: list(type) >= 0")
            .Attr("body: func"));
  // The number of iterations of a For. The nodes that replace a For include this op.
  r.Add(Op("_ForTurns")
            .Input("start: int32")
            .Input("limit: int32")
            .Input("delta: int32")
            .Output("turns: int32")
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("RemoteCall")
            .Input("target: string")
            .Input("args: Tin")
            .Output("output: Tout")
            .Attr("Tin: list(type) >= 1")
            .Attr("Tout: list(type) >= 1")
            .Attr("f: func")
            .Stateful());
  // Fails unless the target names a device of the task that runs the op. If the target of a RemoteCall is not known
  // when the call is replaced by the body of its function, this op is put before the body.
  r.Add(Op("_CheckOwnTask").Input("target: string").Stateful().Shape(NoOutputs).NotDifferentiable());
  r.Add(Op("SymbolicGradient")
            .Input("input: Tin")
            .Output("output: Tout")
            .Attr("Tin: list(type) >= 1")
            .Attr("Tout: list(type) >= 1")
            .Attr("f: func")
            .Gradient(CallGradient));
  r.Add(Op("ToBool").Input("input: T").Output("output: bool").Attr("T: type").Shape(ScalarShape).NotDifferentiable());
  r.Add(Op("FakeParam")
            .Output("output: dtype")
            .Attr("dtype: type")
            .Attr("shape: shape")
            .Shape(FakeParamShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
