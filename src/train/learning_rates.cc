// Learning rates that change with the global step, computed beside it so that no step waits for them.
#include <cmath>

#include "core/strings.h"
#include "tensorbraid/optimizer.h"

namespace tensorbraid {
namespace {

Output Binary(const char* op, const Output& a, const Output& b) {
  if (!a.valid() || !b.valid()) return {};
  return NodeBuilder(*a.graph(), op).Input(a).Input(b).Output();
}

Output Unary(const char* op, const Output& a) {
  if (!a.valid()) return {};
  return NodeBuilder(*a.graph(), op).Input(a).Output();
}

Output CastTo(const Output& a, DType dtype) {
  if (!a.valid()) return {};
  return NodeBuilder(*a.graph(), "Cast").Input(a).Attr("DstT", dtype).Output();
}

}  // namespace

Output ExponentialDecay(double learning_rate, const Variable& global_step, int64_t decay_steps, double decay_rate,
                        bool staircase) {
  if (!global_step.valid()) return {};
  Graph& g = *global_step.graph();
  if (decay_steps <= 0 || decay_rate <= 0) {
    g.AddError(InvalidArgument("ExponentialDecay: decay_steps ", decay_steps, " and decay_rate ", decay_rate,
                               " must be positive"));
    return {};
  }
  auto scope = g.NameScope("ExponentialDecay");
  auto device = g.ColocateWith(global_step.handle().op());
  Output exponent = Binary("RealDiv", CastTo(global_step.value(), kFloat64),
                           Operand(static_cast<double>(decay_steps)).ToOutput(g, kFloat64));
  // The step is never negative, so cutting off the fraction rounds down.
  if (staircase) exponent = CastTo(CastTo(exponent, kInt64), kFloat64);
  const Output log_rate = Operand(std::log(decay_rate)).ToOutput(g, kFloat64);
  const Output decay = Unary("Exp", Binary("Mul", exponent, log_rate));
  return CastTo(Binary("Mul", decay, Operand(learning_rate).ToOutput(g, kFloat64)), kFloat32);
}

Output PiecewiseConstant(const Variable& global_step, const std::vector<int64_t>& boundaries,
                         const std::vector<double>& values) {
  if (!global_step.valid()) return {};
  Graph& g = *global_step.graph();
  bool rising = true;
  for (size_t i = 1; i < boundaries.size(); ++i) rising = rising && boundaries[i - 1] < boundaries[i];
  if (values.size() != boundaries.size() + 1 || !rising) {
    g.AddError(InvalidArgument("PiecewiseConstant: wants rising boundaries and one value more than them, got ",
                               boundaries.size(), " boundaries and ", values.size(), " values"));
    return {};
  }
  auto scope = g.NameScope("PiecewiseConstant");
  auto device = g.ColocateWith(global_step.handle().op());
  Output rate = Operand(values[0]).ToOutput(g, kFloat32);
  for (size_t i = 0; i < boundaries.size(); ++i) {
    const Output beyond =
        Binary("Greater", global_step.value(), Operand(boundaries[i]).ToOutput(g, global_step.dtype()));
    const Output next = Operand(values[i + 1]).ToOutput(g, kFloat32);
    if (!beyond.valid() || !next.valid() || !rate.valid()) return {};
    rate = NodeBuilder(g, "Select").Input(beyond).Input(next).Input(rate).Output();
  }
  return rate;
}

}  // namespace tensorbraid
