// Update rules of the optimizers, each by reference ("ApplyX") and by resource handle ("ResourceApplyX").
#include <algorithm>

#include "core/strings.h"
#include "graph/node.h"
#include "ops/register.h"

namespace tensorbraid {
namespace {

struct Argument {
  const char* name;
  bool is_variable;  // a variable and its slots; the others are values of its type
};

// The number of the gradient among the inputs, each of which is one tensor.
int GradientInput(const OpDef& op) {
  const auto it = std::find_if(op.inputs.begin(), op.inputs.end(),
                               [](const ArgDef& a) { return a.name == "grad" || a.name == "delta"; });
  return static_cast<int>(it - op.inputs.begin());
}

// The variables and the gradient have one shape; everything else is a scalar.
Status ApplyShape(ShapeContext& c) {
  const bool by_reference = c.num_outputs() > 0;
  const int gradient = GradientInput(c.node().op());
  Shape shape = c.input(gradient);
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (i == gradient) continue;
    const bool is_handle = c.input_dtype(i) == DType::kResource;
    const bool is_variable = is_handle || IsRef(c.node().declared_input_type(i));
    if (!is_variable) {
      TF_RETURN_IF_ERROR(c.WithRank(i, 0));
      continue;
    }
    const Shape variable = is_handle ? c.input_handle_shape(i) : c.input(i);
    if (!variable.IsCompatibleWith(shape)) {
      return InvalidArgument("the variable (input ", i, ") has shape ", variable, ", the gradient ", shape);
    }
    TF_ASSIGN_OR_RETURN(shape, shape.MergeWith(variable));
    const DType held = is_handle ? c.input_handle_dtype(i) : c.input_dtype(i);
    if (held != DType::kInvalid && held != c.input_dtype(gradient)) {
      return InvalidArgument("the variable (input ", i, ") holds ", held, ", the gradient is ",
                             c.input_dtype(gradient));
    }
  }
  if (by_reference) c.set_output(0, shape);
  return OkStatus();
}

void AddApply(OpRegistry& r, const std::string& name, const std::vector<Argument>& arguments, bool nesterov) {
  for (const bool resource : {false, true}) {
    Op op(resource ? "Resource" + name : name);
    for (const Argument& a : arguments) {
      const std::string type = !a.is_variable ? "T" : resource ? "resource" : "Ref(T)";
      op.Input(StrCat(a.name, ": ", type).c_str());
    }
    if (!resource) op.Output("out: Ref(T)");
    op.Attr("T: numbertype").Attr("use_locking: bool = false");
    if (nesterov) op.Attr("use_nesterov: bool = false");
    r.Add(op.Stateful().Shape(ApplyShape).NotDifferentiable());
  }
}

}  // namespace

void RegisterTrainingOps(OpRegistry& r) {
  AddApply(r, "ApplyGradientDescent", {{"var", true}, {"alpha", false}, {"delta", false}}, false);
  AddApply(r, "ApplyMomentum", {{"var", true}, {"accum", true}, {"lr", false}, {"grad", false}, {"momentum", false}},
           true);
  AddApply(r, "ApplyAdam",
           {{"var", true},
            {"m", true},
            {"v", true},
            {"beta1_power", false},
            {"beta2_power", false},
            {"lr", false},
            {"beta1", false},
            {"beta2", false},
            {"epsilon", false},
            {"grad", false}},
           true);
  AddApply(r, "ApplyAdadelta",
           {{"var", true},
            {"accum", true},
            {"accum_update", true},
            {"lr", false},
            {"rho", false},
            {"epsilon", false},
            {"grad", false}},
           false);
}

}  // namespace tensorbraid
