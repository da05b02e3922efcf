// Tests growing tables in training: their graphs, what they refuse, and their values, which are those of static
// variables over the same keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "cluster/testing/test_cluster.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"
#include "train/optimizers/table_rules_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Message(const Graph& g) { return std::string(g.status().message()); }

// --- Graphs ---

TEST(GrowingTableGraphTest, APartDescribesItself) {
  Graph g;
  g.SetRandomSeed(7);
  const EmbeddingVariable table(
      g, 4, {.name = "ids", .initializer = RandomUniform(-1, 2), .partitioner = FixedSizePartitioner(2)});
  ASSERT_TRUE(table.valid()) << g.status();
  ASSERT_EQ(table.parts().size(), 2u);
  const Variable& part = table.parts()[1];
  EXPECT_EQ(part.name(), "ids/part_1");
  EXPECT_EQ(part.shape(), Shape({-1, 4}));
  const Node& handle = *NodeOf(part.handle());
  EXPECT_EQ(handle.type(), "KvVarHandleOp");
  EXPECT_EQ(handle.attr<Shape>("shape"), Shape({4}));
  EXPECT_EQ(handle.attr<std::string>("shared_name"), "ids/part_1");
  EXPECT_EQ(handle.attr<std::string>("_whole"), "ids");
  EXPECT_EQ(handle.attr<int64_t>("_part"), 1);
  EXPECT_EQ(handle.attr<int64_t>("_parts"), 2);
  EXPECT_EQ(handle.attr<int64_t>("_seed"), 7);
  EXPECT_EQ(handle.attr<std::string>("_initializer"), "uniform");
  EXPECT_THAT(handle.attr<std::vector<float>>("_initializer_args"), ElementsAre(-1, 2));
  EXPECT_EQ(part.initializer().type(), "_InitializeTable");
  EXPECT_EQ(part.is_initialized().op().type(), "KvVarIsInitializedOp");
  EXPECT_EQ(g.trainable_variables().size(), 2u);
}

TEST(GrowingTableGraphTest, GlorotTakesAFixedNumberOfRows) {
  Graph g;
  const EmbeddingVariable table(g, 4, {.name = "ids", .initializer = GlorotUniform(3)});
  ASSERT_TRUE(table.valid()) << g.status();
  const auto limit = static_cast<float>(std::sqrt(6.0 / (kInitialRows + 4)));
  const auto args = NodeOf(table.parts()[0].handle())->attr<std::vector<float>>("_initializer_args");
  EXPECT_THAT(args, ElementsAre(testing::FloatEq(-limit), testing::FloatEq(limit)));
  EXPECT_EQ(table.parts()[0].name(), "ids");
}

TEST(GrowingTableGraphTest, AMatrixOfInitialRowsIsInTheHandle) {
  Graph g;
  const EmbeddingVariable drawn(g, 4, {.name = "ids", .initializer = GlorotUniform(3), .matrix_rows = 10});
  const EmbeddingVariable given(g, 1, {.name = "words", .matrix = Tensor::Of<float>({2, 1}, {7, 8})});
  ASSERT_TRUE(given.valid()) << g.status();
  const Node& handle = *NodeOf(drawn.parts()[0].handle());
  EXPECT_EQ(handle.attr<int64_t>("_matrix_rows"), 10);
  EXPECT_THAT(handle.attr<std::vector<float>>("_initializer_args")[1], testing::FloatEq(std::sqrt(6.0f / 14)));
  const Node& other = *NodeOf(given.parts()[0].handle());
  EXPECT_EQ(other.attr<int64_t>("_matrix_rows"), 2);
  EXPECT_THAT(other.attr<Tensor>("_matrix").data<float>(), ElementsAre(7, 8));
}

