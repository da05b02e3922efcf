// Tests embeddings and gradients that are slices: lookups, gradients, and the rows that a step touches.
#include "tensorbraid/variables/embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "cluster/testing/test_cluster.h"
#include "core/testing/memory_limit.h"
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Element [i,j] is 10 i + j.
Tensor Numbers(int64_t rows, int64_t columns) {
  Tensor table(kFloat32, {rows, columns});
  for (int64_t i = 0; i < rows * columns; ++i) {
    table.mutable_data<float>()[i] = static_cast<float>(10 * (i / columns) + i % columns);
  }
  return table;
}

std::vector<float> Floats(const Tensor& t) { return {t.data<float>().begin(), t.data<float>().end()}; }

// Initialises the variables of `g` and returns the values of `fetches`.
StatusOr<std::vector<Tensor>> Evaluate(Graph& g, const std::vector<Fetch>& fetches, const Operation& before = {}) {
  const Operation init = GlobalVariablesInitializer(g);
  TF_RETURN_IF_ERROR(g.status());
  TF_ASSIGN_OR_RETURN(const auto session, Session::Create(g));
  TF_RETURN_IF_ERROR(session->Run({init}).status());
  if (before.valid()) TF_RETURN_IF_ERROR(session->Run({before}).status());
  return session->Run(fetches);
}

SparseTensor Sparse(Graph& g, const Tensor& indices, const Tensor& values, const std::vector<int64_t>& shape) {
  return {.indices = Const(g, indices), .values = Const(g, values), .dense_shape = Const(g, Tensor::Vector(shape))};
}

TEST(EmbeddingLookupTest, ALookupInPartsEqualsALookupInTheWholeTable) {
  for (const auto strategy : {nn::PartitionStrategy::kMod, nn::PartitionStrategy::kDiv}) {
    for (int parts = 1; parts <= 5; ++parts) {
      Graph g;
      const Tensor whole = Numbers(13, 2);
      std::vector<Variable> table;
      int64_t begin = 0;
      for (int p = 0; p < parts; ++p) {
        const int64_t rows = 13 / parts + (p < 13 % parts ? 1 : 0);
        Tensor part(kFloat32, {rows, 2});
        for (int64_t i = 0; i < rows; ++i) {
          const int64_t id = strategy == nn::PartitionStrategy::kMod ? i * parts + p : begin + i;
          std::copy_n(whole.data<float>().begin() + 2 * id, 2, part.mutable_data<float>().begin() + 2 * i);
        }
        begin += rows;
        table.emplace_back(g, part.shape(), Constant(part), VariableOptions{.name = StrCat("part", p)});
      }
      const auto ids = Placeholder(g, kInt64, {-1, 13});
      const auto rows = nn::EmbeddingLookup(table, ids, {.partition_strategy = strategy});
      EXPECT_EQ(rows.shape(), Shape({-1, 13, 2})) << parts;
      const Operation init = GlobalVariablesInitializer(g);
      ASSERT_TRUE(g.status().ok()) << g.status();
      auto session = Session::Create(g).value();
      ASSERT_TRUE(session->Run({init}).ok());
      Tensor all(kInt64, {1, 13});
      for (int64_t i = 0; i < 13; ++i) all.mutable_data<int64_t>()[i] = i * 5 % 13;  // all ids, in another order
      const auto got = session->Run({rows}, {{ids, all}});
      ASSERT_TRUE(got.ok()) << got.status();
      for (int64_t i = 0; i < 13; ++i) {
        EXPECT_EQ((*got)[0].data<float>()[2 * i + 1], whole.data<float>()[2 * (i * 5 % 13) + 1]) << parts << " " << i;
      }
      for (const int64_t bad : {int64_t{-1}, int64_t{13}, int64_t{1} << 40}) {
        all.mutable_data<int64_t>()[3] = bad;
        EXPECT_TRUE(absl::IsInvalidArgument(session->Run({rows}, {{ids, all}}).status())) << parts << " " << bad;
      }
    }
  }
}

