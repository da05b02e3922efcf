// A model for tests that interrupt and resume training. Its next step depends not only on the values of its variables,
// but also on the states of its random ops and of its input.
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_RANDOM_TRAINING_TESTUTIL_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_RANDOM_TRAINING_TESTUTIL_H_

#include <map>
#include <string>
#include <vector>

#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {

// A model with dropout and Adam's slots on a shuffled, batched and prefetched input.
struct RandomTraining {
  // Without seeds in the graph, only the saved states can make two training runs equal. With a cluster, the variables
  // are on the parameter servers, and worker/0 has the random ops and the input.
  explicit RandomTraining(bool seeded = true, const ClusterSpec* cluster = nullptr) {
    constexpr int64_t kBatch = 4;
    if (seeded) g.SetRandomSeed(5);
    auto device = cluster == nullptr
                      ? g.NoDevice()
                      : g.Device(ReplicaDeviceSetter({.cluster = *cluster, .worker_device = "/job:worker/task:0"}));
    const auto number = [&](int64_t n) { return Const(g, Tensor::Scalar(n)); };
    Output data = MakeDataset("RangeDataset", {number(0), number(23), number(1)});
    data = MakeDataset("ShuffleDataset",
                       {data, number(7), number(seeded ? 3 : 0), number(0)});  // two seeds; zeros: random
    data = MakeDataset("RepeatDataset", {data, number(-1)});
    data = MakeDataset("BatchDatasetV2", {data, number(kBatch), Const(g, Tensor::Scalar(true))});
    data = MakeDataset("PrefetchDataset", {data, number(3)});
    const Output iterator = MakeDataset("IteratorV2", {}, {{"shared_name", ""}, {"container", ""}});
    start_input = NodeBuilder(g, "MakeIterator").Input(data).Input(iterator).Finish();
    batch = MakeDataset("IteratorGetNext", {iterator});
    global_step = GetOrCreateGlobalStep(g);
    Output x = Reshape(Cast(batch, kFloat32), {kBatch, 1});
    x = layers::Dense(x, {.units = 16, .activation = layers::Activation::kRelu, .kernel_initializer = Constant(0.1f)});
    x = layers::Dropout(x, {.rate = 0.5, .training = true});
    x = layers::Dense(x, {.units = 1, .kernel_initializer = Constant(0.2f)});
    train = AdamOptimizer(1e-2).Minimize(ReduceMean(Square(x)), {.global_step = global_step});
  }

  Graph g;
  Operation start_input, train;
  Output batch;
  Variable global_step;

 private:
  Output MakeDataset(const std::string& op, const std::vector<Output>& inputs,
                     const std::map<std::string, AttrValue>& attrs = {}) {
    NodeBuilder b(g, op);
    for (const Output& o : inputs) b.Input(o);
    b.Attr("output_types", std::vector<DType>{kInt64}).Attr("output_shapes", std::vector<Shape>{Shape::Unknown()});
    for (const auto& [name, value] : attrs) b.Attr(name, value);
    return b.Output();
  }
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_RANDOM_TRAINING_TESTUTIL_H_
