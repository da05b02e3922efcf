// Learning rates that change with the global step, computed beside it so that no step waits for them.
#include <cmath>

#include "core/strings.h"
#include "tensorbraid/array_ops.h"
#include "tensorbraid/math_ops.h"
#include "tensorbraid/optimizer.h"

namespace tensorbraid {

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
  Output exponent = Cast(global_step, kFloat64) / static_cast<double>(decay_steps);
  // The step is never negative, so cutting off the fraction rounds down.
  if (staircase) exponent = Cast(Cast(exponent, kInt64), kFloat64);
  return Cast(Exp(exponent * std::log(decay_rate)) * learning_rate, kFloat32);
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
    rate = Select(Greater(global_step, boundaries[i]), Operand(values[i + 1]).ToOutput(g, kFloat32), rate);
  }
  return rate;
}

}  // namespace tensorbraid
