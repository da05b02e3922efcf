// A model with a growing table, for tests of increments.
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_INCREMENT_TESTUTIL_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_INCREMENT_TESTUTIL_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {

// A growing table with a slot, a static variable with as many rows, and a dense variable. One step trains the rows of
// the keys that are fed.
struct TableModel {
  struct Options {
    int64_t parts = 1;
    int64_t servers = 0;  // the parts are on these parameter servers, if there are any
    std::string target = "";
    int max_to_keep = 5;
  };
  static constexpr int64_t kKeys = 200, kKeyDistance = 7'777'777;

  explicit TableModel(const Options& options) {
    if (options.servers > 0) {
      // Round robin, as the parts of a partitioned variable are placed.
      const auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = static_cast<int>(options.servers)}));
      Build(options);
    } else {
      Build(options);
    }
    if (!g.status().ok()) ADD_FAILURE() << g.status();
    saver = std::make_unique<Saver>(g, SaverOptions{.max_to_keep = options.max_to_keep, .incremental = true});
    initialize = GlobalVariablesInitializer(g);
    if (!g.status().ok()) ADD_FAILURE() << g.status();
    session = Session::Create(g, {.target = options.target}).value();
    EXPECT_TRUE(session->Run({initialize}).ok());
  }
  TableModel() : TableModel(Options{}) {}

  void Build(const Options& options) {
    step = GetOrCreateGlobalStep(g);
    keys = Placeholder(g, kInt64, {-1});
    EmbeddingVariableOptions of_table = {.name = "emb"};
    if (options.parts > 1) of_table.partitioner = FixedSizePartitioner(options.parts);
    const EmbeddingVariable table(g, 2, of_table);
    const Variable dense(g, {3}, Ones(), {.name = "dense"});
    const Variable fixed(g, {kKeys, 2}, Ones(), {.name = "fixed"});
    const Output rows = nn::EmbeddingLookup(table, keys);
    const Output fixed_rows = fixed.SparseRead(FloorDiv(keys, kKeyDistance) + kKeys / 2);
    AdagradOptimizer adagrad(0.5);
    train = adagrad.Minimize(ReduceSum(rows * rows) + ReduceSum(fixed_rows * fixed_rows) + ReduceSum(dense * dense),
                             {.global_step = step});
    assign_fixed = fixed.Assign(fixed.value() * 2.0f);
    const Output all = Const(g, Tensor::Vector(AllKeys()));
    state = {nn::EmbeddingLookup(table, all), fixed.value(), adagrad.GetSlot(fixed, "accumulator").value(),
             dense.value(), step.value()};
    for (const Variable& part : table.parts()) {
      state.push_back(NodeBuilder(g, "KvVariableShape").Input(part.handle()).Attr("out_type", kInt64).Output());
    }
    if (options.parts == 1) state.push_back(adagrad.GetSlot(table.parts()[0], "accumulator").SparseRead(all));
  }
  static std::vector<int64_t> AllKeys() {
    std::vector<int64_t> keys;
    for (int64_t i = 0; i < kKeys; ++i) keys.push_back((i - kKeys / 2) * kKeyDistance);
    return keys;
  }

  // Trains the keys with these numbers.
  void Train(const std::vector<int64_t>& numbers) {
    std::vector<int64_t> trained;
    for (const int64_t n : numbers) trained.push_back(AllKeys()[static_cast<size_t>(n)]);
    const Status status = session->Run({train}, {{keys, Tensor::Vector(trained)}}).status();
    ASSERT_TRUE(status.ok()) << status;
  }
  // All values, the number of rows first.
  std::vector<float> State() { return State(*session); }
  std::vector<float> State(Session& of) {
    std::vector<Fetch> fetches(state.begin(), state.end());
    const auto tensors = of.Run(fetches);
    if (!tensors.ok()) {
      ADD_FAILURE() << tensors.status();
      return {};
    }
    std::vector<float> values = {0};
    for (const Tensor& t : *tensors) {
      if (t.dtype() == kFloat32) {
        values.insert(values.end(), t.data<float>().begin(), t.data<float>().end());
      } else if (t.shape().rank() == 1) {
        values[0] += static_cast<float>(t.data<int64_t>()[0]);
      } else {
        values.push_back(static_cast<float>(t.scalar<int64_t>()));
      }
    }
    return values;
  }
  int64_t Step() { return session->Run({step.value()}).value()[0].scalar<int64_t>(); }
  StatusOr<std::string> Save(const std::string& path) { return saver->Save(*session, path, {.global_step = Step()}); }
  StatusOr<std::string> SaveIncrement(const std::string& path) {
    return saver->SaveIncrement(*session, path, {.global_step = Step(), .keep_later_step = true});
  }

  Graph g;
  Output keys;
  Variable step;
  Operation train, initialize, assign_fixed;
  std::vector<Output> state;
  std::unique_ptr<Saver> saver;
  std::unique_ptr<Session> session;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_INCREMENT_TESTUTIL_H_
