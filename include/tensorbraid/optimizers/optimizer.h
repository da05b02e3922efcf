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
#include <optional>
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

// In what a slot differs from its variable.
struct SlotOptions {
  std::string name = "";                      // the last part of the slot's name; "": the optimizer's name
  std::optional<Shape> shape = std::nullopt;  // default: the variable's shape
  DType dtype = DType::kInvalid;              // default: the variable's dtype
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
  // Creates the slots of a variable. Called before Prepare.
  virtual void CreateSlots(const Variable& /*variable*/) {}
  // Creates nodes that all updates of one call of ApplyGradients share. Called in the name scope of the updates.
  virtual void Prepare(Graph& /*graph*/) {}
  // Returns the operation that updates `variable` with `grad`, which may be slices. Called in a scope that places nodes
  // with the variable. Use grad.ToDense() if there is no rule for rows.
  virtual Operation Apply(const Gradient& grad, const Variable& variable) = 0;
  // Whether the slices that Apply gets must have each row at most once. If so, ApplyGradients first sums rows that
  // occur several times.
  virtual bool NeedsDistinctRows() const { return true; }
  // Whether Apply can update rows of growing tables (Variable::table). If not, ApplyGradients records Unimplemented for
  // them. A growing table has no dense gradient.
  virtual bool UpdatesTables() const { return false; }
  // Returns further operations of a step. Called in a scope in which nodes run after all variables have been updated.
  virtual std::vector<Operation> Finish() { return {}; }
  // Creates the slots of all variables that have a gradient. By default calls CreateSlots for each.
  virtual void CreateAllSlots(const std::vector<Variable>& variables);

  // Prepares slots for the graph of `variable`. Forgets those of another graph. Called by all functions that make
  // slots, and by ApplyGradients.
  void EnterGraph(const Variable& variable);

  // Creates a variable on the same device, named "VARIABLE/OPTIMIZER" inside of the variable scope that is open. By
  // default it has the variable's shape and dtype. Returns the variable that exists already if the optimizer has made
  // this slot before.
  Variable MakeSlot(const Variable& variable, const std::string& slot, const Initializer& initializer,
                    const SlotOptions& options = {});
  // Creates a scalar variable that is shared by the updates of all variables. It has the device and dtype of `first`,
  // the first of these variables, and is named inside of the name scope in which ApplyGradients was called.
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
  friend class SyncReplicasOptimizer;
  // Whether the slots belong to this graph, which then has a collection named mark_. The graph's address could not
  // tell: a new graph may have the address of one that was destroyed.
  bool Knows(const Graph& graph) const;
  // Whether the variable is no growing table, or can be updated with this gradient.
  Status CheckTable(const GradAndVar& grad, const std::source_location& loc) const;

  const std::string name_;
  const std::string mark_;                                                   // name of a collection in the graph
  std::map<std::pair<const Node*, std::string>, Variable> slots_;            // by variable handle and slot name
  std::map<std::string, Variable> shared_;                                   // by name
  std::map<std::tuple<const Operand*, std::string, DType>, Output> hypers_;  // only during one ApplyGradients
  UpdateGate* gate_ = nullptr;  // decides which updates run; null: all. Only during one ApplyGradients
  Output rate_factor_;          // of the learning rate of the update that Apply adds; invalid: 1
  std::string state_scope_;     // the name scope of shared variables. Only during one ApplyGradients
  // What state_scope_ must be if another optimizer calls ApplyGradients; null: the scope that is open.
  const std::string* outer_scope_ = nullptr;
};

// Returns the mean of the towers' gradients for each variable. Every tower must list the same variables in the same
// order. A tower whose loss does not depend on a variable contributes a gradient of 0. Slices of all towers are
// concatenated; if one tower's gradient is dense, so is the mean. New nodes are placed by the open device scope. If it
// leaves the type of the device open, they are beside the variable, or on the host if the variable is in another task.
std::vector<GradAndVar> AverageGradients(const std::vector<std::vector<GradAndVar>>& tower_grads,
                                         std::source_location loc = std::source_location::current());

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPTIMIZERS_OPTIMIZER_H_