TEST(GrowingTableGraphTest, AnErrorNamesTheMistakeInATable) {
  const auto mistake = [](int64_t dim, EmbeddingVariableOptions options) {
    Graph g;
    options.name = "ids";
    const EmbeddingVariable table(g, dim, options);
    EXPECT_FALSE(table.valid());
    return Message(g);
  };
  EXPECT_THAT(mistake(0, {}), HasSubstr("a row must have one number or more, got dim 0"));
  EXPECT_THAT(mistake(2, {.initializer = Orthogonal()}), HasSubstr("cannot be computed row by row"));
  EXPECT_THAT(mistake(2, {.initializer = Constant(Tensor::Vector<float>({1, 2}))}),
              HasSubstr("cannot be computed row by row"));
  EXPECT_THAT(mistake(2, {.matrix_rows = -1}), HasSubstr("matrix_rows must not be negative, got -1"));
  const auto matrix = Tensor::Of<float>({1, 2}, {1, 2});
  EXPECT_THAT(mistake(3, {.matrix = matrix}), HasSubstr("must be float32 with shape [n, 3]"));
  EXPECT_THAT(mistake(2, {.matrix_rows = 5, .matrix = matrix}), HasSubstr("leave out its initializer and matrix_rows"));
  const auto parts = [](int64_t count) { return [count](const Shape&, DType) { return count; }; };
  EXPECT_THAT(mistake(2, {.partitioner = parts(0)}), HasSubstr("from 1 to 1000, got 0"));
  EXPECT_THAT(mistake(2, {.partitioner = parts(1001)}), HasSubstr("from 1 to 1000, got 1001"));
  EXPECT_THAT(mistake(2, {.restored_name = "old"}), HasSubstr("restored_name is 'old', but restore_from"));
}

TEST(GrowingTableGraphTest, ATableHasNoValueAsAWhole) {
  const auto mistake = [](const auto& use) {
    Graph g;
    const EmbeddingVariable table(g, 2, {.name = "ids"});
    use(g, table.parts()[0]);
    return Message(g);
  };
  const auto reads = HasSubstr("the growing table 'ids' (growing_table_test.cc:");
  EXPECT_THAT(mistake([](Graph&, const Variable& v) { v.value(); }), reads);
  EXPECT_THAT(mistake([](Graph&, const Variable& v) { v.Read(); }), HasSubstr("nn::EmbeddingLookup"));
  EXPECT_THAT(mistake([](Graph&, const Variable& v) { v.Assign(1.0); }), HasSubstr("cannot be assigned"));
  EXPECT_THAT(mistake([](Graph&, const Variable& v) { ReduceSum(v * 2.0); }), reads);
  EXPECT_THAT(mistake([](Graph& g, const Variable& v) { nn::EmbeddingLookup(v, Const(g, Tensor::Scalar("a"))); }),
              HasSubstr("StringToHashBucketFast"));
}

TEST(GrowingTableGraphTest, TheParametersOfALookupAreAllPartsInTheirOrder) {
  Graph g;
  const EmbeddingVariable table(g, 2, {.name = "ids", .partitioner = FixedSizePartitioner(2)});
  nn::EmbeddingLookup({table.parts()[1], table.parts()[0]}, Const(g, Tensor::Vector<int64_t>({1})));
  EXPECT_THAT(Message(g), HasSubstr("'ids/part_1' is not part 0 of the 2 parts of a growing table"));
}

TEST(GrowingTableGraphTest, SlotsAreColumnsOfTheirTable) {
  Graph g;
  const EmbeddingVariable table(g, 2, {.name = "ids", .partitioner = FixedSizePartitioner(2)});
  const auto rows = nn::EmbeddingLookup(table, Const(g, Tensor::Vector<int32_t>({1, -5})));
  EXPECT_EQ(rows.shape(), Shape({2, 2}));
  AdagradOptimizer adagrad(0.1, {.initial_accumulator_value = 0.25});
  adagrad.Minimize(ReduceSum(rows));
  ASSERT_TRUE(g.status().ok()) << g.status();
  const Variable slot = adagrad.GetSlot(table.parts()[1], "accumulator");
  ASSERT_TRUE(slot.valid());
  EXPECT_EQ(slot.name(), "ids/part_1/Adagrad");
  const Node& handle = *NodeOf(slot.handle());
  EXPECT_EQ(handle.type(), "KvVarHandleOp");
  EXPECT_EQ(handle.attr<std::string>("_table"), "ids/part_1");
  EXPECT_EQ(handle.attr<float>("_initial"), 0.25f);
  EXPECT_EQ(slot.table()->whole, "ids/Adagrad");

  RowwiseAdagradOptimizer rowwise(0.1);
  rowwise.Minimize(ReduceSum(rows));
  ASSERT_TRUE(g.status().ok()) << g.status();
  const Variable narrow = rowwise.GetSlot(table.parts()[1], "accumulator");
  EXPECT_EQ(narrow.shape(), Shape({-1, 1}));
  EXPECT_EQ(NodeOf(narrow.handle())->attr<Shape>("shape"), Shape({1}));
  EXPECT_EQ(NodeOf(narrow.handle())->attr<int64_t>("_dim"), 2);
}

