#include "cluster/worker/registered_partition.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/threads/thread_pool.h"
#include "executor/passes/pass_test_util.h"
#include "graph/model/graph_impl.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {
namespace {

class RegisteredPartitionTest : public testing::Test {
 protected:
  static std::shared_ptr<const Graph> OneNode() {
    Graph g;
    auto part = Part(g, {}, {Const(g, Tensor::Scalar(1.0f))});
    for (const auto& node : ImplOf(*part).nodes()) node->set_device("/job:localhost/replica:0/task:0/device:CPU:0");
    return part;
  }
  StatusOr<std::shared_ptr<Executor>> Make() {
    ++made_;
    if (!error_.ok()) return error_;
    TF_ASSIGN_OR_RETURN(auto plan, Plan::Create(part_, &resources_, &kernels_, nullptr, nullptr, changing_));
    return std::make_shared<Executor>(std::move(plan), &pool_, &resources_);
  }
  void AddChangingValue() { changing_->Add(OutputOf(ImplOf(*part_).nodes()[0].get(), made_)); }

  ThreadPool pool_{"test", 1};
  ResourceManager resources_;
  KernelCache kernels_;
  const std::shared_ptr<const Graph> part_ = OneNode();
  const std::shared_ptr<ChangingValues> changing_ = std::make_shared<ChangingValues>();
  int made_ = 0;
  Status error_;
  RegisteredPartition partition_{Make().value(), [this] { return Make(); }};
};

TEST_F(RegisteredPartitionTest, ANewPlanIsForLaterSteps) {
  EXPECT_FALSE(partition_.BeginReplanning());
  auto old = partition_.executor();
  AddChangingValue();
  EXPECT_TRUE(partition_.BeginReplanning());
  EXPECT_FALSE(partition_.BeginReplanning());
  EXPECT_EQ(partition_.executor(), old);
  partition_.Replan();
  EXPECT_NE(partition_.executor(), old);
  EXPECT_FALSE(partition_.BeginReplanning());
  EXPECT_EQ(made_, 2);
  const auto count = [&] {
    std::vector<std::shared_ptr<Executor>> all;
    partition_.AppendExecutors(&all);
    return all.size();
  };
  EXPECT_EQ(count(), 2u);
  old = nullptr;
  EXPECT_EQ(count(), 1u);
  AddChangingValue();
  EXPECT_TRUE(partition_.BeginReplanning());
}

TEST_F(RegisteredPartitionTest, WithoutANewPlanTheOldOneStays) {
  const auto old = partition_.executor();
  AddChangingValue();
  error_ = Unimplemented("no");
  EXPECT_TRUE(partition_.BeginReplanning());
  partition_.Replan();
  EXPECT_EQ(partition_.executor(), old);
  EXPECT_FALSE(partition_.BeginReplanning());
  EXPECT_EQ(made_, 2);
}

}  // namespace
}  // namespace tensorbraid
