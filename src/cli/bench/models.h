// The models that the benchmarks train, with batches to feed.
#ifndef TENSORBRAID_CLI_BENCH_MODELS_H_
#define TENSORBRAID_CLI_BENCH_MODELS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/bench/onednn.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/optimizers/optimizer.h"

namespace tensorbraid {

struct BenchModel {
  Graph graph;
  std::vector<Output> inputs;
  std::vector<std::vector<Tensor>> batches;  // each has a value for every input; the steps use them in rotation
  int64_t examples = 0;                      // in a batch
  Output loss;
  std::shared_ptr<Optimizer> optimizer;
  double clip_norm = 0;                // limit for the norm of all gradients together; 0: none
  std::vector<Arithmetic> arithmetic;  // of each layer
};

// Builds the model `name` (softmax, lenet, lstm or crnn) in `m`, which must be empty. Workers with different numbers
// have different data. Nodes get the devices of the scopes that are open in m.graph.
void MakeModel(const std::string& name, int worker, BenchModel& m);

// Adds the operation that does one training step with m.optimizer. `global_step` may be invalid.
StatusOr<Operation> AddTraining(BenchModel& m, const Variable& global_step = {});

// Each builds one model, for MakeModel.
void MakeSoftmax(int worker, BenchModel& m);
void MakeCrnn(int worker, BenchModel& m);

// float32 numbers in [0, 0.3), the same for the same seed.
Tensor MakeNoise(const Shape& shape, int seed);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_BENCH_MODELS_H_
