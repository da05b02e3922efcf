// Batches, and the lookups of their rows, that a thread makes ahead of the steps that use them.
//
//   StagedInput input({ids, labels});                        // the tensors of an input pipeline
//   const Output rows = nn::EmbeddingLookup(table, input[0]);
//   ...                                                      // the model is built on the tensors of `input`
//   const Operation train = optimizer.Minimize(loss, {.global_step = step});
//   input.LookUpAhead();                                     // optional, once the graph of the training is complete
//   MonitoredTrainingSession(g, {.queue_runners = input.queue_runners()});
#ifndef TENSORBRAID_TRAIN_STAGED_INPUT_H_
#define TENSORBRAID_TRAIN_STAGED_INPUT_H_

#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/ops/data_flow.h"
#include "tensorbraid/train/coordinator.h"

namespace tensorbraid {

// One batch waits and the next one is being made, so a batch is at most one step ahead. Batches keep their order. At
// the end of the data, a step fails with OutOfRange, as it does without a StagedInput. The queues are on the device of
// the open device scope. Mistakes are recorded in Graph::status(). Source: DeepRec's tf.staged.
class StagedInput {
 public:
  // `batch` has at least one tensor. All are of one graph.
  explicit StagedInput(const std::vector<Output>& batch, const std::string& name = "prefetch",
                       std::source_location loc = std::source_location::current());

  // The tensors of the batch of a step, with the dtypes and shapes of those that were given.
  const std::vector<Output>& batch() const { return batch_; }
  const Output& operator[](size_t i) const { return batch_[i]; }

  // Lets the thread make the lookups of variables and growing tables ahead, too, each beside the step before its own,
  // if they are computed from the batch alone. A step may then miss the updates of the step before, and of no other. If
  // two neighbouring steps share no key, a training gives the same bits as without. `marked` operations are also
  // computed ahead if they follow from the batch alone. Call it once, when the graph is complete: operations that are
  // added later run in the step. Does nothing if there is no such lookup. Source: DeepRec's do_smart_stage.
  void LookUpAhead(const std::vector<Operation>& marked = {});

  // What the session must run: MonitoredTrainingSessionOptions::queue_runners.
  const std::vector<QueueRunner>& queue_runners() const { return runners_; }

 private:
  FIFOQueue queue_;
  std::vector<Output> batch_;
  std::vector<QueueRunner> runners_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_STAGED_INPUT_H_