TEST(GrowingTableGraphTest, SlotsWithOneNumberForEachRowOfAVariable) {
  Graph g;
  const PartitionedVariable matrix(g, {6, 2}, Zeros(), FixedSizePartitioner(2), {.name = "matrix"});
  const Variable scalar(g, Shape(), Zeros(), {.name = "scalar"});
  const Variable vector(g, {3}, Zeros(), {.name = "vector"});
  RowwiseAdagradOptimizer rowwise(0.1);
  rowwise.Minimize(ReduceSum(matrix.AsTensor()) + scalar.value() + ReduceSum(vector.value()));
  ASSERT_TRUE(g.status().ok()) << g.status();
  const Variable part = rowwise.GetSlot(matrix.parts()[1], "accumulator");
  EXPECT_EQ(part.shape(), Shape({3, 1}));
  ASSERT_NE(part.part_of(), nullptr);
  EXPECT_EQ(part.part_of()->whole, "matrix/RowwiseAdagrad");
  EXPECT_EQ(part.part_of()->shape, Shape({6, 1}));
  EXPECT_EQ(part.part_of()->first_row, 3);
  EXPECT_EQ(rowwise.GetSlot(scalar, "accumulator").shape(), Shape({1, 1}));
  EXPECT_EQ(rowwise.GetSlot(vector, "accumulator").shape(), Shape({3, 1}));
}

TEST(GrowingTableGraphTest, OtherOptimizersAndDenseGradientsAreRefused) {
  const auto mistake = [](const auto& train) {
    Graph g;
    const EmbeddingVariable table(g, 2, {.name = "ids"});
    const auto loss = ReduceSum(nn::EmbeddingLookup(table, Const(g, Tensor::Vector<int64_t>({1}))));
    train(g, table.parts()[0], loss);
    return Message(g);
  };
  EXPECT_THAT(mistake([](Graph&, const Variable&, const Output& loss) {
                ProximalGradientDescentOptimizer(0.1).Minimize(loss);
              }),
              AllOf(HasSubstr("ProximalGradientDescent (growing_table_test.cc:"), HasSubstr("the growing table 'ids'"),
                    HasSubstr("use AdagradOptimizer")));
  EXPECT_THAT(mistake([](Graph& g, const Variable& v, const Output&) {
                const auto dense = Const(g, Tensor::Of<float>({1, 2}, {1, 2}));
                GradientDescentOptimizer(0.1).ApplyGradients({{dense, v}});
              }),
              HasSubstr("has a dense gradient"));
}

TEST(GrowingTableGraphTest, AMetaGraphKeepsTables) {
  std::string meta;
  {
    Graph g;
    const EmbeddingVariable table(g, 2, {.name = "ids", .initializer = Constant(0.5)});
    AdagradOptimizer(0.1).Minimize(ReduceSum(nn::EmbeddingLookup(table, Const(g, Tensor::Vector<int64_t>({1})))));
    const Saver saver(g);
    ASSERT_TRUE(g.status().ok()) << g.status();
    meta = saver.ToMetaGraphDef().value();
  }
  Graph g;
  const auto imported = ImportMetaGraph(g, meta);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const std::vector<Variable> variables = g.variables();
  ASSERT_EQ(variables.size(), 2u);
  const Variable& table = variables[0];
  EXPECT_EQ(table.name(), "ids");
  EXPECT_EQ(table.shape(), Shape({-1, 2}));
  ASSERT_NE(table.table(), nullptr);
  EXPECT_EQ(table.table()->initial_rows.a, 0.5);
  EXPECT_EQ(variables[1].table()->slot_of, "ids");
}

