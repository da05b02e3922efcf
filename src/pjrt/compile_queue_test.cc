#include "pjrt/compile_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;

using Order = CompileQueue::Order;

TEST(CompilesInMemoryTest, IsBoundByThreadsAndByMemory) {
  EXPECT_EQ(CompilesInMemory(8, 100 * kMemoryOfCompile), 8);
  EXPECT_EQ(CompilesInMemory(8, 3 * kMemoryOfCompile + 1), 3);
  EXPECT_EQ(CompilesInMemory(8, kMemoryOfCompile / 2), 1);
  EXPECT_EQ(CompilesInMemory(1, 100 * kMemoryOfCompile), 1);
}

// Pieces of work that end when the test lets them, and the order in which they have begun.
class CompileQueueTest : public testing::Test {
 protected:
  // Work that ends when the promise is set.
  std::function<void()> Work(int name, std::promise<void>& end) {
    return [this, name, ended = end.get_future().share()] {
      {
        MutexLock lock(mu_);
        begun_.push_back(name);
        changed_.NotifyAll();
      }
      ended.wait();
    };
  }
  // Waits until this many have begun. Returns all that have.
  std::vector<int> WhenBegun(size_t number) {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [&]() TB_REQUIRES(mu_) { return begun_.size() >= number; });
    return begun_;
  }

  Mutex mu_;
  CondVar changed_;
  std::vector<int> begun_ TB_GUARDED_BY(mu_);
  ThreadPool threads_{"compile", 4};
};

TEST_F(CompileQueueTest, NoMoreRunAtATimeThanTheLimitAllows) {
  int limit = 2, calls = 0;
  CompileQueue queue(threads_, [&] {
    ++calls;
    return limit;
  });
  std::vector<std::promise<void>> ends(5);
  for (int i = 0; i < 5; ++i) queue.Add(Order::kNow, Work(i, ends[i]));
  EXPECT_EQ(queue.running(), 2);
  EXPECT_EQ(WhenBegun(2).size(), 2U);
  limit = 4;  // does not count as long as something runs
  ends[0].set_value();
  EXPECT_EQ(WhenBegun(3).back(), 2);
  EXPECT_EQ(queue.running(), 2);
  EXPECT_EQ(calls, 1);
  for (int i = 1; i < 5; ++i) ends[i].set_value();
  WhenBegun(5);
  threads_.Stop();
  EXPECT_EQ(queue.running(), 0);
}

TEST_F(CompileQueueTest, WhatAStepWaitsForGoesFirst) {
  CompileQueue queue(threads_, [] { return 1; });
  std::vector<std::promise<void>> ends(6);
  queue.Add(Order::kLater, Work(0, ends[0]));
  queue.Add(Order::kLater, Work(1, ends[1]));
  const uint64_t wanted = queue.Add(Order::kLater, Work(2, ends[2]));
  queue.Add(Order::kNow, Work(3, ends[3]));
  queue.Add(Order::kLater, Work(4, ends[4]));
  queue.Hurry(wanted);
  queue.Hurry(wanted);
  queue.Add(Order::kNow, Work(5, ends[5]));
  for (auto& end : ends) end.set_value();
  EXPECT_THAT(WhenBegun(6), ElementsAre(0, 3, 2, 5, 1, 4));
  threads_.Stop();
}

TEST_F(CompileQueueTest, TheEndWaitsForWhatRunsAndLetsNoMoreBegin) {
  CompileQueue queue(threads_, [] { return 1; });
  std::promise<void> first, second;
  queue.Add(Order::kNow, Work(0, first));
  queue.Add(Order::kNow, Work(1, second));
  WhenBegun(1);
  auto ended = std::async(std::launch::async, [&] {
    queue.End();
    return queue.running();
  });
  while (!queue.has_ended()) std::this_thread::yield();
  first.set_value();
  EXPECT_EQ(ended.get(), 0);
  EXPECT_THAT(WhenBegun(1), ElementsAre(0));
}

}  // namespace
}  // namespace tensorbraid
