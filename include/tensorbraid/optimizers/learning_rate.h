// Learning rates that change with the global step, for the optimizers.
//
//   auto rate = CosineDecay(0.1, global_step, 10'000);
//   MomentumOptimizer optimizer(WarmUp(rate, global_step, 500), 0.9);
//
// Each function returns a float32 scalar, computed in float64 on the device of the global step. Below, t is the global
// step. An invalid number, such as decay_steps <= 0, is recorded as an error of the graph (Graph::status()), which
// names the line of the call.
#ifndef TENSORBRAID_OPTIMIZERS_LEARNING_RATE_H_
#define TENSORBRAID_OPTIMIZERS_LEARNING_RATE_H_

#include <cstdint>
#include <source_location>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"

namespace tensorbraid {

// learning_rate * decay_rate ^ (t / decay_steps). With staircase, the exponent is rounded down.
// Source: tf.train.exponential_decay.
Output ExponentialDecay(double learning_rate, const Variable& global_step, int64_t decay_steps, double decay_rate,
                        bool staircase = false, std::source_location loc = std::source_location::current());
// learning_rate * e ^ (-decay_rate * t / decay_steps). With staircase, t / decay_steps is rounded down.
// Source: tf.train.natural_exp_decay.
Output NaturalExpDecay(double learning_rate, const Variable& global_step, int64_t decay_steps, double decay_rate,
                       bool staircase = false, std::source_location loc = std::source_location::current());
// learning_rate / (1 + decay_rate * t / decay_steps). With staircase, t / decay_steps is rounded down.
// Source: tf.train.inverse_time_decay.
Output InverseTimeDecay(double learning_rate, const Variable& global_step, int64_t decay_steps, double decay_rate,
                        bool staircase = false, std::source_location loc = std::source_location::current());
// values[i] for the first i with t <= boundaries[i], the last value beyond all boundaries. `boundaries` must increase;
// `values` must have one element more. Source: tf.train.piecewise_constant.
Output PiecewiseConstant(const Variable& global_step, const std::vector<int64_t>& boundaries,
                         const std::vector<double>& values, std::source_location loc = std::source_location::current());

struct PolynomialDecayOptions {
  double end_learning_rate = 0.0001;
  double power = 1.0;
  // When the end value is reached, restarts with a longer decay: for steps from (n - 1) * decay_steps to n *
  // decay_steps, uses n * decay_steps in place of decay_steps.
  bool cycle = false;
};
// (learning_rate - end) * (1 - min(t, decay_steps) / decay_steps) ^ power + end. Source: tf.train.polynomial_decay.
Output PolynomialDecay(double learning_rate, const Variable& global_step, int64_t decay_steps,
                       const PolynomialDecayOptions& options = {},
                       std::source_location loc = std::source_location::current());

// learning_rate * ((1 - alpha) * (1 + cos(pi * min(t, decay_steps) / decay_steps)) / 2 + alpha).
// Source: tf.train.cosine_decay.
Output CosineDecay(double learning_rate, const Variable& global_step, int64_t decay_steps, double alpha = 0.0,
                   std::source_location loc = std::source_location::current());

struct CosineDecayRestartsOptions {
  double t_mul = 2.0;  // how much longer each period is than the one before it; at least 1
  double m_mul = 1.0;  // the first rate of a period, divided by the first rate of the period before it
  double alpha = 0.0;  // as in CosineDecay
};
// CosineDecay in periods: after each period, the decay begins again. The first period has first_decay_steps steps.
// Source: Loshchilov and Hutter, 2017; tf.train.cosine_decay_restarts.
Output CosineDecayRestarts(double learning_rate, const Variable& global_step, int64_t first_decay_steps,
                           const CosineDecayRestartsOptions& options = {},
                           std::source_location loc = std::source_location::current());

struct LinearCosineDecayOptions {
  double num_periods = 0.5;  // of the cosine
  double alpha = 0.0;
  double beta = 0.001;
};
// With f = min(t, decay_steps) / decay_steps: learning_rate * ((alpha + 1 - f) * (1 + cos(2 pi num_periods f)) / 2 +
// beta). Source: Bello et al., 2017; tf.train.linear_cosine_decay.
Output LinearCosineDecay(double learning_rate, const Variable& global_step, int64_t decay_steps,
                         const LinearCosineDecayOptions& options = {},
                         std::source_location loc = std::source_location::current());

struct NoisyLinearCosineDecayOptions {
  double initial_variance = 1.0;  // of the noise; divided by (1 + min(t, decay_steps)) ^ variance_decay
  double variance_decay = 0.55;
  double num_periods = 0.5;
  double alpha = 0.0;
  double beta = 0.001;
  int64_t seed = 0;
};
// LinearCosineDecay with normally distributed noise added to 1 - f. Source: tf.train.noisy_linear_cosine_decay.
Output NoisyLinearCosineDecay(double learning_rate, const Variable& global_step, int64_t decay_steps,
                              const NoisyLinearCosineDecayOptions& options = {},
                              std::source_location loc = std::source_location::current());

// `rate`, times a factor that rises linearly from start_factor at step 0 to 1 at warmup_steps. If `rate` is one of the
// schedules above, its t includes the steps of the warm-up. Source: Goyal et al., 2017.
Output WarmUp(const Operand& rate, const Variable& global_step, int64_t warmup_steps, double start_factor = 0.0,
              std::source_location loc = std::source_location::current());

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPTIMIZERS_LEARNING_RATE_H_