TEST(GrowingTableGraphTest, DeviceSettersPlaceTablesOnServers) {
  Graph g;
  auto device =
      g.Device(ReplicaDeviceSetter({.ps_tasks = 2, .worker_device = "/job:worker", .strategy = LeastBytesStrategy(2)}));
  const EmbeddingVariable table(g, 8, {.name = "ids"});
  const Variable small(g, {1000, 8}, Zeros(), {.name = "small"});
  const Variable next(g, {1000, 8}, Zeros(), {.name = "next"});
  EXPECT_EQ(table.parts()[0].handle().op().device(), "/job:ps/task:0");
  EXPECT_EQ(small.handle().op().device(), "/job:ps/task:1");
  EXPECT_EQ(next.handle().op().device(), "/job:ps/task:1");  // the table counts as 1,000,000 rows
}

// --- Values ---

constexpr int64_t kVocabulary = 40;
constexpr int64_t kDim = 3;

// A training whose loss depends on rows of a table in a nonlinear way, with or without a growing table.
struct Training {
  // `parts` = 0: a static variable.
  Training(int parts, const MakeOptimizer& make, const DeviceFunction& device) {
    auto place = g.Device(device ? device : [](const Operation&) { return std::string(); });
    if (parts == 0) {
      whole = Variable(g, {kVocabulary, kDim}, Constant(0.25), {.name = "ids"});
    } else {
      table = EmbeddingVariable(
          g, kDim, {.name = "ids", .initializer = Constant(0.25), .partitioner = FixedSizePartitioner(parts)});
    }
    const nn::EmbeddingTable rows_of = parts == 0 ? nn::EmbeddingTable(whole) : table;
    ids = Placeholder(g, kInt64, {-1});
    factors = Placeholder(g, kFloat32, {-1, kDim});
    rows = nn::EmbeddingLookup(rows_of, ids);
    const auto loss = ReduceSum(Square(rows * factors - 1.0));
    optimizer = make(g);
    train = optimizer->Minimize(loss, {.global_step = GetOrCreateGlobalStep(g)});
    init = GlobalVariablesInitializer(g);
    if (parts != 0) count = table.NumRows();
  }

  Status Start(const std::string& target) {
    TF_RETURN_IF_ERROR(g.status());
    TF_ASSIGN_OR_RETURN(session, Session::Create(g, {.target = target}));
    return session->Run({init}).status();
  }
  // The keys of a step, some of them twice, and the factors of their rows.
  static std::pair<std::vector<int64_t>, Tensor> Batch(int n) {
    std::vector<int64_t> keys;
    Tensor scale(kFloat32, {6, kDim});
    for (int64_t i = 0; i < 6; ++i) keys.push_back((n * 7 + i * i * 3) % kVocabulary);
    for (int64_t i = 0; i < 6 * kDim; ++i) {
      scale.mutable_data<float>()[i] = 0.1f * static_cast<float>((n * 5 + i) % 11) - 0.3f;
    }
    return {keys, scale};
  }
  Status Step(int n) {
    const auto [keys, scale] = Batch(n);
    return session->Run({train}, {{ids, Tensor::Vector(keys)}, {factors, scale}}).status();
  }
  StatusOr<std::vector<float>> All() {
    std::vector<int64_t> keys;
    for (int64_t i = 0; i < kVocabulary; ++i) keys.push_back(i);
    TF_ASSIGN_OR_RETURN(const auto got, session->Run({rows}, {{ids, Tensor::Vector(keys)}}));
    return std::vector<float>(got[0].data<float>().begin(), got[0].data<float>().end());
  }

  Graph g;
  Variable whole;
  EmbeddingVariable table;
  Output ids, factors, rows, count;
  std::shared_ptr<Optimizer> optimizer;
  Operation train, init;
  std::unique_ptr<Session> session;
};

