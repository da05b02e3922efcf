// Saves the states of a graph's random ops and input pipelines in checkpoints, and restores them (docs/design/0020).
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_RANDOM_STATES_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_RANDOM_STATES_H_

#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Finds the random ops and the iterators of a graph, and adds the operations that save and restore their states, each
// on the device of its op. Not thread-safe.
class RandomStates {
 public:
  explicit RandomStates(const Graph& graph);

  // The names that the states have in a checkpoint.
  const std::vector<std::string>& names() const { return names_; }
  // Adds the operations that read the states, and appends the name, value and dtype of each state.
  void AddReads(Graph& graph, std::vector<std::string>* names, std::vector<Output>* values,
                std::vector<DType>* dtypes) const;
  // The operation that restores all states from the checkpoint with this prefix; invalid if there are no states.
  Operation AddRestore(Graph& graph, const Output& prefix) const;
  // Whether the checkpoint has all states. Logs a warning if it lacks some. Also true if this process cannot read the
  // checkpoint: the restore then reports what is wrong.
  bool AreIn(const std::string& prefix) const;

 private:
  std::vector<Operation> owners_;
  std::vector<std::string> names_;
  std::vector<DType> dtypes_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_RANDOM_STATES_H_
