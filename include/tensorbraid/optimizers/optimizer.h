// Optimizers: they turn a loss into the operation that trains.
//
//   auto optimizer = std::make_shared<tensorbraid::GradientDescentOptimizer>(0.5);
//   auto train = optimizer->Minimize(loss, {.global_step = global_step});
//
// An optimizer adds the same ops to the graph as TensorFlow's: updates, placed with their variables, and then an
// increment of the global step. As always while building, mistakes are recorded in Graph::status(); so is a learning
// rate that is known to be negative or not finite.
#ifndef TENSORBRAID_OPTIMIZERS_OPTIMIZER_H_
#define TENSORBRAID_OPTIMIZERS_OPTIMIZER_H_

#include <atomic>
#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tensorbraid/core/wire.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/optimizers/learning_rate.h"

namespace tensorbraid {

class QueueRunner;
class SessionRunHook;
class UpdateGate;

// A variable and its gradient. The gradient is not valid if the loss does not depend on the variable. It is slices if
// the loss only looks up rows of the variable (Gather, nn::EmbeddingLookup). An op that takes a gradient as operand
// gets a dense tensor.
struct GradAndVar {
  Gradient grad;
  Variable var;
};

struct MinimizeOptions {
  // Incremented by one in each step, after all variables have been updated.
  Variable global_step = {};
  // The variables to train; empty: all trainable variables of the graph.
  std::vector<Variable> variables = {};
  // Name of the training operation; "": the optimizer's name.
  std::string name = "";
  // The types in which values and gradients of the variables travel between tasks. kDefault keeps the types that the
  // variables have, for example from ReplicaDeviceSetterOptions::wire.
  WireTypes wire = {};
};

// Fields as in MinimizeOptions.
struct ApplyGradientsOptions {
  Variable global_step = {};
  std::string name = "";
  WireTypes wire = {};
};

// Base class of all optimizers. An optimizer keeps the slot variables that it added to the graph with which it was last
// used. Not thread-safe.
class Optimizer {
 public:
  explicit Optimizer(std::string name);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  const std::string& name() const { return name_; }

  // ComputeGradients followed by ApplyGradients. Returns the operation that does one training step.
  Operation Minimize(const Output& loss, const MinimizeOptions& options = {},
                     std::source_location loc = std::source_location::current());

  // Returns the gradients of `loss` for `variables`, in their order, or for all trainable variables of its graph if
  // `variables` is empty. InvalidArgument when there are no variables, when the loss depends on none of them, or when
  // an op on the way has no gradient; names the op that stops the gradient.
  virtual StatusOr<std::vector<GradAndVar>> ComputeGradients(
      const Output& loss, const std::vector<Variable>& variables = {},
      std::source_location loc = std::source_location::current());

  // Returns the operation that updates the variables with their gradients. Variables without a gradient are not
  // changed. If a gradient is slices, only these rows of the variable and of its slots are read and changed. The
  // exception is Adam, whose means decay in all rows.
  virtual Operation ApplyGradients(const std::vector<GradAndVar>& grads, const ApplyGradientsOptions& options = {},
                                   std::source_location loc = std::source_location::current());

  // A variable in which the optimizer keeps state for `variable`, such as "momentum"; invalid if the slot does not
  // exist.
  virtual Variable GetSlot(const Variable& variable, const std::string& slot) const;
  virtual std::vector<std::string> GetSlotNames() const;

 protected:
  // Creates nodes that all updates of one call of ApplyGradients share. Called before CreateSlots.
  virtual void Prepare(Graph& /*graph*/) {}
  // Creates the slots of a variable. Called before Apply.
  virtual void CreateSlots(const Variable& /*variable*/) {}
  // Returns the operation that updates `variable` with `grad`, which may be slices. Called in a scope that places nodes
  // with the variable. Use grad.ToDense() if there is no rule for rows.
  virtual Operation Apply(const Gradient& grad, const Variable& variable) = 0;
  // Whether the slices that Apply gets must have each row at most once. If so, ApplyGradients first sums rows that
  // occur several times.
  virtual bool NeedsDistinctRows() const { return true; }
  // Returns further operations of a step. Called in a scope in which nodes run after all variables have been updated.
  virtual std::vector<Operation> Finish() { return {}; }

