// The optimizers: a class for each rule by which a gradient changes a variable. A class may be derived from one of them
// to replace some of its protected functions.
#ifndef TENSORBRAID_OPTIMIZERS_RULES_H_
#define TENSORBRAID_OPTIMIZERS_RULES_H_

#include <memory>
#include <string>
#include <vector>

#include "tensorbraid/core/wire.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/optimizers/learning_rate.h"
#include "tensorbraid/optimizers/optimizer.h"

namespace tensorbraid {

struct GradientDescentOptions {
  std::string name = "GradientDescent";
  // Only recorded in the graph, for TensorFlow. Here every update locks what it changes: the variable, or for updates
  // of rows, the rows.
  bool use_locking = false;
};

// variable -= learning_rate * gradient. The learning rate is a number or a tensor of the graph.
class GradientDescentOptimizer : public Optimizer {
 public:
  explicit GradientDescentOptimizer(Operand learning_rate, GradientDescentOptions options = {})
      : Optimizer(options.name), learning_rate_(std::move(learning_rate)), use_locking_(options.use_locking) {}

 protected:
  Operation Apply(const Gradient& grad, const Variable& variable) override;
  bool NeedsDistinctRows() const override { return false; }  // repeated rows are subtracted one after the other
  bool UpdatesTables() const override { return true; }

 private:
  const Operand learning_rate_;
  const bool use_locking_;
};

struct MomentumOptions {
  std::string name = "Momentum";
  bool use_locking = false;
  bool use_nesterov = false;
};

// accum = momentum * accum + gradient; variable -= learning_rate * accum. Slot "momentum".
class MomentumOptimizer : public Optimizer {
 public:
  MomentumOptimizer(Operand learning_rate, Operand momentum, MomentumOptions options = {})
      : Optimizer(options.name),
        learning_rate_(std::move(learning_rate)),
        momentum_(std::move(momentum)),
        options_(std::move(options)) {}

 protected:
  void CreateSlots(const Variable& variable) override;
  Operation Apply(const Gradient& grad, const Variable& variable) override;
  bool UpdatesTables() const override { return true; }

 private:
  const Operand learning_rate_;
  const Operand momentum_;
  const MomentumOptions options_;
};

struct AdadeltaOptions {
  double rho = 0.95;
  double epsilon = 1e-8;
  std::string name = "Adadelta";
  bool use_locking = false;
};

// Scales steps by running means of squared gradients and squared steps. Slots "accum" and "accum_update".
// Source: Zeiler, 2012.
class AdadeltaOptimizer : public Optimizer {
 public:
  explicit AdadeltaOptimizer(Operand learning_rate = 0.001, AdadeltaOptions options = {})
      : Optimizer(options.name),
        learning_rate_(std::move(learning_rate)),
        rho_(options.rho),
        epsilon_(options.epsilon),
        use_locking_(options.use_locking) {}

 protected:
  void CreateSlots(const Variable& variable) override;
  Operation Apply(const Gradient& grad, const Variable& variable) override;
  bool UpdatesTables() const override { return true; }

 private:
  const Operand learning_rate_;
  const Operand rho_;
  const Operand epsilon_;
  const bool use_locking_;
};

struct AdagradOptions {
  double initial_accumulator_value = 0.1;  // must be positive
  std::string name = "Adagrad";
  bool use_locking = false;
};

// Scales steps by the sum of squared gradients: accum += gradient²; variable -= learning_rate * gradient / sqrt(accum).
// Slot "accumulator". Source: Duchi et al., 2011.
class AdagradOptimizer : public Optimizer {
 public:
  explicit AdagradOptimizer(Operand learning_rate, AdagradOptions options = {})
      : Optimizer(options.name), learning_rate_(std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  void CreateSlots(const Variable& variable) override;
  Operation Apply(const Gradient& grad, const Variable& variable) override;
  bool UpdatesTables() const override { return true; }

 private:
  const Operand learning_rate_;
  const AdagradOptions options_;
};

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  std::string name = "Adam";
  bool use_locking = false;
};

// Keeps running means m of the gradients and v of their squares, and corrects for their start at 0: variable -=
// learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon). Slots "m" and "v"; the powers of beta1
// and beta2 are two variables beside the first trained variable. If the gradient is slices, m and v decay in all rows
// and all rows change, as in TensorFlow; of a growing table, only the rows with a gradient. Source: Kingma and Ba,
// 2015, the form before section 2.1.
class AdamOptimizer : public Optimizer {
 public:
  explicit AdamOptimizer(Operand learning_rate = 0.001, AdamOptions options = {})
      : Optimizer(options.name),
        learning_rate_(std::move(learning_rate)),
        beta1_(options.beta1),
        beta2_(options.beta2),
        epsilon_(options.epsilon),
        options_(std::move(options)) {}