TEST(GrowingTableTest, ATableOverAVocabularyEqualsAVariableBitForBit) {
  for (const auto& [name, make] : RulesOfTables()) {
    Training fixed(0, make, nullptr);
    ASSERT_TRUE(fixed.Start("").ok()) << fixed.g.status();
    for (int step = 0; step < 20; ++step) ASSERT_TRUE(fixed.Step(step).ok());
    const auto expected = fixed.All().value();
    for (const int parts : {1, 2, 3}) {
      Training growing(parts, make, nullptr);
      const Status started = growing.Start("");
      ASSERT_TRUE(started.ok()) << started;
      for (int step = 0; step < 20; ++step) {
        const Status stepped = growing.Step(step);
        ASSERT_TRUE(stepped.ok()) << stepped;
      }
      EXPECT_EQ(growing.All().value(), expected) << name << " in " << parts << " parts";
    }
    for (const int servers : {1, 2}) {
      TestCluster cluster(servers, 1);
      Training growing(2, make,
                       ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = "/job:worker/task:0"}));
      const Status started = growing.Start(cluster.worker_target());
      ASSERT_TRUE(started.ok()) << started;
      for (int step = 0; step < 20; ++step) {
        const Status stepped = growing.Step(step);
        ASSERT_TRUE(stepped.ok()) << stepped;
      }
      EXPECT_EQ(growing.All().value(), expected) << name << " on " << servers << " servers";
    }
  }
}

// Adam moves only the rows with a gradient, unlike the Adam of static variables. With weight decay, only these decay.
TEST(GrowingTableTest, AdamMovesTheRowsWithAGradient) {
  for (const double decay : {0.0, 0.3}) {
    const MakeOptimizer make = [&](Graph&) -> std::shared_ptr<Optimizer> {
      if (decay == 0) return std::make_shared<AdamOptimizer>(0.1, AdamOptions{.beta1 = 0.8, .beta2 = 0.9});
      return std::make_shared<AdamWOptimizer>(decay, 0.1, AdamOptions{.beta1 = 0.8, .beta2 = 0.9, .name = "AdamW"});
    };
    std::vector<double> row(kVocabulary * kDim, 0.25), m(row.size()), v(row.size());
    for (int step = 0; step < 10; ++step) {
      const auto [keys, scale] = Training::Batch(step);
      std::map<int64_t, double> grad;  // by element
      for (size_t i = 0; i < keys.size(); ++i) {
        for (int64_t j = 0; j < kDim; ++j) {
          const double f = scale.data<float>()[i * kDim + static_cast<size_t>(j)];
          grad[keys[i] * kDim + j] += 2 * (row[static_cast<size_t>(keys[i] * kDim + j)] * f - 1) * f;
        }
      }
      const double rate = 0.1 * std::sqrt(1 - std::pow(0.9, step + 1)) / (1 - std::pow(0.8, step + 1));
      for (const auto& [at, g] : grad) {
        const auto i = static_cast<size_t>(at);
        m[i] += (g - m[i]) * 0.2;
        v[i] += (g * g - v[i]) * 0.1;
        row[i] -= rate * (m[i] / (std::sqrt(v[i]) + 1e-8) + decay * row[i]);
      }
    }
    for (const int servers : {0, 2}) {
      TestCluster cluster(std::max(servers, 1), 1);
      Training growing(2, make,
                       servers == 0
                           ? DeviceFunction()
                           : ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = "/job:worker/task:0"}));
      const Status started = growing.Start(servers == 0 ? "" : cluster.worker_target());
      ASSERT_TRUE(started.ok()) << started;
      for (int step = 0; step < 10; ++step) ASSERT_TRUE(growing.Step(step).ok());
      const auto all = growing.All();
      ASSERT_TRUE(all.ok()) << all.status();
      for (size_t i = 0; i < row.size(); ++i) EXPECT_NEAR((*all)[i], row[i], 1e-4) << i << " with decay " << decay;
    }
  }
}

