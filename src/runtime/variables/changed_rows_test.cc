// Tests which rows of a variable a save takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/evaluate.h"
#include "graph/model/node.h"
#include "runtime/variables/variable_resource.h"
#include "tensorbraid/graph/variable.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ChangedRowsTest : public ::testing::Test {
 protected:
  ChangedRowsTest() { Run(variable_.initializer()); }
  void Run(const Operation& op) {
    ASSERT_TRUE(g_.status().ok()) << g_.status();
    const auto run = Evaluate({}, {}, {.targets = {op}, .resources = &resources_, .pool = &pool_});
    ASSERT_TRUE(run.ok()) << run.status();
  }
  Output Constant(const Tensor& value) {
    return NodeBuilder(g_, "Const").Attr("value", value).Attr("dtype", value.dtype()).Output();
  }
  // Adds 1 to each element of these rows.
  void Add(const std::vector<int64_t>& rows) {
    Run(NodeBuilder(g_, "ResourceScatterAdd")
            .Input(variable_.handle())
            .Input(Constant(Tensor::Vector(rows)))
            .Input(Constant(Tensor::Scalar(1.0f)))
            .Attr("dtype", kFloat32)
            .Finish());
  }
  // The numbers of the rows that a save takes; {-1} if it must take the whole value.
  std::vector<int64_t> Taken(uint64_t predecessor, uint64_t save) {
    const auto taken = resource().TakeChangedRows(predecessor, save);
    if (!taken.ok()) {
      ADD_FAILURE() << taken.status();
      return {};
    }
    if (!taken->has_value()) return {-1};
    EXPECT_EQ((*taken)->values.shape(), Shape({static_cast<int64_t>((*taken)->numbers.size()), 2}));
    values_.assign((*taken)->values.data<float>().begin(), (*taken)->values.data<float>().end());
    return (*taken)->numbers;
  }
  VariableResource& resource() { return *resources_.Lookup<VariableResource>("", "v").value(); }

  static constexpr int64_t kRows = 1000;
  Graph g_;
  ResourceManager resources_;
  ThreadPool pool_{"test", 2};
  Variable variable_{g_, {kRows, 2}, Zeros(), {.name = "v"}};
  std::vector<float> values_;  // those that the last save has taken
};

TEST_F(ChangedRowsTest, ASaveTakesTheRowsThatHaveChangedSinceTheOneBefore) {
  Add({5});
  ASSERT_TRUE(resource().RecordRows(0, 1).ok());
  EXPECT_THAT(Taken(1, 2), IsEmpty());
  Add({999, 3, 3});
  Add({500});
  EXPECT_THAT(Taken(2, 3), ElementsAre(3, 500, 999));
  EXPECT_THAT(values_, ElementsAre(2, 2, 1, 1, 1, 1));
  Add({5});
  EXPECT_THAT(Taken(3, 4), ElementsAre(5));
  EXPECT_THAT(values_, ElementsAre(2, 2));
}

TEST_F(ChangedRowsTest, ASaveThatFailedIsTakenAgain) {
  ASSERT_TRUE(resource().RecordRows(0, 1).ok());
  Add({1});
  EXPECT_THAT(Taken(1, 2), ElementsAre(1));
  Add({2});
  EXPECT_THAT(Taken(1, 3), ElementsAre(1, 2)) << "save 2 was not completed";
  Add({4});
  EXPECT_THAT(Taken(3, 4), ElementsAre(4));
  EXPECT_THAT(Taken(7, 8), ElementsAre(-1)) << "no save of that number is known";
  Add({6});
  EXPECT_THAT(Taken(8, 9), ElementsAre(6));
}

TEST_F(ChangedRowsTest, OtherChangesAreSavedAsAWhole) {
  EXPECT_THAT(Taken(1, 2), ElementsAre(-1)) << "nothing was recorded";
  Add({1});
  EXPECT_THAT(Taken(2, 3), ElementsAre(1));
  Run(variable_.Assign(variable_.initial_value()));
  Add({2});
  EXPECT_THAT(Taken(3, 4), ElementsAre(-1));
  Add({3});
  Run(variable_.AssignAdd(variable_.value()));
  EXPECT_THAT(Taken(4, 5), ElementsAre(-1));
  EXPECT_THAT(Taken(5, 6), IsEmpty());
}

TEST_F(ChangedRowsTest, MoreThanHalfOfTheRowsAreSavedAsAWhole) {
  ASSERT_TRUE(resource().RecordRows(0, 1).ok());
  std::vector<int64_t> half;
  for (int64_t i = 0; i < kRows / 2; ++i) half.push_back(2 * i);
  Add(half);
  EXPECT_EQ(Taken(1, 2), half);
  half.push_back(1);
  Add(half);
  EXPECT_THAT(Taken(2, 3), ElementsAre(-1));
  Add({7});
  EXPECT_THAT(Taken(3, 4), ElementsAre(7));
}

}  // namespace
}  // namespace tensorbraid