 protected:
  void CreateSlots(const Variable& variable) override;
  Operation Apply(const Gradient& grad, const Variable& variable) override;
  bool UpdatesTables() const override { return true; }
  std::vector<Operation> Finish() override;
  // Starts the node that updates `variable` by `rule`, whose inputs are those of "ApplyAdam".
  NodeBuilder ApplyNode(const Gradient& grad, const Variable& variable, const std::string& rule);

 private:
  // The value of a power of a beta, in the dtype of the variable.
  Output Power(const char* shared, const Variable& variable);
  Operation ApplyToRows(const IndexedSlices& grad, const Variable& variable);
  const Operand learning_rate_;
  const Operand beta1_;
  const Operand beta2_;
  const Operand epsilon_;
  const AdamOptions options_;
};

// Adam with decoupled weight decay: variable -= weight_decay * variable, and then Adam's update of the result. The
// decay is not multiplied by the learning rate, and does not enter the means of the gradients. If the gradient is
// slices, only these rows decay, once each. Rows of a growing table decay by the corrected learning rate, as in
// DeepRec: row -= rate * (m / (sqrt(v) + epsilon) + weight_decay * row), where rate is learning_rate * sqrt(1 -
// beta2^t) / (1 - beta1^t). `weight_decay` is a number or a tensor of the graph. Slots, powers and learning rate are
// those of Adam. Source: Loshchilov and Hutter, 2019; tf.contrib.opt.AdamWOptimizer.
class AdamWOptimizer : public AdamOptimizer {
 public:
  explicit AdamWOptimizer(Operand weight_decay, Operand learning_rate = 0.001, AdamOptions options = {.name = "AdamW"})
      : AdamOptimizer(std::move(learning_rate), std::move(options)), weight_decay_(std::move(weight_decay)) {}

  // From now on, ApplyGradients lets only these variables decay; empty: all. Biases, for example, usually do not decay.
  void set_decay_variables(std::vector<Variable> variables) { decay_variables_ = std::move(variables); }

 protected:
  Operation Apply(const Gradient& grad, const Variable& variable) override;

 private:
  Operation Decay(const Gradient& grad, const Variable& variable);

  const Operand weight_decay_;
  std::vector<Variable> decay_variables_;
};

struct RMSPropOptions {
  double decay = 0.9;
  double momentum = 0.0;
  double epsilon = 1e-10;
  // Scales by the variance of the gradients instead of their mean square. This needs one more slot.
  bool centered = false;
  std::string name = "RMSProp";
  bool use_locking = false;
};

// rms = decay * rms + (1 - decay) * gradient²; mom = momentum * mom + learning_rate * gradient / sqrt(rms + epsilon);
// variable -= mom. Slots "rms" (initially 1), "momentum" and, if centered, "mg". Source: Hinton, lecture 6e, 2012.
class RMSPropOptimizer : public Optimizer {
 public:
  explicit RMSPropOptimizer(Operand learning_rate, RMSPropOptions options = {})
      : Optimizer(options.name),
        learning_rate_(std::move(learning_rate)),
        decay_(options.decay),
        momentum_(options.momentum),
        epsilon_(options.epsilon),
        options_(std::move(options)) {}

 protected:
  void CreateSlots(const Variable& variable) override;
  Operation Apply(const Gradient& grad, const Variable& variable) override;
  bool UpdatesTables() const override { return true; }

 private:
  const Operand learning_rate_;
  const Operand decay_;
  const Operand momentum_;
  const Operand epsilon_;
  const RMSPropOptions options_;
};

struct FtrlOptions {
  double learning_rate_power = -0.5;       // at most 0
  double initial_accumulator_value = 0.1;  // must not be negative
  double l1_regularization_strength = 0.0;
  double l2_regularization_strength = 0.0;
  // Penalises large weights: for the slot "linear", 2 * this strength * variable is added to the gradient.
  double l2_shrinkage_regularization_strength = 0.0;
  std::string name = "Ftrl";
  bool use_locking = false;
};

// "Follow the regularised leader": with L1 regularisation, weights of little use become exactly 0. Slots "accum" and
// "linear". Source: McMahan et al., 2013.
class FtrlOptimizer : public Optimizer {
 public:
  explicit FtrlOptimizer(Operand learning_rate, FtrlOptions options = {})
      : Optimizer(options.name),
        learning_rate_(std::move(learning_rate)),
        power_(options.learning_rate_power),
        l1_(options.l1_regularization_strength),
        l2_(options.l2_regularization_strength),
        shrinkage_(options.l2_shrinkage_regularization_strength),
        options_(std::move(options)) {}

