// The schemas and the shape rule that the ops of all update rules share. An op takes variables by reference ("ApplyX")
// or with resource handles ("ResourceApplyX"). It updates whole variables, or only some of their rows ("SparseApplyX",
// "ResourceSparseApplyX").
#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/training/rule.h"

namespace tensorbraid {
namespace {

// The number of the input with this name, or -1 if there is none. REQUIRES: each input of the op is a single tensor.
int InputNamed(const OpDef& op, std::string_view name) {
  const auto it = std::find_if(op.inputs.begin(), op.inputs.end(), [&](const ArgDef& a) { return a.name == name; });
  return it == op.inputs.end() ? -1 : static_cast<int>(it - op.inputs.begin());
}

// The shape of the variables, as far as the shape of the gradient tells it. A gradient of whole variables has their
// shape; a gradient of rows has one row per index. `gradient` and `indices` are the numbers of inputs; `indices` is
// negative if the op updates whole variables.
StatusOr<Shape> VariablesShape(ShapeContext& c, int gradient, int indices) {
  const Shape& grad = c.input(gradient);
  if (indices < 0) return grad;
  TF_ASSIGN_OR_RETURN(const Shape rows, c.WithRank(indices, 1));
  if (!grad.has_rank()) return Shape::Unknown();
  if (grad.rank() < 1) return InvalidArgument("the gradient of rows cannot be a scalar");
  if (!Shape({grad.dim(0)}).IsCompatibleWith(rows)) {
    return InvalidArgument("the gradient must have one row per index, got shape ", grad, " and indices of shape ",
                           rows);
  }
  Shape shape = grad;
  shape.set_dim(0, Shape::kUnknownDim);
  return shape;
}

// [rows, 1] for a variable of this shape; a scalar has one row.
Shape OnePerRow(const Shape& shape) {
  if (!shape.has_rank()) return Shape({Shape::kUnknownDim, 1});
  return Shape({shape.rank() == 0 ? 1 : shape.dim(0), 1});
}

// All variables (the variable of the model and its slots, such as Adam's m) must have the same shape. All other inputs,
// except gradient and indices, must be scalars; AdamAsync's powers are variables that are scalars, and RowwiseAdagrad's
// slot is a variable with one element for each row.
Status ApplyShape(ShapeContext& c) {
  const OpDef& op = c.node().op();
  // An op has one of these two inputs; the number of the other one is -1.
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
    if (op.inputs[static_cast<size_t>(i)].name.starts_with("beta")) {  // a power of AdamAsync
      if (variable.IsCompatibleWith(Shape())) continue;
      return InvalidArgument("the variable (input ", i, ") must be a scalar, got shape ", variable);
    }
    if (op.inputs[static_cast<size_t>(i)].name == "row_accum") {  // the slot of RowwiseAdagrad
      if (variable.IsCompatibleWith(OnePerRow(shape))) continue;
      return InvalidArgument("the variable (input ", i, ") must have one element for each row, got shape ", variable,
                             ", and the variable that is updated has shape ", shape);
    }
    if (!variable.IsCompatibleWith(shape)) {
      return InvalidArgument("the variable (input ", i, ") has shape ", variable, ", but the gradient has shape ",
                             c.input(gradient));
    }
    TF_ASSIGN_OR_RETURN(shape, shape.MergeWith(variable));
    const DType held = is_handle ? c.input_handle_dtype(i) : c.input_dtype(i);
    if (held != DType::kInvalid && held != c.input_dtype(gradient)) {
      return InvalidArgument("the variable (input ", i, ") has dtype ", held, ", but the gradient has ",
                             c.input_dtype(gradient));
    }
  }
  if (c.num_outputs() > 0) c.set_output(0, shape);
  return OkStatus();
}

}  // namespace

void AddRule(OpRegistry& r, const std::string& name, const std::string& inputs, const std::vector<const char*>& attrs,
             RuleForms forms, std::source_location location) {
  for (const bool resource : {false, true}) {
    if (!resource && forms == kResourceOnly) continue;
    const size_t at = name.starts_with('_') ? 1 : 0;  // of "Apply"
    Op op(resource ? std::string(name).insert(at, "Resource") : name);
    bool sparse = false;
    for (std::string input : StrSplit(inputs, ' ')) {
      std::string type = "T";
      if (input.ends_with('*')) {
        input.pop_back();
        type = resource ? "resource" : "Ref(T)";
      } else if (input == "indices") {
        type = "Tindices";
        sparse = true;
      } else if (input == "global_step" || input == "accum_decay_step") {
        type = "int64";
      }
      op.Input(StrCat(input, ": ", type).c_str());
    }
    if (!resource) op.Output("out: Ref(T)");
    op.Attr("T: numbertype");
    if (sparse) op.Attr("Tindices: {int32, int64}");
    op.Attr("use_locking: bool = false");
    for (const char* attr : attrs) op.Attr(attr);
    r.Add(op.Stateful().Shape(ApplyShape).NotDifferentiable(), location);
  }
}

}  // namespace tensorbraid
