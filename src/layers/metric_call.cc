#include "layers/metric_call.h"

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid::metrics {

MetricCall::MetricCall(const char* metric, const char* default_name, const std::vector<Operand>& operands,
                       const std::optional<Operand>& weights, const std::string& name)
    : metric_(metric), line_(operands[0].location()) {
  graph_ = GraphOf(metric, operands, operands[0].location());
  if (graph_ == nullptr) return;
  at_.emplace(*graph_, operands[0].location());
  line_ = ImplOf(*graph_).UserLine(operands[0].location());
  scope_.emplace(graph_->NameScope(name.empty() ? default_name : name));
  for (const Operand& operand : operands) in_.push_back(operand.ToOutput(*graph_));
  if (weights) weights_ = Cast(weights->ToOutput(*graph_, kFloat32), kFloat32);
}

bool MetricCall::ok() const { return graph_ != nullptr && graph_->status().ok(); }

Output MetricCall::WeightsLike(const Output& values) const { return weights_ * OnesLike(Cast(values, kFloat32)); }

Output MetricCall::Weighted(const Output& values) const { return has_weights() ? values * weights_ : values; }

bool MetricCall::MatchShapes() {
  if (!ok()) return false;
  Output &a = in_[0], &b = in_[1];
  if (a.shape().has_rank() && b.shape().has_rank()) {
    if (a.shape().rank() == b.shape().rank() + 1) a = Squeeze(a, {-1});
    if (b.shape().rank() == a.shape().rank() + 1) b = Squeeze(b, {-1});
  }
  if (!ok()) return false;
  if (a.shape().IsCompatibleWith(b.shape())) return true;
  Mistake(StrCat("the labels have shape ", a.shape(), ", but the predictions have shape ", b.shape()));
  return false;
}

Variable MetricCall::Sum(const std::string& name, const Shape& shape, DType dtype, bool shared) const {
  return Variable(*graph_, shape, tensorbraid::Zeros(),
                  {.name = name, .dtype = dtype, .trainable = false, .local = !shared});
}

Output MetricCall::Add(const Variable& sum, const Output& value) const {
  const Operation add = sum.AssignAdd(value);
  if (!add.valid()) return {};
  const ScopeGuard after = graph_->ControlDependencies(std::vector<Operation>{add});
  return sum.Read();
}

Metric MetricCall::Mistake(const std::string& message) const {
  graph_->AddError(InvalidArgument(metric_, " (", LocationText(line_), "): ", message));
  return {};
}

}  // namespace tensorbraid::metrics