TEST(GrowingTableTest, RowsAppearAtUpdatesOnly) {
  Graph g;
  const EmbeddingVariable table(g, 2, {.name = "ids", .initializer = Constant(3)});
  const auto keys = Placeholder(g, kInt64, {-1});
  const auto rows = nn::EmbeddingLookup(table, keys);
  const auto train = GradientDescentOptimizer(1.0).Minimize(ReduceSum(rows));
  const auto count = table.NumRows();
  const auto init = GlobalVariablesInitializer(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  const Tensor some = Tensor::Vector<int64_t>({-7, std::numeric_limits<int64_t>::min(), -1});
  const auto early = session->Run({rows}, {{keys, some}}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(early)) << early;
  ASSERT_TRUE(session->Run({init}).ok());
  const auto before = session->Run({rows, count}, {{keys, some}});
  ASSERT_TRUE(before.ok()) << before.status();
  EXPECT_EQ((*before)[0].data<float>()[0], 3);
  EXPECT_EQ((*before)[1].scalar<int64_t>(), 0);
  ASSERT_TRUE(session->Run({train}, {{keys, some}}).ok());
  const auto after = session->Run({rows, count}, {{keys, some}});
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ((*after)[0].data<float>()[5], 2);
  EXPECT_EQ((*after)[1].scalar<int64_t>(), 3);
}

// Each lookup penalizes the rows of its distinct keys, also in parts.
TEST(GrowingTableTest, RegularizersSeeTheRowsOfTheBatch) {
  Graph g;
  const EmbeddingVariable table(g, 2,
                                {.name = "ids",
                                 .initializer = Constant(2),
                                 .partitioner = FixedSizePartitioner(2),
                                 .regularizer = L2Regularizer(0.5)});
  const auto rows = nn::EmbeddingLookup(table, Const(g, Tensor::Vector<int64_t>({7, 4, 7})), {.max_norm = 1.0});
  const auto losses = layers::RegularizationLosses(g);
  ASSERT_EQ(losses.size(), 1u) << g.status();
  EXPECT_THAT(losses[0].op().name(), HasSubstr("ids/Regularizer/"));
  const auto train = GradientDescentOptimizer(0.5).Minimize(losses[0]);
  const auto unclipped = nn::EmbeddingLookup(table, Const(g, Tensor::Vector<int64_t>({7, 8})));
  const auto init = GlobalVariablesInitializer(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({init}).ok());
  const auto before = session->Run({losses[0]});
  ASSERT_TRUE(before.ok()) << before.status();
  EXPECT_EQ((*before)[0].scalar<float>(), 0.5f * 4 * 2 * 2);
  ASSERT_TRUE(session->Run({train}).ok());
  const auto after = session->Run({unclipped});
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_THAT(std::vector<float>((*after)[0].data<float>().begin(), (*after)[0].data<float>().end()),
              ElementsAre(1, 1, 2, 2));
}

TEST(GrowingTableTest, SafeLookupsDropMinusOneOnly) {
  Graph g;
  const EmbeddingVariable table(g, 1, {.name = "ids", .initializer = Constant(2)});
  const SparseTensor sparse = {.indices = Const(g, Tensor::Of<int64_t>({4, 2}, {0, 0, 0, 1, 1, 0, 2, 0})),
                               .values = Const(g, Tensor::Vector<int64_t>({-2, -1, -1, 5})),
                               .dense_shape = Const(g, Tensor::Vector<int64_t>({3, 2}))};
  const auto sums = nn::SafeEmbeddingLookupSparse(table, sparse, {.combiner = nn::Combiner::kSum});
  const auto init = GlobalVariablesInitializer(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({init}).ok());
  const auto got = session->Run({sums});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(std::vector<float>((*got)[0].data<float>().begin(), (*got)[0].data<float>().end()), ElementsAre(2, 0, 2));
}

TEST(GrowingTableTest, ACheckpointIsRestoredIntoOtherNumbersOfParts) {
  const std::string folder = std::filesystem::path(testing::TempDir()) / "growing_table_test";
  for (const auto& [name, make] : RulesOfTables()) {
    SCOPED_TRACE(name);
    std::filesystem::remove_all(folder);
    std::vector<float> expected;
    std::string checkpoint;
    {
      Training without(1, make, nullptr);
      const Status started = without.Start("");
      ASSERT_TRUE(started.ok()) << started;
      for (int step = 0; step < 20; ++step) ASSERT_TRUE(without.Step(step).ok());
      expected = without.All().value();
    }
    int from = 0;
    for (const int parts : {1, 2, 3, 1}) {
      Training training(parts, make, nullptr);
      Saver saver(training.g);
      const Status started = training.Start("");
      ASSERT_TRUE(started.ok()) << started;
      if (!checkpoint.empty()) {
        const Status restored = saver.Restore(*training.session, checkpoint);
        ASSERT_TRUE(restored.ok()) << restored;
      }
      for (int step = 0; step < 5; ++step, ++from) ASSERT_TRUE(training.Step(from).ok());
      const auto saved = saver.Save(*training.session, folder + "/model", {.global_step = from});
      ASSERT_TRUE(saved.ok()) << saved.status();
      checkpoint = *saved;
      if (from == 20) {
        EXPECT_EQ(training.All().value(), expected);
      }
    }
    if (name != "Adagrad") continue;
    const auto reader = CheckpointReader::Open(checkpoint).value();
    for (const char* suffix : {"keys", "values", "freqs", "versions", "partition_offset", "keys_filtered",
                               "freqs_filtered", "versions_filtered", "partition_filter_offset"}) {
      EXPECT_TRUE(reader->HasTensor(StrCat("ids/part_0-", suffix))) << suffix;
      EXPECT_TRUE(reader->HasTensor(StrCat("ids/part_0/Adagrad-", suffix))) << suffix;
    }
  }
}

TEST(GrowingTableTest, ServersSaveTheirPartsAndOneProcessRestoresThem) {
  const auto adagrad = RulesOfTables()[1].second;
  const std::string folder = std::filesystem::path(testing::TempDir()) / "growing_table_test_servers";
  std::vector<float> expected;
  std::string checkpoint;
  {
    TestCluster cluster(2, 1);
    Training training(2, adagrad,
                      ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = "/job:worker/task:0"}));
    Saver saver(training.g);
    const Status started = training.Start(cluster.worker_target());
    ASSERT_TRUE(started.ok()) << started;
    for (int step = 0; step < 8; ++step) ASSERT_TRUE(training.Step(step).ok());
    const auto saved = saver.Save(*training.session, folder + "/model");
    ASSERT_TRUE(saved.ok()) << saved.status();
    checkpoint = *saved;
    expected = training.All().value();
  }
  Training alone(3, adagrad, nullptr);
  Saver saver(alone.g);
  ASSERT_TRUE(alone.Start("").ok());
  const Status restored = saver.Restore(*alone.session, checkpoint);
  ASSERT_TRUE(restored.ok()) << restored;
  EXPECT_EQ(alone.All().value(), expected);
}