TEST(EmbeddingLookupTest, MaxNormScalesLongRowsOnly) {
  Graph g;
  const Variable table(g, {3, 2}, Constant(Tensor::Of<float>({3, 2}, {3, 4, 0.3f, 0.4f, 0, 0})));
  const auto rows = nn::EmbeddingLookup(table, Const(g, Tensor::Vector<int32_t>({0, 1, 2})), {.max_norm = 1.0});
  const auto grads = SparseGradients({ReduceSum(rows)}, {table.handle()});
  ASSERT_TRUE(grads.ok()) << grads.status();
  ASSERT_TRUE((*grads)[0].is_sparse());
  const auto got = Evaluate(g, {rows, (*grads)[0].ToDense()});
  ASSERT_TRUE(got.ok()) << got.status();
  const auto norm = Floats((*got)[0]);
  EXPECT_FLOAT_EQ(norm[0], 0.6f);
  EXPECT_FLOAT_EQ(norm[1], 0.8f);
  EXPECT_EQ(norm[2], 0.3f);
  EXPECT_EQ(norm[5], 0.0f);
  const auto gradient = Floats((*got)[1]);
  EXPECT_NEAR(gradient[0], (1 - 0.6 * 1.4) / 5, 1e-6);  // (1 - x (x + y)) / norm, for the unit vector (x, y)
  EXPECT_THAT(std::vector<float>(gradient.begin() + 2, gradient.end()), ElementsAre(1, 1, 1, 1));
}

TEST(EmbeddingLookupTest, AnErrorNamesTheVariableThatIsNoPartOfATable) {
  const auto mistake = [](const Shape& a, const Shape& b, DType dtype) {
    Graph g;
    const Variable first(g, a, Zeros(), {.name = "first"});
    const Variable second(g, b, Zeros(), {.name = "second", .dtype = dtype});
    nn::EmbeddingLookup({first, second}, Const(g, Tensor::Vector<int32_t>({0})),
                        {.partition_strategy = nn::PartitionStrategy::kDiv});
    return std::string(g.status().message());
  };
  EXPECT_EQ(mistake({3, 2}, {2, 2}, kFloat32), "");
  EXPECT_THAT(mistake({3, 2}, {2, 3}, kFloat32), HasSubstr("the rows of 'second', float32[2,3], differ"));
  EXPECT_THAT(mistake({3, 2}, {2, 2}, kFloat64), HasSubstr("the rows of 'second', float64[2,2], differ"));
  EXPECT_THAT(mistake({2, 2}, {3, 2}, kFloat32), HasSubstr("must have 3 rows, but 'first' has shape [2,2]"));
  EXPECT_THAT(mistake({}, {3, 2}, kFloat32), HasSubstr("'first' is a scalar"));
  Graph g;
  nn::EmbeddingLookup(std::vector<Variable>(), Const(g, Tensor::Vector<int32_t>({0})));
  EXPECT_THAT(std::string(g.status().message()), HasSubstr("EmbeddingLookup (embedding_test.cc:"));
}

