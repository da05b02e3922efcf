// Update rules of the optimizers: by reference ("ApplyX") and by resource handle ("ResourceApplyX"), for the whole of
// the variables and for some of their rows ("SparseApplyX", "ResourceSparseApplyX").
#include <algorithm>

#include "core/strings.h"
#include "graph/node.h"
#include "ops/register.h"

namespace tensorbraid {
namespace {

// The number of an input, each of which is one tensor; -1 when there is none of that name.
int InputNamed(const OpDef& op, std::string_view name) {
  const auto it = std::find_if(op.inputs.begin(), op.inputs.end(), [&](const ArgDef& a) { return a.name == name; });
  return it == op.inputs.end() ? -1 : static_cast<int>(it - op.inputs.begin());
}

// The gradient of whole variables has their shape; that of rows has one row per index.
StatusOr<Shape> VariablesShape(ShapeContext& c, int gradient, int indices) {
  const Shape& grad = c.input(gradient);
  if (indices < 0) return grad;
  TF_ASSIGN_OR_RETURN(const Shape rows, c.WithRank(indices, 1));
  if (!grad.has_rank()) return Shape::Unknown();
  if (grad.rank() < 1) return InvalidArgument("the gradient of rows cannot be a scalar");
  if (!Shape({grad.dim(0)}).IsCompatibleWith(rows)) {
    return InvalidArgument("there are ", rows, " indices for the rows of a gradient of shape ", grad);
  }
  Shape shape = grad;
  shape.set_dim(0, Shape::kUnknownDim);
  return shape;
}

// Variables and slots have one shape; what is neither, nor gradient or indices, is a scalar.
Status ApplyShape(ShapeContext& c) {
  const OpDef& op = c.node().op();
  const int gradient = std::max(InputNamed(op, "grad"), InputNamed(op, "delta"));
  const int indices = InputNamed(op, "indices");
  TF_ASSIGN_OR_RETURN(Shape shape, VariablesShape(c, gradient, indices));
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (i == gradient || i == indices) continue;
    const bool is_handle = c.input_dtype(i) == DType::kResource;
    if (!is_handle && !IsRef(c.node().declared_input_type(i))) {
      TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
      continue;
    }
    const Shape variable = is_handle ? c.input_handle_shape(i) : c.input(i);
    if (!variable.IsCompatibleWith(shape)) {
      return InvalidArgument("the variable (input ", i, ") has shape ", variable, ", the gradient ", c.input(gradient));
    }
    TF_ASSIGN_OR_RETURN(shape, shape.MergeWith(variable));
    const DType held = is_handle ? c.input_handle_dtype(i) : c.input_dtype(i);
    if (held != DType::kInvalid && held != c.input_dtype(gradient)) {
      return InvalidArgument("the variable (input ", i, ") holds ", held, ", the gradient is ",
                             c.input_dtype(gradient));
    }
  }
  if (c.num_outputs() > 0) c.set_output(0, shape);
  return OkStatus();
}

enum Forms { kBoth, kResourceOnly };

// One rule. `inputs` are names in a row: variables end in "*", "indices" and "global_step" have types of their own,
// all others are of type T. `attrs` come after use_locking.
void AddRule(OpRegistry& r, const std::string& name, const std::string& inputs,
             const std::vector<const char*>& attrs = {}, Forms forms = kBoth) {
  for (const bool resource : {false, true}) {
    if (!resource && forms == kResourceOnly) continue;
    Op op(resource ? "Resource" + name : name);
    bool sparse = false;
    for (std::string input : StrSplit(inputs, ' ')) {
      std::string type = "T";
      if (input.ends_with('*')) {
        input.pop_back();
        type = resource ? "resource" : "Ref(T)";
      } else if (input == "indices") {
        type = "Tindices";
        sparse = true;
      } else if (input == "global_step") {
        type = "int64";
      }
      op.Input(StrCat(input, ": ", type).c_str());
    }
    if (!resource) op.Output("out: Ref(T)");
    op.Attr("T: numbertype");
    if (sparse) op.Attr("Tindices: {int32, int64}");
    op.Attr("use_locking: bool = false");
    for (const char* attr : attrs) op.Attr(attr);
    r.Add(op.Stateful().Shape(ApplyShape).NotDifferentiable());
  }
}

}  // namespace