TEST(GrowingTableTest, AsynchronousReplicasTrainATable) {
  for (const auto& [name, make] : RulesOfTables()) {
    SCOPED_TRACE(name);
    const auto replicas = [&make](Graph& g) {
      return std::make_shared<AsyncReplicasOptimizer>(make(g), AsyncReplicasOptions{});
    };
    Training fixed(0, make, nullptr);
    ASSERT_TRUE(fixed.Start("").ok());
    TestCluster cluster(2, 1);
    Training growing(2, replicas,
                     ReplicaDeviceSetter({.cluster = cluster.spec(), .worker_device = "/job:worker/task:0"}));
    const Status started = growing.Start(cluster.worker_target());
    ASSERT_TRUE(started.ok()) << started;
    for (int step = 0; step < 8; ++step) {
      ASSERT_TRUE(fixed.Step(step).ok());
      const Status stepped = growing.Step(step);
      ASSERT_TRUE(stepped.ok()) << stepped;
    }
    EXPECT_EQ(growing.All().value(), fixed.All().value());
  }
}

TEST(GrowingTableTest, ARestoreNamesTheTableThatACheckpointLacks) {
  const auto descent = RulesOfTables()[0].second;
  const std::string folder = std::filesystem::path(testing::TempDir()) / "growing_table_test_lacks";
  Training fixed(0, descent, nullptr);
  Saver of_step(fixed.g, {.variables = {GetOrCreateGlobalStep(fixed.g)}});
  ASSERT_TRUE(fixed.Start("").ok());
  const auto saved = of_step.Save(*fixed.session, folder + "/model");
  ASSERT_TRUE(saved.ok()) << saved.status();
  Training growing(2, descent, nullptr);
  Saver of_growing(growing.g);
  ASSERT_TRUE(growing.Start("").ok());
  const Status restored = of_growing.Restore(*growing.session, *saved);
  EXPECT_TRUE(absl::IsNotFound(restored)) << restored;
  EXPECT_THAT(std::string(restored.message()), HasSubstr("lacks 1 of 3 variables: ids"));
}

