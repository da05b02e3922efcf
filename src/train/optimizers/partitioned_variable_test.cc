#include "tensorbraid/variables/partitioned_variable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

// The elements are 0, 1, 2, ...
Tensor Counted(const Shape& shape) {
  Tensor t(kFloat32, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) t.mutable_data<float>()[i] = static_cast<float>(i);
  return t;
}

std::unique_ptr<Session> Started(Graph& g) {
  const Operation init = GlobalVariablesInitializer(g);
  EXPECT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  EXPECT_TRUE(session->Run({init}).ok());
  return session;
}

// The numbers come from tf.fixed_size_partitioner and the other partitioners.
TEST(PartitionerTest, PartsAreAsManyAsInTensorFlow) {
  EXPECT_EQ(FixedSizePartitioner(3)({10, 4}, kFloat32), 3);
  EXPECT_EQ(FixedSizePartitioner(30)({10, 4}, kFloat32), 10);
  EXPECT_EQ(VariableAxisSizePartitioner(64)({10, 4}, kFloat32), 3);  // four rows of 16 bytes in each
  EXPECT_EQ(VariableAxisSizePartitioner(63)({10, 4}, kFloat32), 4);
  EXPECT_EQ(VariableAxisSizePartitioner(1)({10, 4}, kFloat32), 10);
  EXPECT_EQ(VariableAxisSizePartitioner(1, {.max_parts = 4})({10, 4}, kFloat32), 4);
  EXPECT_EQ(VariableAxisSizePartitioner(160)({10, 4}, kFloat32), 1);
  EXPECT_EQ(VariableAxisSizePartitioner(32)({10}, kString), 5);  // a string counts as 16 bytes
  EXPECT_EQ(VariableAxisSizePartitioner(100)({10, 0}, kFloat32), 1);
  EXPECT_EQ(MinMaxVariablePartitioner({.max_parts = 16})({1024, 1024}, kFloat32), 16);
  EXPECT_EQ(MinMaxVariablePartitioner({.max_parts = 8})({1024, 1024}, kFloat32), 8);
  EXPECT_EQ(MinMaxVariablePartitioner({.max_parts = 8})({10, 4}, kFloat32), 1);
  EXPECT_EQ(MinMaxVariablePartitioner({.max_parts = 8, .min_part_bytes = 48})({10, 4}, kFloat32), 4);
}

TEST(PartitionedVariableTest, PartsHaveTheRowsInOrder) {
  Graph g;
  const PartitionedVariable v(g, Counted({7, 2}), FixedSizePartitioner(3), {.name = "v"});
  ASSERT_EQ(v.parts().size(), 3u);
  EXPECT_EQ(v.shape(), Shape({7, 2}));
  EXPECT_EQ(v.parts()[0].name(), "v/part_0");
  EXPECT_EQ(v.parts()[0].shape(), Shape({3, 2}));
  EXPECT_EQ(v.parts()[2].shape(), Shape({2, 2}));
  EXPECT_EQ(v.parts()[2].part_of()->first_row, 5);
  const PartitionedVariable again(g, {7, 2}, Ones(), FixedSizePartitioner(2), {.name = "v"});
  EXPECT_EQ(again.parts()[1].name(), "v_1/part_1");
  EXPECT_EQ(g.trainable_variables().size(), 5u);
  const Output whole = v.AsTensor();
  auto session = Started(g);
  EXPECT_EQ(session->Run({whole}).value()[0].ToString(100), Counted({7, 2}).ToString(100));
}

TEST(PartitionedVariableTest, InitialValuesAreThoseOfTheWholeVariable) {
  Graph g;
  const PartitionedVariable identity(g, {5, 3}, IdentityMatrix(2.0), FixedSizePartitioner(3), {.name = "identity"});
  const PartitionedVariable glorot(g, {600, 1}, GlorotUniform(), FixedSizePartitioner(20), {.name = "glorot"});
  const PartitionedVariable constant(g, {7, 2}, Constant(Counted({7, 2})), FixedSizePartitioner(2));
  auto session = Started(g);
  const auto values = session->Run({identity.AsTensor(), glorot.AsTensor(), constant.AsTensor()}).value();
  EXPECT_EQ(values[0].ToString(100),
            Tensor::Of<float>({5, 3}, {2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0}).ToString(100));
  float largest = 0;
  for (const float x : values[1].data<float>()) largest = std::max(largest, std::abs(x));
  EXPECT_LE(largest, std::sqrt(6.0f / 601))
      << "the limit must be that of 600 inputs and 1 output; a part has 30 inputs";
  EXPECT_GT(largest, std::sqrt(6.0f / 601) / 2);
  EXPECT_EQ(values[2].ToString(100), Counted({7, 2}).ToString(100));
}