TEST(EmbeddingLookupSparseTest, CombinesAsTensorFlow) {
  struct Case {
    nn::Combiner combiner;
    std::vector<float> plain, weighted;
  };
  // Row 0 has ids 1 (twice) and 3, row 2 has id 2. The weights are 1, 2, 3 and 4.
  const std::vector<Case> cases = {{nn::Combiner::kSum, {50, 53, 0, 0, 20, 21}, {120, 126, 0, 0, 80, 84}},
                                   {nn::Combiner::kMean, {50 / 3.0f, 53 / 3.0f, 0, 0, 20, 21}, {20, 21, 0, 0, 20, 21}},
                                   {nn::Combiner::kSqrtN,
                                    {50 / std::sqrt(3.0f), 53 / std::sqrt(3.0f), 0, 0, 20, 21},
                                    {120 / std::sqrt(14.0f), 126 / std::sqrt(14.0f), 0, 0, 20, 21}}};
  for (const Case& c : cases) {
    for (const bool parted : {false, true}) {
      Graph g;
      const PartitionedVariable table(g, Numbers(5, 2), FixedSizePartitioner(parted ? 2 : 1));
      const Tensor indices = Tensor::Of<int64_t>({4, 2}, {0, 0, 0, 1, 0, 4, 2, 0});
      const auto ids = Sparse(g, indices, Tensor::Vector<int64_t>({1, 1, 3, 2}), {3, 5});
      const auto weights = Sparse(g, indices, Tensor::Vector<float>({1, 2, 3, 4}), {3, 5});
      const nn::EmbeddingLookupSparseOptions options = {.partition_strategy = nn::PartitionStrategy::kDiv,
                                                        .combiner = c.combiner};
      const auto plain = nn::EmbeddingLookupSparse(table, ids, options);
      const auto weighted = nn::EmbeddingLookupSparse(table, ids, weights, options);
      const auto grads = SparseGradients({plain, weighted}, {table.parts()[0].handle()});
      ASSERT_TRUE(grads.ok()) << grads.status();
      EXPECT_TRUE((*grads)[0].is_sparse());
      const auto got = Evaluate(g, {plain, weighted, (*grads)[0].ToDense()});
      ASSERT_TRUE(got.ok()) << got.status();
      for (int i = 0; i < 6; ++i) {
        EXPECT_FLOAT_EQ((*got)[0].data<float>()[i], c.plain[i]) << i;
        EXPECT_FLOAT_EQ((*got)[1].data<float>()[i], c.weighted[i]) << i;
      }
      if (c.combiner == nn::Combiner::kSum) {
        const auto d = Floats((*got)[2]);
        EXPECT_EQ(d[2], 2 + 3) << "row 1: `plain` has it twice with weight 1, `weighted` with weights 1 and 2";
        EXPECT_EQ(d[0], 0);
      }
    }
  }
}

TEST(EmbeddingLookupSparseTest, TheSafeFormIgnoresInvalidIdsAndFillsEmptyRows) {
  Graph g;
  const Variable table(g, {5, 2}, Constant(Numbers(5, 2)));
  // The ids are [[[1, -1], [], [2, 3]]], and their dense shape is [1, 3, 2].
  const Tensor indices = Tensor::Of<int64_t>({4, 3}, {0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 2, 1});
  const auto ids = Sparse(g, indices, Tensor::Vector<int64_t>({1, -1, 2, 3}), {1, 3, 2});
  const auto weights = Sparse(g, indices, Tensor::Vector<float>({1, 1, 0, 2}), {1, 3, 2});
  const auto plain = nn::SafeEmbeddingLookupSparse(table, ids);
  const auto weighted = nn::SafeEmbeddingLookupSparse(table, ids, weights);
  const auto filled = nn::SafeEmbeddingLookupSparse(table, ids, {.default_id = 4});
  const auto got = Evaluate(g, {plain, weighted, filled});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)[0].shape(), Shape({1, 3, 2}));
  EXPECT_THAT(Floats((*got)[0]), ElementsAre(10, 11, 0, 0, 25, 26));
  EXPECT_THAT(Floats((*got)[1]), ElementsAre(10, 11, 0, 0, 30, 31)) << "id 2 has weight 0";
  EXPECT_THAT(Floats((*got)[2]), ElementsAre(10, 11, 40, 41, 25, 26));
}

// --- Gradients ---

TEST(SparseGradientTest, TheSafeLookupHasGradientsForTableAndWeights) {
  Graph g;
  const Variable table(g, {5, 2}, Constant(Numbers(5, 2)));
  const Tensor indices = Tensor::Of<int64_t>({4, 2}, {0, 0, 0, 1, 2, 0, 2, 1});
  const auto ids = Sparse(g, indices, Tensor::Vector<int64_t>({1, -1, 2, 3}), {3, 2});
  const auto weights = Sparse(g, indices, Tensor::Vector<float>({1, 1, 0, 2}), {3, 2});
  const auto rows = nn::SafeEmbeddingLookupSparse(table, ids, weights, {.combiner = nn::Combiner::kSum});
  const auto gradients = Gradients({rows}, {weights.values, table.handle()});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  const auto got = Evaluate(g, {(*gradients)[0], (*gradients)[1]});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(Floats((*got)[0]), ElementsAre(21, 0, 41, 61)) << "the sums of the embeddings; -1 is ignored";
  EXPECT_THAT(Floats((*got)[1]), ElementsAre(0, 0, 1, 1, 0, 0, 2, 2, 0, 0)) << "the weights; row 1 is not looked up";
}

