// The update rules of growing tables: schemas and shape rule.
#include <algorithm>
#include <string>

#include "core/text/strings.h"
#include "ops/embedding/shapes.h"

namespace tensorbraid {
namespace {

int InputNamed(const OpDef& op, std::string_view name) {
  const auto it = std::find_if(op.inputs.begin(), op.inputs.end(), [&](const ArgDef& a) { return a.name == name; });
  return static_cast<int>(it - op.inputs.begin());
}

// The gradient has one row for each key. The rows of the table and of its slots have the length of the gradient's, but
// those of the slot `row_accum` have one number. All other inputs are scalars, also those that are handles of ordinary
// variables.
Status TableUpdateShape(ShapeContext& c) {
  const OpDef& op = c.node().op();
  const int gradient = InputNamed(op, "grad"), indices = InputNamed(op, "indices");
  TF_ASSIGN_OR_RETURN(const Shape keys, c.WithRank(indices, 1));
  TF_ASSIGN_OR_RETURN(const Shape grad, c.WithRank(gradient, 2));
  if (!Shape({grad.dim(0)}).IsCompatibleWith(keys)) {
    return InvalidArgument("the gradient must have one row per key, got shape ", grad, " and keys of shape ", keys);
  }
  Shape row({grad.dim(1)});
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (i == gradient || i == indices) continue;
    if (op.inputs[static_cast<size_t>(i)].name.ends_with("counts")) {
      TF_ASSIGN_OR_RETURN(const Shape counts, c.WithRank(i, 1));
      if (counts.IsCompatibleWith(keys)) continue;
      return InvalidArgument("there must be one count per key, got shape ", counts, " and keys of shape ", keys);
    }
    if (c.input_dtype(i) != DType::kResource) {
      TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
    } else if (TableHandleNode(c.node().inputs()[i]) != nullptr) {
      const Shape held = RowShapeOf(c.node().inputs()[i]);
      if (op.inputs[static_cast<size_t>(i)].name == "row_accum") {
        if (held.IsCompatibleWith(Shape({1}))) continue;
        return InvalidArgument("the rows of the slot 'row_accum' must have one number, but have ", held.dim(0));
      }
      if (!held.IsCompatibleWith(row)) {
        return InvalidArgument("the rows of input ", i, ", '", op.inputs[static_cast<size_t>(i)].name, "', have ",
                               held.dim(0), " numbers, but those of the gradient or of another slot have ", row.dim(0));
      }
      TF_ASSIGN_OR_RETURN(row, row.MergeWith(held));
    } else if (!c.input_handle_shape(i).IsCompatibleWith(Shape())) {
      return InvalidArgument("input ", i, ", '", op.inputs[static_cast<size_t>(i)].name,
                             "', must be the handle of a scalar variable, got one of shape ", c.input_handle_shape(i));
    }
  }
  return OkStatus();
}

// `inputs` are separated by spaces: "var*" is a handle; "indices", "global_step", "accum_decay_step" and the counts
// have their own types; other names are tensors of type T.
void AddTableOp(OpRegistry& r, const std::string& name, const std::string& inputs,
                const std::vector<const char*>& attrs, std::source_location location) {
  Op op(name);
  for (std::string input : StrSplit(inputs, ' ')) {
    std::string type = "T";
    if (input.ends_with('*')) {
      input.pop_back();
      type = "resource";
    } else if (input == "indices") {
      type = "Tindices";
    } else if (input == "global_step" || input == "accum_decay_step") {
      type = "Tstep";
    } else if (input.ends_with("counts")) {
      type = "int64";
    }
    op.Input(StrCat(input, ": ", type).c_str());
  }
  op.Attr("T: {float}").Attr("Tindices: {int32, int64, string}").Attr("Tstep: {int32, int64}");
  op.Attr("use_locking: bool = false");
  for (const char* attr : attrs) op.Attr(attr);
  r.Add(op.Stateful().Shape(TableUpdateShape).NotDifferentiable(), location);
}

// Adds the op of a rule, and the one for tables with a filter, which also gets how often each key has occurred.
void AddTableRule(OpRegistry& r, const std::string& name, const std::string& inputs,
                  const std::vector<const char*>& attrs = {}, const char* counts = "indices_counts",
                  std::source_location location = std::source_location::current()) {
  AddTableOp(r, name, inputs, attrs, location);
  AddTableOp(r, name + "WithCounts", StrCat(inputs, " ", counts), attrs, location);
}

}  // namespace

void RegisterEmbeddingUpdateOps(OpRegistry& r) {
  // Names with "_" are rules that DeepRec lacks, or, for FTRL, an op that lacks the global step there.
  const std::string rows = " grad indices global_step";
  const std::string adam = "var* m* v* beta1_power beta2_power lr beta1 beta2 epsilon" + rows;
  const std::string rms_prop = "ms* mom* lr rho momentum epsilon" + rows;
  const char* nesterov = "use_nesterov: bool = false";
  const char* times_lr = "multiply_linear_by_lr: bool = false";
  AddTableRule(r, "KvResourceSparseApplyGradientDescent", "var* alpha" + rows, {}, "counts");
  AddTableRule(r, "_KvResourceSparseApplyMomentum", "var* accum* lr grad indices momentum global_step", {nesterov});
  AddTableRule(r, "_KvResourceSparseApplyAdadelta", "var* accum* accum_update* lr rho epsilon" + rows);
  AddTableRule(r, "KvResourceSparseApplyAdagrad", "var* accum* lr" + rows);
  AddTableRule(r, "_KvResourceSparseApplyRowwiseAdagrad", "var* row_accum* lr" + rows);
  AddTableRule(r, "KvResourceSparseApplyAdagradDecay",
               "var* accum* accum_decay_power* lr accum_decay_step accum_decay_rate accum_baseline global_step grad "
               "indices");
  AddTableRule(r, "KvResourceSparseApplyAdam", adam);
  AddTableRule(r, "KvResourceSparseApplyAdamW", adam + " weight_decay");
  AddTableRule(r, "KvResourceSparseApplyAdamAsync",
               "var* m* v* beta1_power* beta2_power* lr beta1 beta2 epsilon" + rows,
               {"apply_sparse_rmsprop: bool = false"});
  AddTableRule(r, "_KvResourceSparseApplyRMSProp", "var* " + rms_prop);
  AddTableRule(r, "_KvResourceSparseApplyCenteredRMSProp", "var* mg* " + rms_prop);
  AddTableRule(r, "_KvResourceSparseApplyFtrl", "var* accum* linear* grad indices lr l1 l2 lr_power global_step",
               {times_lr});
  AddTableRule(r, "_KvResourceSparseApplyFtrlV2",
               "var* accum* linear* grad indices lr l1 l2 l2_shrinkage lr_power global_step", {times_lr});
}

}  // namespace tensorbraid
