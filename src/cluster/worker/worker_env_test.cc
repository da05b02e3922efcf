#include "cluster/worker/worker_env.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>

#include "core/threads/mutex.h"

namespace tensorbraid {
namespace {

// Reports are made by closures of the pool, which use the timer and the pool while the task may be stopping.
TEST(WorkerEnvTest, ClosuresOfThePoolMayUseTheTimerAndThePoolWhileTheThreadsEnd) {
  auto env = WorkerEnv::Create({.device_count = {{"CPU", 1}}, .num_threads = 1}).value();
  Mutex mu;
  CondVar changed;
  bool stopping = false;
  std::atomic<bool> ran{false};
  const auto dropped = std::make_shared<int>(0);
  env->pool().OnStop([&] {
    MutexLock lock(mu);
    stopping = true;
    changed.NotifyAll();
  });
  env->pool().ScheduleBlocking([&] {
    {
      MutexLock lock(mu);
      changed.Wait(mu, [&] { return stopping; });
    }
    EXPECT_NE(env->timer()->RunAfter(std::chrono::milliseconds(0), [dropped] { FAIL() << "the timer has stopped"; }),
              0);
    env->pool().Schedule([&] { ran = true; });
  });
  env->StopThreads();
  EXPECT_TRUE(ran);
  EXPECT_EQ(dropped.use_count(), 1) << "the timer keeps a closure that it will never run";
  env->StopThreads();
}

}  // namespace
}  // namespace tensorbraid