// A table `name` whose rows of the keys 1 and 2 are trained towards lower numbers.
struct TwoRows {
  explicit TwoRows(const EmbeddingVariableOptions& options) : table(g, 2, options) {
    ids = Const(g, Tensor::Vector<int64_t>({1, 2}));
    rows = nn::EmbeddingLookup(table, ids);
    train = AdagradOptimizer(0.1).Minimize(ReduceSum(rows), {.global_step = GetOrCreateGlobalStep(g)});
    saver.emplace(g);
    session = Session::Create(g).value();
    TB_CHECK_OK(session->Run({GlobalVariablesInitializer(g)}).status());
  }
  void Steps(int n) {
    for (int i = 0; i < n; ++i) EXPECT_TRUE(session->Run({train}).ok());
  }
  std::vector<float> Rows() {
    const auto got = session->Run({rows}).value();
    return {got[0].data<float>().begin(), got[0].data<float>().end()};
  }
  Graph g;
  EmbeddingVariable table;
  std::optional<Saver> saver;
  Output ids, rows;
  Operation train;
  std::unique_ptr<Session> session;
};

TEST(GrowingTableTest, EachRestoreGivesATableTheRowsOfAChosenCheckpoint) {
  const TempDir dir;
  TwoRows old({.name = "old", .initializer = Ones()});
  old.Steps(3);
  const std::string chosen = old.saver->Save(*old.session, dir.path() + "/old").value();
  const EmbeddingVariableOptions options = {
      .name = "ids", .initializer = Zeros(), .restore_from = chosen, .restored_name = "old"};
  TwoRows table(options);
  table.Steps(2);
  EXPECT_NE(table.Rows(), old.Rows());
  const std::string saved = table.saver->Save(*table.session, dir.path() + "/ids").value();
  ASSERT_EQ(table.saver->Restore(*table.session, saved), OkStatus());
  EXPECT_EQ(table.Rows(), old.Rows());
  table.Steps(2);  // with slots that begin anew
  const std::vector<float> moved = table.Rows();
  ASSERT_EQ(table.saver->Restore(*table.session, saved), OkStatus());
  table.Steps(2);
  EXPECT_EQ(table.Rows(), moved);
  old.Steps(2);
  EXPECT_NE(table.Rows(), old.Rows());
}

void RestoreFromAStaticVariable(const MakeOptimizer& adagrad) {
  const std::string folder = std::filesystem::path(testing::TempDir()) / "growing_table_test_static";
  Training fixed(0, adagrad, nullptr);
  Saver of_fixed(fixed.g);
  ASSERT_TRUE(fixed.Start("").ok());
  for (int step = 0; step < 10; ++step) ASSERT_TRUE(fixed.Step(step).ok());
  const auto saved = of_fixed.Save(*fixed.session, folder + "/model");
  ASSERT_TRUE(saved.ok()) << saved.status();
  for (int step = 10; step < 20; ++step) ASSERT_TRUE(fixed.Step(step).ok());
  for (const int parts : {1, 3}) {
    Training growing(parts, adagrad, nullptr);
    Saver of_growing(growing.g);
    ASSERT_TRUE(growing.Start("").ok());
    const Status restored = of_growing.Restore(*growing.session, *saved);
    ASSERT_TRUE(restored.ok()) << restored;
    for (int step = 10; step < 20; ++step) ASSERT_TRUE(growing.Step(step).ok());
    EXPECT_EQ(growing.All().value(), fixed.All().value());  // the slots are those of the checkpoint, too
  }
}

TEST(GrowingTableTest, ATableIsRestoredFromAStaticVariable) {
  RestoreFromAStaticVariable(RulesOfTables()[1].second);  // Adagrad
  RestoreFromAStaticVariable(RulesOfTables()[2].second);  // RowwiseAdagrad
}

}  // namespace
}  // namespace tensorbraid