TEST(SparseGradientTest, DistinctIdsAreLookedUpOnceAndTheirGradientsAreSummed) {
  Graph g;
  const PartitionedVariable table(g, {5, 2}, Constant(Numbers(5, 2)), FixedSizePartitioner(2));
  const auto ids = Const(g, Tensor::Of<int64_t>({2, 3}, {4, 0, 4, 4, 1, 0}));
  std::vector<Fetch> fetches;
  for (const bool distinct : {false, true}) {
    const auto rows = nn::EmbeddingLookup(
        table, ids, {.partition_strategy = nn::PartitionStrategy::kDiv, .max_norm = 30.0, .distinct_ids = distinct});
    fetches.push_back(rows);
    const auto gradients =
        SparseGradients({Square(rows)}, {table.parts()[0].handle(), table.parts()[1].handle()}).value();
    for (const Gradient& grad : gradients) {
      ASSERT_TRUE(grad.is_sparse());
      fetches.push_back(grad.ToDense());
      fetches.push_back(grad.slices().indices);
    }
  }
  const auto got = Evaluate(g, fetches);
  ASSERT_TRUE(got.ok()) << got.status();
  // Five values without distinct_ids, and the same five with it: the rows, then for each part the dense gradient and
  // the indices of the slices.
  for (int i : {0, 1, 3}) {
    EXPECT_THAT(Floats((*got)[i + 5]), testing::Pointwise(testing::FloatNear(1e-3f), Floats((*got)[i]))) << i;
  }
  EXPECT_EQ((*got)[5].shape(), Shape({2, 3, 2}));
  EXPECT_EQ((*got)[2].num_elements(), 3) << "ids 0, 1 and 0 are in the first part";
  EXPECT_EQ((*got)[7].num_elements(), 2);
  EXPECT_EQ((*got)[4].num_elements(), 3) << "id 4 occurs three times";
  EXPECT_EQ((*got)[9].num_elements(), 1);
}

TEST(SparseGradientTest, RowsAreSummedBeforeTheyAreSentToTheVariable) {
  Graph g;
  Variable table;
  {
    auto device = g.Device("/job:ps/task:0");
    table = Variable(g, {4, 2}, Zeros());
  }
  auto device = g.Device("/job:worker/task:0");
  const auto ids = Placeholder(g, kInt64, {-1});
  const auto rows = nn::EmbeddingLookup(table, ids) * 2.0;
  AdagradOptimizer(0.5).Minimize(ReduceSum(rows));
  ASSERT_TRUE(g.status().ok()) << g.status();
  int sums = 0;
  for (const auto& node : ImplOf(g).nodes()) {
    if (node->type() != "UnsortedSegmentSum") continue;
    ++sums;
    EXPECT_EQ(node->device(), "/job:worker/task:0");
  }
  EXPECT_EQ(sums, 1);
}

TEST(SparseGradientTest, GradientsOfLookupsAreConcatenatedAndADenseUseMakesThemDense) {
  Graph g;
  const Variable w(g, {4, 2}, Zeros());
  const auto a = Gather(w, Const(g, Tensor::Of<int32_t>({1, 2}, {1, 3})));
  const auto b = Gather(w, Const(g, Tensor::Vector<int64_t>({3})));
  const auto c = Gather(w.value(), Const(g, Tensor::Vector<int32_t>({0})));  // through a read of the whole
  const auto only_lookups = SparseGradients({a, b, c}, {w.handle()}).value()[0];
  const auto mixed = SparseGradients({a, b, w * 2.0}, {w.handle()}).value()[0];
  ASSERT_TRUE(only_lookups.is_sparse());
  EXPECT_FALSE(mixed.is_sparse());
  EXPECT_EQ(only_lookups.slices().indices.dtype(), kInt64);
  const auto distinct = only_lookups.WithDistinctRows().slices();
  const auto got = Evaluate(
      g, {only_lookups.ToDense(), mixed.dense(), distinct.indices, distinct.values, only_lookups.slices().values});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(Floats((*got)[0]), ElementsAre(1, 1, 1, 1, 0, 0, 2, 2));
  EXPECT_THAT(Floats((*got)[1]), ElementsAre(2, 2, 3, 3, 2, 2, 4, 4));
  EXPECT_EQ((*got)[2].num_elements(), 3);
  EXPECT_EQ((*got)[3].shape(), Shape({3, 2}));
  EXPECT_EQ((*got)[4].shape(), Shape({4, 2}));
}

