#include "train/replicas/stale_gradients.h"

#include "core/text/strings.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// 1 / (1 + decay * age).
Output Weight(double decay, const Output& age, DType dtype) { return 1.0 / (Cast(age, dtype) * decay + 1.0); }

}  // namespace

Output OnSide(const Output& predicate, bool side, const Output& value) {
  const Operation both = NodeBuilder(*value.graph(), "Switch").Input(value).Input(predicate).Finish();
  return both.valid() ? both.output(side ? 1 : 0) : Output();
}

Output Merged(Graph& g, const std::vector<Output>& sides) { return NodeBuilder(g, "Merge").InputList(sides).Output(); }

UpdateGate::Admitted StaleGradientGate::Admit(const Gradient& grad, const Variable& variable) {
  Graph& g = *variable.graph();
  const Versioned& versioned = versions_.at(NodeOf(variable.handle()));
  // These nodes are on the variable's device, so the clock decides only after the gradient has arrived there.
  const auto arrive = [&](const Output& x) { return NodeBuilder(g, "Identity").Name("arrived").Input(x).Output(); };
  Gradient arrived = WithValues(grad, arrive);
  NodeBuilder admit(g, "_AdmitGradient");
  admit.Name("admit")
      .Input(versioned.clock)
      .Input(versioned.version)
      .Attr("max_age", policy_.max_age.value_or(-1));  // -1: no limit
  if (arrived.valid()) admit.Control(arrived.op());
  const Operation decision = admit.Finish();
  if (!decision.valid()) return {};
  const Output accepted = decision.output(0);
  const Operation outcome = NodeBuilder(g, "Switch").Name("outcome").Input(decision.output(1)).Input(accepted).Finish();
  if (!outcome.valid()) return {};
  dropped_ = outcome.output(0);
  age_ = outcome.output(1);
  pending_ = decision.output(2);
  Admitted result;
  result.accepted = NodeBuilder(g, "Identity").Name("accepted").Input(age_).Finish();
  auto if_accepted = g.ControlDependencies({result.accepted});
  result.grad = WithValues(arrived, [&](const Output& x) { return OnSide(accepted, /*side=*/true, x); });
  const DType dtype = variable.dtype();
  if (policy_.delay_compensation > 0) {
    if (grad.is_sparse()) {
      g.AddError(InvalidArgument(self_,
                                 ": delay_compensation needs a gradient of the whole variable, but only rows of '",
                                 variable.name(), "' are read: use max_age or gradient_decay instead"));
      return {};
    }
    const Output x = result.grad.dense();
    result.grad = x + x * x * (variable.Read() - reads_.at(NodeOf(variable.handle()))) * policy_.delay_compensation;
  }
  if (policy_.gradient_decay > 0) {
    const Output weight = Weight(policy_.gradient_decay, age_, dtype);
    result.grad = WithValues(result.grad, [&](const Output& x) { return x * weight; });
  }
  if (policy_.rate_decay > 0) result.rate_factor = Weight(policy_.rate_decay, age_, dtype);
  return result;
}

Operation StaleGradientGate::Settle(const Operation& update) {
  if (!update.valid()) return {};
  Graph& g = *update.graph();
  const Operation completed =
      NodeBuilder(g, "_CompleteUpdate").Name("complete").Input(pending_).Control(update).Finish();
  if (!completed.valid()) return {};
  const Output applied = NodeBuilder(g, "Identity").Name("applied").Input(age_).Control(completed).Output();
  outcomes_.push_back(Merged(g, {applied, dropped_}));
  return outcomes_.back().op();
}

}  // namespace tensorbraid
