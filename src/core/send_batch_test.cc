#include "core/send_batch.h"

#include <gtest/gtest.h>

#include <memory>

#include "core/env_testutil.h"
#include "core/mutex.h"
#include "core/thread_pool.h"

namespace tensorbraid {
namespace {

using std::chrono::microseconds;

class CountingQueue final : public MessageQueue {
 public:
  void SendQueued(bool) override {
    MutexLock lock(mu_);
    ++times_;
    changed_.NotifyAll();
  }
  int times() {
    MutexLock lock(mu_);
    return times_;
  }
  void WaitForTimes(int times) {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [&]() TB_REQUIRES(mu_) { return times_ >= times; });
  }

 private:
  Mutex mu_;
  CondVar changed_;
  int times_ TB_GUARDED_BY(mu_) = 0;
};

TEST(SendBatchTest, SendsOnceWhenTheOutermostBatchEnds) {
  const auto queue = std::make_shared<CountingQueue>();
  EXPECT_FALSE(SendBatch::Hold(queue.get()));
  {
    const SendBatch outer;
    EXPECT_TRUE(SendBatch::Hold(queue.get()));
    {
      const SendBatch inner(SendBatch::Until::kGathered);
      EXPECT_TRUE(SendBatch::Hold(queue.get()));
      EXPECT_FALSE(SendBatch::Gathers());
    }
    EXPECT_EQ(queue->times(), 0);
  }
  EXPECT_EQ(queue->times(), 1);
  EXPECT_FALSE(SendBatch::Hold(queue.get()));
}

TEST(SendBatchTest, GathersForALimitedTime) {
  ManualClockEnv env;
  const ScopedEnv scoped(&env);
  const auto queue = std::make_shared<CountingQueue>();
  const SendBatch batch(SendBatch::Until::kGathered);
  EXPECT_FALSE(SendBatch::Gathers());
  // The first message after a pause leaves at once.
  ASSERT_TRUE(SendBatch::Hold(queue.get()));
  ASSERT_TRUE(SendBatch::Gathers());
  SendBatch::BeforeKernel({});
  EXPECT_EQ(queue->times(), 1);
  // Those that follow wait for each other.
  for (int i = 0; i < 3; ++i) {
    env.Advance(microseconds(100));
    ASSERT_TRUE(SendBatch::Hold(queue.get()));
    SendBatch::BeforeKernel({});
    EXPECT_EQ(queue->times(), 1);
  }
  env.Advance(SendBatch::kGather - microseconds(299));
  SendBatch::BeforeKernel({});
  EXPECT_EQ(queue->times(), 2);
  EXPECT_FALSE(SendBatch::Gathers());
}

TEST(SendBatchTest, ALongKernelIsNotWaitedFor) {
  const auto queue = std::make_shared<CountingQueue>();
  const SendBatch batch(SendBatch::Until::kGathered);
  for (int i = 1; i < 4; ++i) {
    ASSERT_TRUE(SendBatch::Hold(queue.get()));
    SendBatch::BeforeKernel(SendBatch::kGather + microseconds(1));
    EXPECT_EQ(queue->times(), i);
  }
}

TEST(SendBatchTest, AThreadOfAPoolSendsWhenItHasNothingToRun) {
  const auto queue = std::make_shared<CountingQueue>();
  ThreadPool pool("test", 1);
  for (int i = 1; i < 4; ++i) {
    bool held = false;
    pool.Schedule([&] { held = SendBatch::Hold(queue.get()) && queue->times() == i - 1; });
    queue->WaitForTimes(i);
    EXPECT_TRUE(held);
  }
}

}  // namespace
}  // namespace tensorbraid
