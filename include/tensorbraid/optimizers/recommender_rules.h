// Optimizers for recommenders that train without end, which TensorFlow lacks. They update variables and growing tables
// (EmbeddingVariable).
#ifndef TENSORBRAID_OPTIMIZERS_RECOMMENDER_RULES_H_
#define TENSORBRAID_OPTIMIZERS_RECOMMENDER_RULES_H_

#include <cstdint>
#include <string>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/optimizers/optimizer.h"

namespace tensorbraid {

struct AdamAsyncOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  // Updates of rows are RMSProp's with the momentum beta1 and the decay beta2, and do not change the powers.
  bool apply_sparse_rmsprop = false;
  std::string name = "AdamAsync";
  bool use_locking = false;
};

// Adam whose powers of the betas belong to each variable, which each of its updates multiplies. So workers need not
// wait for each other. If the gradient is slices, only these rows and their means change. Slots "m", "v", and the
// scalars "beta1_power" and "beta2_power". Source: DeepRec.
class AdamAsyncOptimizer : public Optimizer {
 public:
  explicit AdamAsyncOptimizer(Operand learning_rate = 0.001, AdamAsyncOptions options = {})
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

 private:
  const Operand learning_rate_;
  const Operand beta1_;
  const Operand beta2_;
  const Operand epsilon_;
  const AdamAsyncOptions options_;
};

struct AdagradDecayOptions {
  double initial_accumulator_value = 0.1;   // must be positive
  int64_t accumulator_decay_step = 100000;  // must be positive
  double accumulator_decay_rate = 0.9;
  std::string name = "AdagradDecay";
  bool use_locking = false;
};

// Adagrad that forgets slowly: an element of the accumulator is multiplied by the decay rate once in each
// `accumulator_decay_step` steps of the global step, but not below its initial value. An element that was not updated
// meanwhile makes up for one decay in each later update. Slots "accumulator" and "accumulator_decay_power", the number
// of decays so far. Source: DeepRec.
class AdagradDecayOptimizer : public Optimizer {
 public:
  // `global_step` is an int64 variable, which Minimize increments.
  AdagradDecayOptimizer(Operand learning_rate, Variable global_step, AdagradDecayOptions options = {})
      : Optimizer(options.name),
        learning_rate_(std::move(learning_rate)),
        global_step_(std::move(global_step)),
        rate_(options.accumulator_decay_rate),
        baseline_(options.initial_accumulator_value),
        options_(std::move(options)) {}

 protected:
  void Prepare(Graph& graph) override;
  void CreateSlots(const Variable& variable) override;
  Operation Apply(const Gradient& grad, const Variable& variable) override;
  bool UpdatesTables() const override { return true; }

 private:
  const Operand learning_rate_;
  const Variable global_step_;
  const Operand rate_;
  const Operand baseline_;
  const AdagradDecayOptions options_;
  Output step_;   // the value of the global step
  Output steps_;  // accumulator_decay_step
};

struct RowwiseAdagradOptions {
  double initial_accumulator_value = 0.1;  // must be positive
  std::string name = "RowwiseAdagrad";
  bool use_locking = false;
};

// Adagrad with one sum for each row of a variable, to which each update adds the mean of the squares of the row's
// gradient. A row is what one index of the first dimension names; a scalar is one row. So the slot of a growing table
// with rows of 16 numbers needs 4 bytes a row, and Adagrad's 64. Slot "accumulator", [rows, 1].
class RowwiseAdagradOptimizer : public Optimizer {
 public:
  explicit RowwiseAdagradOptimizer(Operand learning_rate, RowwiseAdagradOptions options = {})
      : Optimizer(options.name), learning_rate_(std::move(learning_rate)), options_(std::move(options)) {}

 protected:
  void CreateSlots(const Variable& variable) override;
  Operation Apply(const Gradient& grad, const Variable& variable) override;
  bool UpdatesTables() const override { return true; }

 private:
  const Operand learning_rate_;
  const RowwiseAdagradOptions options_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPTIMIZERS_RECOMMENDER_RULES_H_