TEST(PartitionedVariableTest, ErrorsNameTheShapeAndTheNumberOfParts) {
  const auto mistake = [](const Shape& shape, int64_t parts) {
    Graph g;
    const PartitionedVariable v(g, shape, Zeros(), [=](const Shape&, DType) { return parts; }, {.name = "v"});
    EXPECT_FALSE(v.valid());
    EXPECT_TRUE(absl::IsInvalidArgument(g.status())) << g.status();
    return std::string(g.status().message());
  };
  EXPECT_THAT(mistake({3, 2}, 4), HasSubstr("from 1 to 3 for shape [3,2], got 4"));
  EXPECT_THAT(mistake({3, 2}, 0), HasSubstr("PartitionedVariable 'v' (partitioned_variable_test.cc:"));
  EXPECT_THAT(mistake({}, 1), HasSubstr("at least one row, got []"));
  EXPECT_THAT(mistake({0, 2}, 1), HasSubstr("at least one row"));
  EXPECT_THAT(mistake({-1, 2}, 1), HasSubstr("at least one row"));
}

// A model with a table in `parts` parts, or a single variable if `parts` is 0, and a slot for it. `first` is the
// table's first element.
struct PartitionedModel {
  explicit PartitionedModel(int64_t parts, float first = 0) {
    Tensor initial = Counted({7, 2});
    initial.mutable_data<float>()[0] = first;
    if (parts > 0) {
      table = PartitionedVariable(g, initial, FixedSizePartitioner(parts), {.name = "table"});
      whole = table.AsTensor();
    } else {
      single = Variable(g, {7, 2}, Constant(initial), {.name = "table"});
      whole = single.value();
    }
    const Output ids = Const(g, Tensor::Vector<int64_t>({0, 6, 0}));
    const Output rows = parts > 0 ? nn::EmbeddingLookup(table, ids) : nn::EmbeddingLookup(single, ids);
    train = adagrad.Minimize(ReduceSum(Square(rows)));
    if (parts > 0) {
      std::vector<Operand> slots;
      for (const Variable& part : table.parts()) slots.emplace_back(adagrad.GetSlot(part, "accumulator"));
      slot = slots.size() > 1 ? Concat(slots, 0) : slots[0].ToOutput(g);
    } else {
      slot = adagrad.GetSlot(single, "accumulator").value();
    }
  }
  Graph g;
  PartitionedVariable table;
  Variable single;
  AdagradOptimizer adagrad{0.5};
  Operation train;
  Output whole, slot;
};

TEST(PartitionedVariableTest, CheckpointsHoldTheWholeVariableAndRestoreIntoOtherParts) {
  TempDir dir;
  for (const int64_t parts : {0, 1, 3}) {
    PartitionedModel m(parts, 5);
    Saver saver(m.g);
    auto session = Started(m.g);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(session->Run({m.train}).ok());
    const auto path = saver.Save(*session, StrCat(dir.path(), "/model", parts));
    ASSERT_TRUE(path.ok()) << path.status();
    const auto want = session->Run({m.whole, m.slot}).value();
    const auto reader = CheckpointReader::Open(*path).value();
    EXPECT_EQ(reader->tensors().size(), 2u) << parts;
    EXPECT_EQ(reader->GetTensor("table").value().ToString(100), want[0].ToString(100));
    EXPECT_EQ(reader->GetTensor("table/Adagrad").value().ToString(100), want[1].ToString(100));
    for (const int64_t into : {0, 1, 2, 5}) {
      PartitionedModel other(into);
      Saver restorer(other.g);
      auto restored = Started(other.g);
      const Status status = restorer.Restore(*restored, *path);
      ASSERT_TRUE(status.ok()) << status;
      const auto got = restored->Run({other.whole, other.slot}).value();
      EXPECT_EQ(got[0].ToString(100), want[0].ToString(100)) << parts << " parts into " << into;
      EXPECT_EQ(got[1].ToString(100), want[1].ToString(100)) << parts << " parts into " << into;
    }
  }
}

