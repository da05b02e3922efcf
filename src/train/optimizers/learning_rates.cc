// Learning rates that change with the global step. They are computed on the device of the global step, so that no
// training step waits for them.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/user_lines.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/ops/random.h"
#include "tensorbraid/optimizers/learning_rate.h"

namespace tensorbraid {
namespace {

// A condition on the arguments of a schedule, and the message if it does not hold.
struct Requirement {
  bool holds;
  std::string message;
};

Requirement Positive(const char* name, double value) {
  return {value > 0, StrCat(name, " must be positive, got ", value)};
}

Requirement Rate(const char* name, double value) {
  return {std::isfinite(value) && value >= 0,
          StrCat(name, " must be a finite number that is not negative, got ", value)};
}

// Returns the float32 learning rate that `rate` computes from the global step, which it gets as float64. The nodes are
// in a scope with the schedule's name and on the device of the global step. Invalid if a requirement does not hold.
Output Schedule(const char* name, const Variable& global_step, const std::vector<Requirement>& requirements,
                const std::source_location& loc, const std::function<Output(const Output& step)>& rate) {
  if (!global_step.valid()) return {};
  Graph& g = *global_step.graph(loc);
  const ScopedLocation at(g, loc);
  for (const Requirement& r : requirements) {
    if (r.holds) continue;
    g.AddError(InvalidArgument(name, " (", LocationText(ImplOf(g).UserLine(loc)), "): ", r.message));
    return {};
  }
  auto scope = g.NameScope(name);
  auto device = g.ColocateWith(global_step.handle().op());
  return Cast(rate(Cast(global_step, kFloat64)), kFloat32);
}

// step / decay_steps, rounded down with staircase.
Output Periods(const Output& step, int64_t decay_steps, bool staircase) {
  const Output periods = step / static_cast<double>(decay_steps);
  return staircase ? Floor(periods) : periods;
}

// min(step, decay_steps) / decay_steps
Output Completed(const Output& step, int64_t decay_steps) {
  const double steps = static_cast<double>(decay_steps);
  return Minimum(step, steps) / steps;
}

// (1 + cos(pi * x)) / 2, which falls from 1 to 0 as x rises from 0 to 1, and has the period 2.
Output HalfCosine(const Output& x) { return (Cos(x * std::numbers::pi) + 1.0) * 0.5; }

}  // namespace

Output ExponentialDecay(double learning_rate, const Variable& global_step, int64_t decay_steps, double decay_rate,
                        bool staircase, std::source_location loc) {
  return Schedule("ExponentialDecay", global_step,
                  {Rate("learning_rate", learning_rate), Positive("decay_steps", static_cast<double>(decay_steps)),
                   Positive("decay_rate", decay_rate)},
                  loc, [&](const Output& step) {
                    return Exp(Periods(step, decay_steps, staircase) * std::log(decay_rate)) * learning_rate;
                  });
}

Output NaturalExpDecay(double learning_rate, const Variable& global_step, int64_t decay_steps, double decay_rate,
                       bool staircase, std::source_location loc) {
  return Schedule(
      "NaturalExpDecay", global_step,
      {Rate("learning_rate", learning_rate), Positive("decay_steps", static_cast<double>(decay_steps))}, loc,
      [&](const Output& step) { return Exp(Periods(step, decay_steps, staircase) * -decay_rate) * learning_rate; });
}

Output InverseTimeDecay(double learning_rate, const Variable& global_step, int64_t decay_steps, double decay_rate,
                        bool staircase, std::source_location loc) {
  return Schedule("InverseTimeDecay", global_step,
                  {Rate("learning_rate", learning_rate),
                   Positive("decay_steps", static_cast<double>(decay_steps)),
                   {decay_rate >= 0, StrCat("decay_rate must not be negative, got ", decay_rate)}},
                  loc, [&](const Output& step) {
                    return learning_rate / (Periods(step, decay_steps, staircase) * decay_rate + 1.0);
                  });
}

Output PiecewiseConstant(const Variable& global_step, const std::vector<int64_t>& boundaries,
                         const std::vector<double>& values, std::source_location loc) {
  const bool rising = std::is_sorted(boundaries.begin(), boundaries.end(), std::less_equal<>());
  return Schedule("PiecewiseConstant", global_step,
                  {{values.size() == boundaries.size() + 1 && rising,
                    StrCat("boundaries must increase and there must be one value more than boundaries, got ",
                           boundaries.size(), " boundaries and ", values.size(), " values")},
                   Rate("the lowest value", values.empty() ? 0 : *std::ranges::min_element(values)),
                   Rate("the highest value", values.empty() ? 0 : *std::ranges::max_element(values))},
                  loc, [&](const Output&) {
                    Graph& g = *global_step.graph();
                    Output rate = Operand(values[0]).ToOutput(g, kFloat32);
                    for (size_t i = 0; i < boundaries.size(); ++i) {
                      rate = Select(Greater(global_step, boundaries[i]), Operand(values[i + 1]).ToOutput(g, kFloat32),
                                    rate);
                    }
                    return rate;
                  });
}

Output PolynomialDecay(double learning_rate, const Variable& global_step, int64_t decay_steps,
                       const PolynomialDecayOptions& options, std::source_location loc) {
  return Schedule("PolynomialDecay", global_step,
                  {Rate("learning_rate", learning_rate), Rate("end_learning_rate", options.end_learning_rate),
                   Positive("decay_steps", static_cast<double>(decay_steps))},
                  loc, [&](const Output& step) {
                    Output completed = Completed(step, decay_steps);
                    if (options.cycle) {
                      const Output periods = Periods(step, decay_steps, /*staircase=*/false);
                      completed = periods / Maximum(Ceil(periods), 1.0);
                    }
                    const double end = options.end_learning_rate;
                    return Pow(1.0 - completed, options.power) * (learning_rate - end) + end;
                  });
}

Output CosineDecay(double learning_rate, const Variable& global_step, int64_t decay_steps, double alpha,
                   std::source_location loc) {
  return Schedule("CosineDecay", global_step,
                  {Rate("learning_rate", learning_rate), Positive("decay_steps", static_cast<double>(decay_steps))},
                  loc, [&](const Output& step) {
                    return (HalfCosine(Completed(step, decay_steps)) * (1 - alpha) + alpha) * learning_rate;
                  });
}

Output CosineDecayRestarts(double learning_rate, const Variable& global_step, int64_t first_decay_steps,
                           const CosineDecayRestartsOptions& options, std::source_location loc) {
  return Schedule("CosineDecayRestarts", global_step,
                  {Rate("learning_rate", learning_rate),
                   Positive("first_decay_steps", static_cast<double>(first_decay_steps)),
                   Positive("m_mul", options.m_mul),
                   {options.t_mul >= 1, StrCat("t_mul must be at least 1, got ", options.t_mul)}},
                  loc, [&](const Output& step) {
                    const double t = options.t_mul;
                    Output completed = Periods(step, first_decay_steps, /*staircase=*/false);
                    Output restarts = Floor(completed);
                    if (t == 1) {
                      completed = completed - restarts;
                    } else {
                      // In units of the first period, restart number i is at
                      // 1 + t + ... + t^(i-1) = (t^i - 1) / (t - 1).
                      // The 1e-9 prevents a step at a restart from being rounded down to the previous period.
                      restarts = Floor(Log1p(completed * (t - 1)) / std::log(t) + 1e-9);
                      const Output length = Exp(restarts * std::log(t));
                      completed = (completed - (length - 1.0) / (t - 1)) / length;
                    }
                    const Output scale = Exp(restarts * std::log(options.m_mul));
                    return (HalfCosine(completed) * scale * (1 - options.alpha) + options.alpha) * learning_rate;
                  });
}

Output LinearCosineDecay(double learning_rate, const Variable& global_step, int64_t decay_steps,
                         const LinearCosineDecayOptions& options, std::source_location loc) {
  return Schedule("LinearCosineDecay", global_step,
                  {Rate("learning_rate", learning_rate), Positive("decay_steps", static_cast<double>(decay_steps))},
                  loc, [&](const Output& step) {
                    const Output completed = Completed(step, decay_steps);
                    const Output cosine = HalfCosine(completed * (2 * options.num_periods));
                    return ((1.0 + options.alpha - completed) * cosine + options.beta) * learning_rate;
                  });
}

Output NoisyLinearCosineDecay(double learning_rate, const Variable& global_step, int64_t decay_steps,
                              const NoisyLinearCosineDecayOptions& options, std::source_location loc) {
  return Schedule("NoisyLinearCosineDecay", global_step,
                  {Rate("learning_rate", learning_rate),
                   Positive("decay_steps", static_cast<double>(decay_steps)),
                   {options.initial_variance >= 0,
                    StrCat("initial_variance must not be negative, got ", options.initial_variance)}},
                  loc, [&](const Output& step) {
                    const Output steps = Minimum(step, static_cast<double>(decay_steps));
                    const Output variance = Pow(steps + 1.0, -options.variance_decay) * options.initial_variance;
                    const Output noise = RandomNormal(*global_step.graph(), Shape({}), 0.0, 1.0,
                                                      {.dtype = kFloat64, .seed = options.seed}) *
                                         Sqrt(variance);
                    const Output completed = Completed(step, decay_steps);
                    const Output cosine = HalfCosine(completed * (2 * options.num_periods));
                    return ((1.0 + options.alpha - completed + noise) * cosine + options.beta) * learning_rate;
                  });
}

Output WarmUp(const Operand& rate, const Variable& global_step, int64_t warmup_steps, double start_factor,
              std::source_location loc) {
  return Schedule("WarmUp", global_step, {Positive("warmup_steps", static_cast<double>(warmup_steps))}, loc,
                  [&](const Output& step) {
                    const Output factor = Completed(step, warmup_steps) * (1 - start_factor) + start_factor;
                    return factor * Cast(rate.ToOutput(*global_step.graph(), kFloat32), kFloat64);
                  });
}

}  // namespace tensorbraid
