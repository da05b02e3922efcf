// Moving averages of variables and of other tensors. With the averages of its variables, a model often tests better
// than with their last values.
//
//   ExponentialMovingAverage ema(0.999, {.num_updates = global_step});
//   auto train = optimizer.Minimize(loss, {.global_step = global_step});
//   auto after = g.ControlDependencies({train});
//   auto train_and_average = ema.Apply(g.trainable_variables());
//   ...
//   Saver saver(g, {.variables = ema.VariablesToRestore(g)});   // where the model is tested: restores the averages
#ifndef TENSORBRAID_OPTIMIZERS_MOVING_AVERAGE_H_
#define TENSORBRAID_OPTIMIZERS_MOVING_AVERAGE_H_

#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/train/saver.h"

namespace tensorbraid {

struct MovingAverageOptions {
  // If given: the decay is at most (1 + n) / (10 + n), where n is num_updates, so that the averages move faster while n
  // is small.
  Operand num_updates = Output();
  // Corrects the averages of tensors for their start at 0. Without the correction, early averages are too small.
  bool zero_debias = false;
  std::string name = "ExponentialMovingAverage";
};

// average = decay * average + (1 - decay) * value. The average of a variable starts at the variable's initial value,
// the average of another tensor at 0. Averages are variables that are not trained. Each is placed with its variable or
// tensor, and saved like other variables. Not thread-safe. Source: tf.train.ExponentialMovingAverage.
class ExponentialMovingAverage {
 public:
  // `decay` is from 0 to 1, a number or a tensor.
  explicit ExponentialMovingAverage(Operand decay, MovingAverageOptions options = {});

  // Makes an average for each variable or tensor of the list that has none yet. Returns the operation that updates the
  // averages of the whole list. All elements of the list must be floating and belong to one graph, and the shapes of
  // tensors must be fully known.
  Operation Apply(const std::vector<Variable>& variables, std::source_location loc = std::source_location::current());
  Operation Apply(const std::vector<Output>& tensors, std::source_location loc = std::source_location::current());

  // The average of a variable or tensor; invalid before Apply.
  Variable Average(const Variable& variable) const { return AverageOf(variable.handle()); }
  Variable Average(const Output& tensor) const { return AverageOf(tensor); }
  // The name of the average of a variable, whether it exists or not: "weights/ExponentialMovingAverage".
  std::string AverageName(const Variable& variable) const;
  // The variables to restore in order to use the averages, for SaverOptions. Trainable variables, and variables with an
  // average, are restored from their averages; all other global variables from their own values.
  std::vector<SavedVariable> VariablesToRestore(const Graph& graph) const;

 private:
  struct Entry {
    Output averaged;  // the tensor, or the variable's handle
    Variable average;
    Variable biased, steps;  // with zero_debias: the mean that began at 0, and the number of its updates
  };
  // What is averaged: `variable`, whose handle is `key`, or if `variable` is invalid the tensor `key`.
  struct Averaged {
    Output key;
    Variable variable;
  };
  Operation ApplyAll(const std::vector<Averaged>& all, const std::source_location& loc);
  Variable AverageOf(const Output& key) const;
  Entry* Find(const Output& key);
  bool Make(const Averaged& averaged);
  Operation Update(const Averaged& averaged, const Output& rate);

  const Operand decay_;
  const MovingAverageOptions options_;
  std::vector<Entry> entries_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPTIMIZERS_MOVING_AVERAGE_H_