TEST(SparseGradientTest, GatherNdOfPositionsWithOneComponentIsALookup) {
  Graph g;
  const Variable w(g, {4, 2}, Zeros());
  const auto rows = GatherNd(w, Const(g, Tensor::Of<int32_t>({2, 1}, {1, 1})));
  const auto elements = GatherNd(w, Const(g, Tensor::Of<int32_t>({1, 2}, {3, 1})));
  const auto sparse = SparseGradients({rows}, {w.handle()}).value()[0];
  const auto dense = SparseGradients({elements}, {w.handle()}).value()[0];
  ASSERT_TRUE(sparse.is_sparse());
  EXPECT_FALSE(dense.is_sparse());
  const auto got = Evaluate(g, {sparse.ToDense(), dense.dense()});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(Floats((*got)[0]), ElementsAre(0, 0, 2, 2, 0, 0, 0, 0));
  EXPECT_THAT(Floats((*got)[1]), ElementsAre(0, 0, 0, 0, 0, 0, 0, 1));
}

TEST(SparseGradientTest, AnEmptyBatchChangesNothing) {
  Graph g;
  const Variable w(g, {4, 2}, Ones());
  const auto ids = Const(g, Tensor(kInt64, {0, 3}));
  AdagradOptimizer optimizer(0.5);
  const Operation train = optimizer.Minimize(ReduceSum(nn::EmbeddingLookup(w, ids)));
  const auto got = Evaluate(g, {w}, train);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(Floats((*got)[0]), testing::Each(1.0f));
}

TEST(SparseGradientTest, TowersAreAveragedAsSlicesUnlessOneIsDense) {
  Graph g;
  const Variable w(g, {3, 1}, Zeros());
  GradientDescentOptimizer optimizer(1.0);
  const auto tower = [&](const Output& loss) { return optimizer.ComputeGradients(loss).value(); };
  const auto lookup = [&](int64_t id, float slope) {
    return tower(ReduceSum(nn::EmbeddingLookup(w, Const(g, Tensor::Vector<int64_t>({id})))) * slope);
  };
  const auto slices = AverageGradients({lookup(0, 2), lookup(2, 6)});
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_TRUE(slices[0].grad.is_sparse());
  const auto dense = AverageGradients({lookup(0, 2), tower(ReduceSum(w * 4.0))});
  EXPECT_FALSE(dense[0].grad.is_sparse());
  const auto got = Evaluate(g, {slices[0].grad.ToDense(), dense[0].grad.ToDense()});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(Floats((*got)[0]), ElementsAre(1, 0, 3));
  EXPECT_THAT(Floats((*got)[1]), ElementsAre(3, 2, 2));
}

// --- In a cluster ---