void RegisterTrainingOps(OpRegistry& r) {
  const char* nesterov = "use_nesterov: bool = false";
  const char* update_slots = "update_slots: bool = true";
  const char* times_lr = "multiply_linear_by_lr: bool = false";
  AddRule(r, "ApplyGradientDescent", "var* alpha delta");
  AddRule(r, "ApplyProximalGradientDescent", "var* alpha l1 l2 delta");
  AddRule(r, "ApplyMomentum", "var* accum* lr grad momentum", {nesterov});
  AddRule(r, "ApplyKerasMomentum", "var* accum* lr grad momentum", {nesterov}, kResourceOnly);
  AddRule(r, "ApplyAdadelta", "var* accum* accum_update* lr rho epsilon grad");
  AddRule(r, "ApplyAdagrad", "var* accum* lr grad", {update_slots});
  AddRule(r, "ApplyAdagradV2", "var* accum* lr epsilon grad", {update_slots});
  AddRule(r, "ApplyProximalAdagrad", "var* accum* lr l1 l2 grad");
  AddRule(r, "ApplyAdagradDA", "var* gradient_accumulator* gradient_squared_accumulator* grad lr l1 l2 global_step");
  AddRule(r, "ApplyFtrl", "var* accum* linear* grad lr l1 l2 lr_power", {times_lr});
  AddRule(r, "ApplyFtrlV2", "var* accum* linear* grad lr l1 l2 l2_shrinkage lr_power", {times_lr});
  AddRule(r, "ApplyAdam", "var* m* v* beta1_power beta2_power lr beta1 beta2 epsilon grad", {nesterov});
  AddRule(r, "ApplyAdamWithAmsgrad", "var* m* v* vhat* beta1_power beta2_power lr beta1 beta2 epsilon grad", {},
          kResourceOnly);
  AddRule(r, "ApplyAdaMax", "var* m* v* beta1_power lr beta1 beta2 epsilon grad");
  AddRule(r, "ApplyRMSProp", "var* ms* mom* lr rho momentum epsilon grad");
  AddRule(r, "ApplyCenteredRMSProp", "var* mg* ms* mom* lr rho momentum epsilon grad");
  AddRule(r, "ApplyAddSign", "var* m* lr alpha sign_decay beta grad");
  AddRule(r, "ApplyPowerSign", "var* m* lr logbase sign_decay beta grad");

  AddRule(r, "SparseApplyProximalGradientDescent", "var* alpha l1 l2 grad indices");
  AddRule(r, "SparseApplyMomentum", "var* accum* lr grad indices momentum", {nesterov});
  AddRule(r, "SparseApplyKerasMomentum", "var* accum* lr grad indices momentum", {nesterov}, kResourceOnly);
  AddRule(r, "SparseApplyAdadelta", "var* accum* accum_update* lr rho epsilon grad indices");
  AddRule(r, "SparseApplyAdagrad", "var* accum* lr grad indices", {update_slots});
  AddRule(r, "SparseApplyAdagradV2", "var* accum* lr epsilon grad indices", {update_slots});
  AddRule(r, "SparseApplyProximalAdagrad", "var* accum* lr l1 l2 grad indices");
  AddRule(r, "SparseApplyAdagradDA",
          "var* gradient_accumulator* gradient_squared_accumulator* grad indices lr l1 l2 global_step");
  AddRule(r, "SparseApplyFtrl", "var* accum* linear* grad indices lr l1 l2 lr_power", {times_lr});
  AddRule(r, "SparseApplyFtrlV2", "var* accum* linear* grad indices lr l1 l2 l2_shrinkage lr_power", {times_lr});
  AddRule(r, "SparseApplyRMSProp", "var* ms* mom* lr rho momentum epsilon grad indices");
  AddRule(r, "SparseApplyCenteredRMSProp", "var* mg* ms* mom* lr rho momentum epsilon grad indices");
}

}  // namespace tensorbraid