// AdamAsync has two scalars for each part. Restored into more parts, the new ones get the scalars of the first.
TEST(PartitionedVariableTest, ScalarsOfPartsAreRestoredIntoOtherParts) {
  TempDir dir;
  struct Model {
    explicit Model(int64_t parts) {
      Output whole;
      if (parts == 0) {
        all = {Variable(g, {7, 2}, Constant(Counted({7, 2})), {.name = "table"})};
        whole = all[0].value();
      } else {
        const PartitionedVariable table(g, Counted({7, 2}), FixedSizePartitioner(parts), {.name = "table"});
        all = table.parts();
        whole = table.AsTensor();
      }
      train = adam.Minimize(ReduceSum(Square(whole)));
      for (const Variable& part : all) powers.emplace_back(adam.GetSlot(part, "beta1_power").value());
    }
    Graph g;
    std::vector<Variable> all;
    AdamAsyncOptimizer adam{0.5};
    Operation train;
    std::vector<Fetch> powers;
  };
  for (const int64_t parts : {0, 1, 3}) {
    Model m(parts);
    Saver saver(m.g);
    auto session = Started(m.g);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(session->Run({m.train}).ok());
    const auto path = saver.Save(*session, StrCat(dir.path(), "/model", parts));
    ASSERT_TRUE(path.ok()) << path.status();
    for (const int64_t into : {0, 1, 2, 5}) {
      Model other(into);
      const auto coverage = CoverageOf(*path, other.g).value();
      EXPECT_TRUE(coverage.missing.empty()) << parts << " parts into " << into << ": " << coverage.missing[0];
      Saver restorer(other.g, {.variables = coverage.restorable});
      auto restored = Started(other.g);
      const Status status = restorer.Restore(*restored, *path);
      ASSERT_TRUE(status.ok()) << parts << " parts into " << into << ": " << status;
      const auto powers = restored->Run(other.powers).value();
      for (const Tensor& power : powers) EXPECT_NEAR(power.scalar<float>(), 0.9 * 0.9 * 0.9, 1e-6) << into;
    }
  }
}

TEST(PartitionedVariableTest, ACheckpointOfAnotherShapeIsRefused) {
  TempDir dir;
  Graph g;
  const PartitionedVariable v(g, {6, 2}, Ones(), FixedSizePartitioner(2), {.name = "table"});
  Saver saver(g);
  auto session = Started(g);
  const auto path = saver.Save(*session, dir.path() + "/model");
  ASSERT_TRUE(path.ok()) << path.status();
  Graph h;
  const PartitionedVariable larger(h, {7, 2}, Ones(), FixedSizePartitioner(2), {.name = "table"});
  Saver restorer(h);
  auto other = Started(h);
  const Status status = restorer.Restore(*other, *path);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("saved as 'table'"));
}

TEST(PartitionedVariableTest, LookupsAreRightAfterARestoreIntoOtherParts) {
  TempDir dir;
  const auto lookup = [](Graph& g, int64_t parts, const Tensor& initial) {
    const PartitionedVariable table(g, initial, FixedSizePartitioner(parts), {.name = "table"});
    return nn::EmbeddingLookup(table, Const(g, Tensor::Vector<int64_t>({0, 1, 2, 3, 4, 5, 6})));
  };
  Graph g;
  const Output rows = lookup(g, 3, Counted({7, 2}));
  Saver saver(g);
  auto session = Started(g);
  const auto path = saver.Save(*session, dir.path() + "/model");
  ASSERT_TRUE(path.ok()) << path.status();
  const std::string want = session->Run({rows}).value()[0].ToString(100);
  for (const int64_t parts : {1, 2, 5}) {
    Graph h;
    const Output same = lookup(h, parts, Tensor(kFloat32, {7, 2}));
    Saver restorer(h);
    auto other = Started(h);
    ASSERT_TRUE(restorer.Restore(*other, *path).ok());
    EXPECT_EQ(other->Run({same}).value()[0].ToString(100), want) << parts << " parts";
  }
}

TEST(PartitionedVariableTest, ALookupWithKModIsRefusedUnlessThePartsAreGivenAsAList) {
  const auto mistake = [](bool as_list, int64_t parts) {
    Graph g;
    const PartitionedVariable table(g, Counted({7, 2}), FixedSizePartitioner(parts), {.name = "table"});
    const Output ids = Const(g, Tensor::Vector<int64_t>({0}));
    const nn::EmbeddingTable rows = as_list ? nn::EmbeddingTable(table.parts()) : nn::EmbeddingTable(table);
    nn::EmbeddingLookup(rows, ids, {.partition_strategy = nn::PartitionStrategy::kMod});
    return std::string(g.status().message());
  };
  EXPECT_THAT(mistake(/*as_list=*/false, 3), HasSubstr("EmbeddingLookup (partitioned_variable_test.cc:"));
  EXPECT_THAT(mistake(false, 3), HasSubstr("use kDiv"));
  EXPECT_EQ(mistake(false, 1), "");
  EXPECT_EQ(mistake(/*as_list=*/true, 3), "");
}

}  // namespace
}  // namespace tensorbraid
