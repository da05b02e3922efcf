// Optimizers: from a loss to the operation that trains.
//
//   auto optimizer = std::make_shared<tensorbraid::GradientDescentOptimizer>(0.5);
//   auto train = optimizer->Minimize(loss, {.global_step = global_step});
//
// What they add to the graph is TensorFlow's: updates where the variables are, then one added to the global step.
// Mistakes are kept in Graph::status(), as everywhere while building.
#ifndef TENSORBRAID_OPTIMIZER_H_
#define TENSORBRAID_OPTIMIZER_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tensorbraid/array_ops.h"
#include "tensorbraid/graph.h"
#include "tensorbraid/variable.h"

namespace tensorbraid {

class QueueRunner;
class SessionRunHook;

// A gradient (invalid: the loss does not depend on the variable) and the variable it is for.
struct GradAndVar {
  Output grad;
  Variable var;
};

struct MinimizeOptions {
  // Grows by one with each step, after all variables have been updated.
  Variable global_step = {};
  // Empty: all trainable variables of the graph.
  std::vector<Variable> variables = {};
  // Of the training operation; empty: the optimizer's.
  std::string name = "";
};

struct ApplyGradientsOptions {
  Variable global_step = {};
  std::string name = "";
};

// Base of all optimizers. An optimizer adds to graphs and keeps what it added (slots) for the graph it was last used
// with. Not thread-safe.
class Optimizer {
 public:
  explicit Optimizer(std::string name);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  const std::string& name() const { return name_; }

  // ComputeGradients and ApplyGradients: the operation that does one step of training.
  Operation Minimize(const Output& loss, const MinimizeOptions& options = {});

  // Gradients of `loss` for all trainable variables of its graph, or the ones given, in their order. InvalidArgument
  // when there are no variables, when the loss depends on none of them, or an op in between has no gradient.
  virtual StatusOr<std::vector<GradAndVar>> ComputeGradients(const Output& loss,
                                                             const std::vector<Variable>& variables = {});

  // The operation that changes the variables by their gradients; pairs without a gradient are left alone.
  virtual Operation ApplyGradients(const std::vector<GradAndVar>& grads, const ApplyGradientsOptions& options = {});

  // What the optimizer remembers about a variable ("momentum"); invalid when there is no such slot.
  virtual Variable GetSlot(const Variable& variable, const std::string& slot) const;
  virtual std::vector<std::string> GetSlotNames() const;

 protected:
  // Makes the slots of a variable. Called before ApplyDense.
  virtual void CreateSlots(const Variable& variable) {}
  // The operation that changes `variable` by `grad`. Called with everything placed where the variable is.
  virtual Operation ApplyDense(const Output& grad, const Variable& variable) = 0;
  // What else a step does, once all variables have been updated (the scope depends on that).
  virtual std::vector<Operation> Finish() { return {}; }

  // A variable of the same shape beside `variable`, named "variable/<name of the optimizer>".
  Variable MakeSlot(const Variable& variable, const std::string& slot, const Initializer& initializer);
  // A scalar that the steps of all variables share, beside the first of them; of the first's dtype.
  Variable MakeShared(const Variable& first, const std::string& name, double value);
  // REQUIRES: MakeShared.
  const Variable& GetShared(const std::string& name) const { return shared_.at(name); }
  // A hyperparameter as a tensor of the variable's dtype; numbers become one constant per device, so that nothing has
  // to be sent for them.
  Output Hyper(const Operand& value, const Variable& variable);

 private:
  // Whether the slots are of this graph, which has a mark of this optimizer then. An address would not do: the graph
  // that was there may be gone.
  bool Knows(const Graph& graph) const;

  const std::string name_;
  const std::string mark_;                                                   // a collection of the graph
  std::map<std::pair<const Node*, std::string>, Variable> slots_;            // by handle and slot
  std::map<std::string, Variable> shared_;                                   // by name
  std::map<std::tuple<const Operand*, std::string, DType>, Output> hypers_;  // of one ApplyGradients
};

struct GradientDescentOptions {
  std::string name = "GradientDescent";
  // Recorded in the graph for TensorFlow's sake; updates of one variable never overlap here.
  bool use_locking = false;
};

// variable -= learning_rate * gradient. The rate is a number or a tensor of the graph.
class GradientDescentOptimizer final : public Optimizer {
 public:
  explicit GradientDescentOptimizer(Operand learning_rate, GradientDescentOptions options = {})
      : Optimizer(options.name), learning_rate_(std::move(learning_rate)), use_locking_(options.use_locking) {}

