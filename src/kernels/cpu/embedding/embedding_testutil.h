// A growing table, or a part of one, whose ops a test runs one at a time.
#ifndef TENSORBRAID_KERNELS_CPU_EMBEDDING_EMBEDDING_TESTUTIL_H_
#define TENSORBRAID_KERNELS_CPU_EMBEDDING_EMBEDDING_TESTUTIL_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "core/threads/thread_pool.h"
#include "executor/evaluate.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

inline Output Constant(Graph& g, const Tensor& t) {
  return NodeBuilder(g, "Const").Attr("value", t).Attr("dtype", t.dtype()).Output();
}

inline Tensor Floats(const Shape& shape, const std::vector<float>& values) { return Tensor::Of<float>(shape, values); }

inline std::vector<float> ValuesOf(const Tensor& t) {
  const auto values = t.data<float>();
  return {values.begin(), values.end()};
}

// The resources of one task.
class TestTask {
 public:
  StatusOr<std::vector<Tensor>> Run(const std::vector<Output>& fetches, const std::vector<Operation>& targets = {}) {
    return Evaluate(fetches, {}, {.targets = targets, .resources = &resources_, .pool = &pool_});
  }
  Status RunOp(Graph& g, const Operation& op) {
    TF_RETURN_IF_ERROR(g.status());
    return Run({}, {op}).status();
  }

 private:
  ThreadPool pool_{"task", 2};
  ResourceManager resources_;
};

struct TestTable {
  std::string name = "emb";
  int64_t dim = 4;
  int64_t part = 0, parts = 1;
  std::string whole = "emb";
  int64_t seed = 7;
  std::string initializer = "uniform";
  std::vector<float> arguments = {-1, 1};
  std::vector<std::pair<std::string, float>> slots = {};  // names and initial numbers
  int64_t matrix_rows = 0;
  Tensor matrix = {};  // if it is valid, the matrix of initial rows
  bool seed_of_graph = false;
  int64_t filter_freq = 0, steps_to_live = 0;

  Output Handle(Graph& g) const {
    NodeBuilder handle(g, "KvVarHandleOp");
    if (matrix.is_valid()) handle.Attr("_matrix", matrix);
    return handle.Attr("_matrix_rows", matrix_rows)
        .Attr("shared_name", name)
        .Attr("dtype", kFloat32)
        .Attr("shape", Shape({dim}))
        .Attr("_whole", whole)
        .Attr("_part", part)
        .Attr("_parts", parts)
        .Attr("_seed", seed)
        .Attr("_seed_of_graph", seed_of_graph)
        .Attr("_filter_freq", filter_freq)
        .Attr("_steps_to_live", steps_to_live)
        .Attr("_initializer", initializer)
        .Attr("_initializer_args", arguments)
        .Output();
  }
  Output Slot(Graph& g, size_t i) const {
    return NodeBuilder(g, "KvVarHandleOp")
        .Attr("shared_name", slots[i].first)
        .Attr("dtype", kFloat32)
        .Attr("shape", Shape({dim}))
        .Attr("_table", name)
        .Attr("_initial", slots[i].second)
        .Output();
  }
  std::vector<Output> Slots(Graph& g) const {
    std::vector<Output> handles;
    for (size_t i = 0; i < slots.size(); ++i) handles.push_back(Slot(g, i));
    return handles;
  }

  Status Initialize(TestTask& task) const {
    Graph g;
    std::vector<Output> handles = Slots(g);  // those of slots first: both orders must work
    handles.push_back(Handle(g));
    for (const Output& handle : handles) {
      TF_RETURN_IF_ERROR(task.RunOp(g, NodeBuilder(g, "_InitializeTable").Input(handle).Finish()));
    }
    return g.status();
  }
  StatusOr<Tensor> LookupFrom(TestTask& task, Graph& g, const Output& handle, const Tensor& keys,
                              const Tensor& defaults) const {
    const Output rows = NodeBuilder(g, "KvResourceGather")
                            .Input(handle)
                            .Input(Constant(g, keys))
                            .Input(Constant(g, defaults))
                            .Attr("dtype", kFloat32)
                            .Attr("Tkeys", keys.dtype())
                            .Output();
    TF_RETURN_IF_ERROR(g.status());
    TF_ASSIGN_OR_RETURN(auto fetched, task.Run({rows}));
    return fetched[0];
  }
  StatusOr<Tensor> Lookup(TestTask& task, const Tensor& keys, const Tensor& defaults = Floats({0}, {})) const {
    Graph g;
    return LookupFrom(task, g, Handle(g), keys, defaults);
  }
  StatusOr<Tensor> Lookup(TestTask& task, const std::vector<int64_t>& keys) const {
    return Lookup(task, Tensor::Vector(keys));
  }
  StatusOr<Tensor> LookupSlot(TestTask& task, size_t i, const std::vector<int64_t>& keys) const {
    Graph g;
    return LookupFrom(task, g, Slot(g, i), Tensor::Vector(keys), Floats({0}, {}));
  }
  // One step of `rule`, whose inputs after the handles of the columns are `scalars`.
  Status Update(TestTask& task, const std::string& rule, const std::vector<float>& scalars, const Tensor& grad,
                const Tensor& keys, int64_t step = 0, const std::vector<Output>& extra_handles = {}) const {
    Graph g;
    NodeBuilder b(g, StrCat("KvResourceSparseApply", rule));
    b.Input(Handle(g));
    for (const Output& slot : Slots(g)) b.Input(slot);
    for (const Output& handle : extra_handles) b.Input(handle);
    for (const float scalar : scalars) b.Input(Constant(g, Tensor::Scalar(scalar)));
    b.Input(Constant(g, grad)).Input(Constant(g, keys)).Input(Constant(g, Tensor::Scalar(step)));
    const Operation op = b.Finish();
    return task.RunOp(g, op);
  }
  StatusOr<int64_t> Rows(TestTask& task) const {
    Graph g;
    const Output shape = NodeBuilder(g, "KvVariableShape").Input(Handle(g)).Attr("out_type", kInt64).Output();
    TF_RETURN_IF_ERROR(g.status());
    TF_ASSIGN_OR_RETURN(const auto fetched, task.Run({shape}));
    EXPECT_EQ(fetched[0].data<int64_t>()[1], dim);
    return fetched[0].data<int64_t>()[0];
  }
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_EMBEDDING_EMBEDDING_TESTUTIL_H_
