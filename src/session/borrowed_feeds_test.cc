// Feeds on memory of the caller (Tensor::Borrow): used in place while the step runs, copied where they outlive it.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cluster/testing/test_cluster.h"
#include "core/testing/memory_limit.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/control_flow.h"
#include "tensorbraid/ops/data_flow.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/raw_ops/state.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;

constexpr int64_t kSize = 1000;

// The caller's memory: kSize ones until it is overwritten.
struct Memory {
  std::vector<float> values = std::vector<float>(kSize, 1.0f);
  int released = 0;

  Tensor Lend() {
    return Tensor::Borrow(values.data(), kFloat32, {kSize}, [this] { ++released; }).value();
  }
  // What the caller may do after the step.
  void Overwrite() { std::fill(values.begin(), values.end(), 7.0f); }
};

bool AllOnes(const Tensor& tensor) {
  const auto values = tensor.data<float>();
  return values.size() == kSize && std::all_of(values.begin(), values.end(), [](float v) { return v == 1.0f; });
}

TEST(BorrowedFeedsTest, AStepReadsTheMemoryInPlace) {
  constexpr int64_t kMany = int64_t{32} << 20;
  const std::vector<float> values(kMany, 1.0f);
  Graph g;
  auto x = Placeholder(g, kFloat32, {kMany});
  auto sum = ReduceSum(Reshape(Identity(x), {-1}));
  auto session = Session::Create(g).value();
  const MemoryLimit limit(int64_t{16} << 20);  // a copy has 128 MiB
  const auto result = session->Run({sum}, {{x, Tensor::Borrow(values.data(), kFloat32, {kMany}).value()}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ((*result)[0].scalar<float>(), static_cast<float>(kMany));
}

TEST(BorrowedFeedsTest, TheMemoryIsReleasedAtTheEndOfTheStep) {
  Memory memory;
  Graph g;
  auto x = Placeholder(g, kFloat32, {kSize});
  auto doubled = x * 2.0f;
  auto session = Session::Create(g).value();
  EXPECT_EQ(session->Run({doubled}, {{x, memory.Lend()}}).value()[0].data<float>()[0], 2.0f);
  EXPECT_EQ(memory.released, 1);
  EXPECT_EQ(memory.values, std::vector<float>(kSize, 1.0f));  // no kernel has used the memory for its output
}

TEST(BorrowedFeedsTest, WhatOutlivesTheStepIsACopy) {
  Memory memory;
  Graph g;
  auto x = Placeholder(g, kFloat32, {kSize}, "x");
  const Output reference = raw_ops::VariableV2(g, {kSize}, kFloat32);
  const Output assign_reference = raw_ops::Assign(reference, x);
  Variable resource(g, {kSize}, Zeros(), {.name = "resource"});
  FIFOQueue queue(g, {kFloat32});
  auto enqueue = queue.Enqueue({Identity(x)});
  auto dequeued = queue.Dequeue()[0];
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  const auto fetched =
      session->Run({assign_reference, resource.Assign(x), enqueue, x, Identity(x)}, {{x, memory.Lend()}});
  ASSERT_TRUE(fetched.ok()) << fetched.status();
  EXPECT_EQ(memory.released, 1);
  memory.Overwrite();
  EXPECT_TRUE(AllOnes((*fetched)[3]));
  EXPECT_TRUE(AllOnes((*fetched)[4]));
  EXPECT_TRUE(AllOnes(session->Run({reference}).value()[0]));
  EXPECT_TRUE(AllOnes(session->Run({resource}).value()[0]));
  EXPECT_TRUE(AllOnes(session->Run({dequeued}).value()[0]));
}

TEST(BorrowedFeedsTest, LoopsAndListsMayPassThemOn) {
  Memory memory;
  Graph g;
  auto x = Placeholder(g, kFloat32, {kSize}, "x");
  const auto turns = While(
      {Const(g, Tensor::Scalar(0)), x}, [](const std::vector<Output>& v) { return Less(v[0], 3); },
      [](const std::vector<Output>& v) {
        return std::vector<Output>{v[0] + 1, Identity(v[1])};
      });
  auto stacked = MapFn([](const std::vector<Output>& v) { return std::vector<Output>{v[0]}; }, {x});
  auto session = Session::Create(g).value();
  const auto fetched = session->Run({turns[1], stacked[0]}, {{x, memory.Lend()}});
  ASSERT_TRUE(fetched.ok()) << fetched.status();
  memory.Overwrite();
  EXPECT_TRUE(AllOnes((*fetched)[0]));
  EXPECT_TRUE(AllOnes((*fetched)[1]));
  EXPECT_EQ(memory.released, 1);
}

TEST(BorrowedFeedsTest, OtherTasksAndOtherProcessesGetACopy) {
  TestCluster cluster(1, 1);
  Memory memory;
  Graph g;
  auto x = Placeholder(g, kFloat32, {kSize}, "x");
  Output kept;
  Operation assign;
  {
    auto device = g.Device("/job:ps/task:0");
    Variable v(g, {kSize}, Zeros(), {.name = "v"});
    assign = v.Assign(x);
    kept = v.Read();
  }
  auto session = Session::Create(g, {.target = cluster.worker_target()}).value();
  ASSERT_TRUE(session->Run({assign}, {{x, memory.Lend()}}).ok());
  memory.Overwrite();
  EXPECT_TRUE(AllOnes(session->Run({kept}).value()[0]));
}

TEST(BorrowedFeedsTest, BadMemoryIsRefused) {
  const std::vector<float> values(4);
  const char* const odd = reinterpret_cast<const char*>(values.data()) + 1;
  EXPECT_EQ(Tensor::Borrow(odd, kFloat32, {3}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Tensor::Borrow(values.data(), DType::kString, {1}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Tensor::Borrow(values.data(), kFloat32, {-1}).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tensorbraid