  // Creates a variable of the same shape on the same device, named "variable/<name of the optimizer>".
  Variable MakeSlot(const Variable& variable, const std::string& slot, const Initializer& initializer);
  // Creates a scalar variable that is shared by the updates of all variables. It has the device and dtype of `first`,
  // the first of them.
  Variable MakeShared(const Variable& first, const std::string& name, double value);
  // REQUIRES: MakeShared has been called with this name.
  const Variable& GetShared(const std::string& name) const { return shared_.at(name); }
  // Returns a hyperparameter as a tensor of the variable's dtype. A number becomes one constant per device, so that it
  // is never sent between devices.
  Output Hyper(const Operand& value, const Variable& variable);
  // Like Hyper, for the learning rate of the update that Apply adds: the rate of a stale gradient may be lower (see
  // StalenessPolicy::rate_decay).
  Output LearningRate(const Operand& value, const Variable& variable);

 private:
  friend class AsyncReplicasOptimizer;
  friend class GroupedOptimizer;
  // Whether the slots belong to this graph, which then has a collection named mark_. The graph's address could not
  // tell: a new graph may have the address of one that was destroyed.
  bool Knows(const Graph& graph) const;

  const std::string name_;
  const std::string mark_;                                                   // name of a collection in the graph
  std::map<std::pair<const Node*, std::string>, Variable> slots_;            // by variable handle and slot name
  std::map<std::string, Variable> shared_;                                   // by name
  std::map<std::tuple<const Operand*, std::string, DType>, Output> hypers_;  // only during one ApplyGradients
  UpdateGate* gate_ = nullptr;  // decides which updates run; null: all. Only during one ApplyGradients
  Output rate_factor_;          // of the learning rate of the update that Apply adds; invalid: 1
};

struct GradientDescentOptions {
  std::string name = "GradientDescent";
  // Only recorded in the graph, for TensorFlow. Here every update locks what it changes: the variable, or for updates
  // of rows, the rows.
  bool use_locking = false;
};

// variable -= learning_rate * gradient. The learning rate is a number or a tensor of the graph.
class GradientDescentOptimizer final : public Optimizer {
 public:
  explicit GradientDescentOptimizer(Operand learning_rate, GradientDescentOptions options = {})
      : Optimizer(options.name), learning_rate_(std::move(learning_rate)), use_locking_(options.use_locking) {}