 protected:
  Operation ApplyDense(const Output& grad, const Variable& variable) override;

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
class MomentumOptimizer final : public Optimizer {
 public:
  MomentumOptimizer(Operand learning_rate, Operand momentum, MomentumOptions options = {})
      : Optimizer(options.name),
        learning_rate_(std::move(learning_rate)),
        momentum_(std::move(momentum)),
        options_(std::move(options)) {}

 protected:
  void CreateSlots(const Variable& variable) override;
  Operation ApplyDense(const Output& grad, const Variable& variable) override;

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

// Steps scaled by running means of squared gradients and squared steps. Slots "accum" and "accum_update".
// Source: Zeiler, 2012.
class AdadeltaOptimizer final : public Optimizer {
 public:
  explicit AdadeltaOptimizer(Operand learning_rate = 0.001, AdadeltaOptions options = {})
      : Optimizer(options.name),
        learning_rate_(std::move(learning_rate)),
        rho_(options.rho),
        epsilon_(options.epsilon),
        use_locking_(options.use_locking) {}

 protected:
  void CreateSlots(const Variable& variable) override;
  Operation ApplyDense(const Output& grad, const Variable& variable) override;

 private:
  const Operand learning_rate_;
  const Operand rho_;
  const Operand epsilon_;
  const bool use_locking_;
};

struct AdagradOptions {
  double initial_accumulator_value = 0.1;  // above 0
  std::string name = "Adagrad";
  bool use_locking = false;
};

// Steps scaled by the sum of squared gradients: accum += gradient²; variable -= learning_rate * gradient / sqrt(accum).
// Slot "accumulator". Source: Duchi et al., 2011.
class AdagradOptimizer final : public Optimizer {
 public:
  explicit AdagradOptimizer(Operand learning_rate, AdagradOptions options = {})
      : Optimizer(options.name), learning_rate_(std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  void CreateSlots(const Variable& variable) override;
  Operation ApplyDense(const Output& grad, const Variable& variable) override;

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

// Running means m of the gradients and v of their squares, corrected for having begun at 0:
// variable -= learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon). Slots "m" and "v"; the
// powers of beta are two variables beside the first. Source: Kingma and Ba, 2015, the form before section 2.1.
class AdamOptimizer final : public Optimizer {
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
  Operation ApplyDense(const Output& grad, const Variable& variable) override;
  std::vector<Operation> Finish() override;

 private:
  const Operand learning_rate_;
  const Operand beta1_;
  const Operand beta2_;
  const Operand epsilon_;
  const AdamOptions options_;
};

struct RMSPropOptions {
  double decay = 0.9;
  double momentum = 0.0;
  double epsilon = 1e-10;
  // Scale by the variance of the gradients instead of their mean square: one slot more.
  bool centered = false;
  std::string name = "RMSProp";
  bool use_locking = false;
};

// rms = decay * rms + (1 - decay) * gradient²; mom = momentum * mom + learning_rate * gradient / sqrt(rms + epsilon);
// variable -= mom. Slots "rms" (from 1), "momentum" and, centered, "mg". Source: Hinton, lecture 6e, 2012.
class RMSPropOptimizer final : public Optimizer {
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
  Operation ApplyDense(const Output& grad, const Variable& variable) override;

 private:
  const Operand learning_rate_;
  const Operand decay_;
  const Operand momentum_;
  const Operand epsilon_;
  const RMSPropOptions options_;
};

struct FtrlOptions {
  double learning_rate_power = -0.5;  // at most 0
  double initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0.0;
  double l2_regularization_strength = 0.0;
  // Penalises large weights while gradients are small.
  double l2_shrinkage_regularization_strength = 0.0;
  std::string name = "Ftrl";
  bool use_locking = false;
};

// "Follow the regularised leader": with L1, weights that do little become exactly 0. Slots "accum" and "linear".
// Source: McMahan et al., 2013.
class FtrlOptimizer final : public Optimizer {
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
  Operation ApplyDense(const Output& grad, const Variable& variable) override;

 private:
  const Operand learning_rate_;
  const Operand power_;
  const Operand l1_;
  const Operand l2_;
  const Operand shrinkage_;
  const FtrlOptions options_;
};

// The mean of the towers' gradients for each variable; every tower lists the same variables in the same order. Made
// under the device scope that is open.
std::vector<GradAndVar> AverageGradients(const std::vector<std::vector<GradAndVar>>& tower_grads);

// learning_rate * decay_rate ^ (global_step / decay_steps); staircase: the exponent in whole numbers. Computed where
// the global step is. Source: tf.train.exponential_decay.
Output ExponentialDecay(double learning_rate, const Variable& global_step, int64_t decay_steps, double decay_rate,
                        bool staircase = false);
// values[i] up to and at boundaries[i], the last value beyond all. One value more than boundaries, which rise.
// Source: tf.train.piecewise_constant.
Output PiecewiseConstant(const Variable& global_step, const std::vector<int64_t>& boundaries,
                         const std::vector<double>& values);

struct SyncReplicasOptions {
  // Gradients that make up one step.
  int replicas_to_aggregate = 1;
  // Workers; 0: as many as replicas_to_aggregate. More workers than gradients: the slowest are spare. Fewer: some
  // contribute more than once.
  int total_num_replicas = 0;
  bool use_locking = false;
  std::string name = "sync_replicas";
};

// Makes the replicas train in step: gradients gather in one accumulator per variable; when enough have come, the chief
// applies their mean with the optimizer inside, adds one to the global step and gives every worker a token for the
// next step. Gradients of an earlier step are dropped. Source: tf.train.SyncReplicasOptimizer, whose graph this is.
//
//   worker: gradients ─► accumulators (on the PS) ─► token = dequeue(sync_token_q) ─► local_step = token
//   chief:  take(accumulators) ─► apply ─► global_step + 1 ─► enqueue(sync_token_q, total_num_replicas tokens)
//
// Every worker needs the hook. When the chief's session closes, the token queue is closed: the other workers' sessions
// then stop by themselves, well.
class SyncReplicasOptimizer final : public Optimizer {
 public:
  SyncReplicasOptimizer(std::shared_ptr<Optimizer> optimizer, SyncReplicasOptions options);
  ~SyncReplicasOptimizer() override;

  StatusOr<std::vector<GradAndVar>> ComputeGradients(const Output& loss,
                                                     const std::vector<Variable>& variables = {}) override;
  // Needs a global step. Once per optimizer.
  Operation ApplyGradients(const std::vector<GradAndVar>& grads, const ApplyGradientsOptions& options = {}) override;
  Variable GetSlot(const Variable& variable, const std::string& slot) const override;
  std::vector<std::string> GetSlotNames() const override;

  // The hook that sets the replica up, and on the chief runs the steps. May be made before ApplyGradients.
  std::shared_ptr<SessionRunHook> MakeSessionRunHook(bool is_chief);

  // The parts that the hook puts together, for programs that do it by hand. Valid after ApplyGradients.
  Operation init_tokens_op() const;        // chief: gives out the first tokens
  Operation chief_init_op() const;         // chief: local_step_init_op, and the accumulators begin at the global step
  Operation local_step_init_op() const;    // other workers
  Output ready_for_local_init() const;     // names of what must be initialised first, empty when all is
  Operation close_tokens_op() const;       // chief, at the end
  QueueRunner chief_queue_runner() const;  // chief: runs the steps

  // How many gradients of this worker came too late and were dropped, as far as the hook has seen. Thread-safe.
  int64_t dropped_gradients() const;

 private:
  struct State;
  class Hook;
  Operation ApplyDense(const Output& grad, const Variable& variable) override;

  const std::shared_ptr<State> state_;  // shared with the hooks, which may outlive the optimizer
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPTIMIZER_H_