// The purpose of slices: with a table of 1,000,000 rows on two parameter servers, a step that looks up ten rows neither
// copies nor sends the other rows. To copy or send them would need more memory than the limit allows.
TEST(SparseTrainingTest, AStepOnALargeTableTouchesOnlyTheRowsThatItLooksUp) {
  TestCluster cluster(2, 1);
  Graph g;
  auto device = g.Device(ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = "/job:worker/task:0"}));
  constexpr int64_t kRows = 1'000'000;
  const PartitionedVariable table(g, {kRows, 16}, Ones(), FixedSizePartitioner(2), {.name = "table"});
  EXPECT_EQ(table.parts()[0].handle().op().device(), "/job:ps/task:0");
  EXPECT_EQ(table.parts()[1].handle().op().device(), "/job:ps/task:1");
  const auto ids = Placeholder(g, kInt64, {-1});
  const auto rows = nn::EmbeddingLookup(table, ids, {.partition_strategy = nn::PartitionStrategy::kDiv});
  std::vector<std::pair<std::string, Operation>> trains;
  AdagradOptimizer adagrad(0.5);
  GradientDescentOptimizer descent(0.5);
  MomentumOptimizer momentum(0.5, 0.9);
  trains.emplace_back("Adagrad", adagrad.Minimize(ReduceSum(rows)));
  trains.emplace_back("GradientDescent", descent.Minimize(ReduceSum(rows)));
  trains.emplace_back("Momentum", momentum.Minimize(ReduceSum(rows)));
  const Output copy_of_half = table.parts()[0] * 1.0;
  const Operation init = GlobalVariablesInitializer(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g, {.target = cluster.worker_target()}).value();
  ASSERT_TRUE(session->Run({init}).ok());
  Tensor ten(kInt64, {10});
  for (int64_t i = 0; i < 10; ++i) ten.mutable_data<int64_t>()[i] = i * (kRows / 10) + 7;
  const MemoryLimit limit(4 << 20);
  for (const auto& [name, train] : trains) {
    for (int step = 0; step < 3; ++step) {
      const Status status = session->Run({train}, {{ids, ten}}).status();
      ASSERT_TRUE(status.ok()) << name << ": " << status;
    }
  }
  const auto got = session->Run({rows}, {{ids, Tensor::Vector<int64_t>({7, 8, kRows - 1})}});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_LT((*got)[0].data<float>()[0], 1.0f);
  EXPECT_EQ((*got)[0].data<float>()[16], 1.0f);
  EXPECT_EQ((*got)[0].data<float>()[32], 1.0f);
  // The limit would have refused a copy of half of the table.
  EXPECT_FALSE(session->Run({copy_of_half}).ok());
}

TEST(SparseTrainingTest, SynchronousReplicasAverageTheirSlices) {
  TestCluster cluster(2, 2);
  struct Replica {
    Replica(const TestCluster& cluster, int worker) {
      auto device = g.Device(
          ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = StrCat("/job:worker/task:", worker)}));
      table = Variable(g, {4, 1}, Zeros(), {.name = "table"});
      bias = Variable(g, {}, Zeros(), {.name = "bias"});
      ids = Placeholder(g, kInt64, {-1});
      step = GetOrCreateGlobalStep(g);
      auto sync = std::make_shared<SyncReplicasOptimizer>(
          std::make_shared<GradientDescentOptimizer>(1.0),
          SyncReplicasOptions{.replicas_to_aggregate = 2, .total_num_replicas = 2});
      train = sync->Minimize(ReduceSum(nn::EmbeddingLookup(table, ids)) + bias, {.global_step = step});
      session = MonitoredTrainingSession(g, {.master = cluster.worker_target(worker),
                                             .is_chief = worker == 0,
                                             .hooks = {sync->MakeSessionRunHook(worker == 0)}});
    }
    Status Step(std::vector<int64_t> rows) {
      if (!session.ok()) return session.status();
      return (*session)->Run({train}, {{ids, Tensor::Vector(rows)}}).status();
    }
    Graph g;
    Variable table, bias, step;
    Output ids;
    Operation train;
    StatusOr<std::unique_ptr<MonitoredSession>> session = absl::UnknownError("not started");
  };
  Replica chief(cluster, 0);
  Replica other(cluster, 1);
  Status first, second;
  std::thread thread([&] { second = other.Step({3, 1, 3}); });
  first = chief.Step({1});
  thread.join();
  ASSERT_TRUE(first.ok()) << first;
  ASSERT_TRUE(second.ok()) << second;
  auto& session = (*chief.session)->session();
  // The token queue of SyncReplicasOptimizer is not empty at the start, so the two steps may end before the chief has
  // applied the gradients.
  while (session.Run({chief.step}).value()[0].scalar<int64_t>() == 0) {
  }
  const auto got = session.Run({chief.table, chief.bias});
  ASSERT_TRUE(got.ok()) << got.status();
  // A row is averaged over the replicas that looked it up; within a replica, its occurrences add up.
  EXPECT_THAT(Floats((*got)[0]), ElementsAre(0, -1, 0, -2));
  EXPECT_EQ((*got)[1].scalar<float>(), -1);
}

}  // namespace
}  // namespace tensorbraid