 protected:
  Operation Apply(const Gradient& grad, const Variable& variable) override;
  bool NeedsDistinctRows() const override { return false; }  // subtracts one after the other

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
  Operation Apply(const Gradient& grad, const Variable& variable) override;

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
  Operation Apply(const Gradient& grad, const Variable& variable) override;

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
class AdagradOptimizer final : public Optimizer {
 public:
  explicit AdagradOptimizer(Operand learning_rate, AdagradOptions options = {})
      : Optimizer(options.name), learning_rate_(std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  void CreateSlots(const Variable& variable) override;
  Operation Apply(const Gradient& grad, const Variable& variable) override;

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
// and beta2 are two variables beside the first trained variable. Source: Kingma and Ba, 2015, the form before section
// 2.1.
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
  Operation Apply(const Gradient& grad, const Variable& variable) override;
  std::vector<Operation> Finish() override;

 private:
  Operation ApplyToRows(const IndexedSlices& grad, const Variable& variable, const Output& beta1_power,
                        const Output& beta2_power);
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
  // Scales by the variance of the gradients instead of their mean square. This needs one more slot.
  bool centered = false;
  std::string name = "RMSProp";
  bool use_locking = false;
};

// rms = decay * rms + (1 - decay) * gradient²; mom = momentum * mom + learning_rate * gradient / sqrt(rms + epsilon);
// variable -= mom. Slots "rms" (initially 1), "momentum" and, if centered, "mg". Source: Hinton, lecture 6e, 2012.
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
  Operation Apply(const Gradient& grad, const Variable& variable) override;

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
  // Penalises large weights while gradients are small.
  double l2_shrinkage_regularization_strength = 0.0;
  std::string name = "Ftrl";
  bool use_locking = false;
};

// "Follow the regularised leader": with L1 regularisation, weights of little use become exactly 0. Slots "accum" and
// "linear". Source: McMahan et al., 2013.
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
  Operation Apply(const Gradient& grad, const Variable& variable) override;

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
class AdagradDAOptimizer final : public Optimizer {
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
class ProximalGradientDescentOptimizer final : public Optimizer {
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
class ProximalAdagradOptimizer final : public Optimizer {
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

// Returns the mean of the towers' gradients for each variable. Every tower must list the same variables in the same
// order. A tower whose loss does not depend on a variable counts as a gradient of 0. Slices of all towers are
// concatenated; if one tower's gradient is dense, so is the mean. New nodes are placed by the open device scope.
std::vector<GradAndVar> AverageGradients(const std::vector<std::vector<GradAndVar>>& tower_grads,
                                         std::source_location loc = std::source_location::current());

struct SyncReplicasOptions {
  // The number of gradients in one step.
  int replicas_to_aggregate = 1;
  // The number of workers; 0: as many as replicas_to_aggregate. If there are more workers than gradients, the slowest
  // are spare; if fewer, some contribute more than one gradient to a step.
  int total_num_replicas = 0;
  bool use_locking = false;
  std::string name = "sync_replicas";
};

// Synchronous training: gradients gather in one accumulator per variable. When enough have arrived, the chief applies
// their mean with the wrapped optimizer, increments the global step and gives every worker a token for the next step.
// Gradients of an earlier step, and those sent to a chief that was replaced, are dropped, and the worker is told.
// Source: tf.train.SyncReplicasOptimizer.
//
//   worker: gradients ─► accumulators (on the PS) ─► token = dequeue(sync_token_q) ─► local_step = token
//   chief:  take(accumulators) ─► apply ─► global_step + 1 ─► enqueue(sync_token_q, total_num_replicas tokens)
//
// A graph may have several, each with a global step of its own, which gives names to its queue of tokens and its
// accumulators. One global step for two of them is a mistake, because the updates of one would make gradients of the
// other look stale; a GroupedOptimizer trains groups of variables in one step.
//
// In a MonitoredTrainingSession every worker needs the hook (MakeSessionRunHook). When the chief's session closes, its
// hook closes the token queue, and the sessions of the other workers then stop without an error. Under a Supervisor the
// chief starts chief_queue_runner() and then runs init_tokens_op(); the supervisor does the rest.
class SyncReplicasOptimizer final : public Optimizer {
 public:
  SyncReplicasOptimizer(std::shared_ptr<Optimizer> optimizer, SyncReplicasOptions options);
  ~SyncReplicasOptimizer() override;

  StatusOr<std::vector<GradAndVar>> ComputeGradients(
      const Output& loss, const std::vector<Variable>& variables = {},
      std::source_location loc = std::source_location::current()) override;
  // Needs a global step. May be called once per optimizer.
  Operation ApplyGradients(const std::vector<GradAndVar>& grads, const ApplyGradientsOptions& options = {},
                           std::source_location loc = std::source_location::current()) override;
  Variable GetSlot(const Variable& variable, const std::string& slot) const override;
  std::vector<std::string> GetSlotNames() const override;

  // Returns the hook that initialises this replica. On the chief, the hook also runs the chief's part of the steps. May
  // be called before ApplyGradients.
  std::shared_ptr<SessionRunHook> MakeSessionRunHook(bool is_chief);

  // The operations that the hook uses, for programs that run them themselves. Valid after ApplyGradients.
  Operation init_tokens_op() const;      // chief: enqueues the first tokens
  Operation chief_init_op() const;       // chief: as local_step_init_op; also sets the accumulators to the global step
  Operation local_step_init_op() const;  // other workers
  Output ready_for_local_init() const;   // names of global variables without a value; empty when ready
  Operation close_tokens_op() const;     // chief, at the end
  // Chief: runs its part of the steps. When it is told to stop, it closes the token queue, and the runs of the other
  // workers then fail with OutOfRange.
  QueueRunner chief_queue_runner() const;

  // The number of steps of this worker whose gradients arrived too late and were dropped, as the accumulators have told
  // the hook. A step counts even if its gradients were dropped for some of the variables only. Thread-safe.
  int64_t dropped_gradients() const;

 private:
  struct State;
  class Hook;
  Operation Apply(const Gradient& grad, const Variable& variable) override;

  const std::shared_ptr<State> state_;  // shared with the hooks, which may outlive the optimizer
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPTIMIZERS_OPTIMIZER_H_