 protected:
  void CreateSlots(const Variable& variable) override;
  Operation Apply(const Gradient& grad, const Variable& variable) override;
  bool UpdatesTables() const override { return true; }

 private:
  const Operand learning_rate_;
  const Operand power_;
  const Operand l1_;
  const Operand l2_;
  const Operand shrinkage_;
  const FtrlOptions options_;
};

struct AdagradDAOptions {
  double initial_gradient_squared_accumulator_value = 0.1;  // must be positive
  double l1_regularization_strength = 0.0;
  double l2_regularization_strength = 0.0;
  std::string name = "AdagradDA";
  bool use_locking = false;
};

// Adagrad by dual averaging: each update regularises as if all earlier steps had been regularised, too. So linear
// models become sparse with L1 regularisation. `global_step` counts the steps; Minimize must increment it. Slots
// "gradient_accumulator" and "gradient_squared_accumulator". Source: Duchi et al., 2011.
class AdagradDAOptimizer : public Optimizer {
 public:
  AdagradDAOptimizer(Operand learning_rate, Variable global_step, AdagradDAOptions options = {})
      : Optimizer(options.name),
        learning_rate_(std::move(learning_rate)),
        global_step_(std::move(global_step)),
        l1_(options.l1_regularization_strength),
        l2_(options.l2_regularization_strength),
        options_(std::move(options)) {}

 protected:
  void Prepare(Graph& graph) override;
  void CreateSlots(const Variable& variable) override;
  Operation Apply(const Gradient& grad, const Variable& variable) override;

 private:
  const Operand learning_rate_;
  const Variable global_step_;
  const Operand l1_;
  const Operand l2_;
  const AdagradDAOptions options_;
  Output step_;  // the number of the step that this update completes
};

struct ProximalGradientDescentOptions {
  double l1_regularization_strength = 0.0;
  double l2_regularization_strength = 0.0;
  std::string name = "ProximalGradientDescent";
  bool use_locking = false;
};

// Gradient descent followed by L1 and L2 regularisation: x = variable - learning_rate * gradient; variable = sign(x) *
// max(|x| - learning_rate * l1, 0) / (1 + learning_rate * l2). Source: Duchi and Singer, 2009.
class ProximalGradientDescentOptimizer : public Optimizer {
 public:
  explicit ProximalGradientDescentOptimizer(Operand learning_rate, ProximalGradientDescentOptions options = {})
      : Optimizer(options.name),
        learning_rate_(std::move(learning_rate)),
        l1_(options.l1_regularization_strength),
        l2_(options.l2_regularization_strength),
        options_(std::move(options)) {}

 protected:
  Operation Apply(const Gradient& grad, const Variable& variable) override;

 private:
  const Operand learning_rate_;
  const Operand l1_;
  const Operand l2_;
  const ProximalGradientDescentOptions options_;
};

struct ProximalAdagradOptions {
  double initial_accumulator_value = 0.1;  // must be positive
  double l1_regularization_strength = 0.0;
  double l2_regularization_strength = 0.0;
  std::string name = "ProximalAdagrad";
  bool use_locking = false;
};

// Adagrad with the regularisation of ProximalGradientDescentOptimizer. Slot "accumulator".
class ProximalAdagradOptimizer : public Optimizer {
 public:
  explicit ProximalAdagradOptimizer(Operand learning_rate, ProximalAdagradOptions options = {})
      : Optimizer(options.name),
        learning_rate_(std::move(learning_rate)),
        l1_(options.l1_regularization_strength),
        l2_(options.l2_regularization_strength),
        options_(std::move(options)) {}

 protected:
  void CreateSlots(const Variable& variable) override;
  Operation Apply(const Gradient& grad, const Variable& variable) override;

 private:
  const Operand learning_rate_;
  const Operand l1_;
  const Operand l2_;
  const ProximalAdagradOptions options_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPTIMIZERS_RULES_H_
