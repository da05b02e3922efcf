// Tests that a task that is stopped while it saves a checkpoint waits for the end of the save.
#include <gtest/gtest.h>

#include <atomic>
#include <string_view>
#include <thread>

#include "cluster/testing/test_cluster.h"
#include "core/testing/faulty_files.h"
#include "core/threads/thread.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// Files whose blocked write goes on when the thread that has called RepairWhenThisThreadWaits waits for a thread pool.
// Counts the saves in progress.
class SlowFiles final : public FaultyFiles {
 public:
  void RepairWhenThisThreadWaits() { waiting_ = std::this_thread::get_id(); }
  int saves() const { return saves_; }

  void Wait(std::condition_variable& cv, std::unique_lock<std::mutex>& lock, MonotonicClock::time_point deadline,
            std::source_location where) override {
    if (std::this_thread::get_id() == waiting_.load() &&
        std::string_view(where.file_name()).ends_with("thread_pool.cc")) {
      Repair();
    }
    FaultyFiles::Wait(cv, lock, deadline, where);
  }
  std::unique_ptr<Thread::Handle> StartThread(const std::string& name, std::function<void()> body) override {
    if (name != "tb-save") return FaultyFiles::StartThread(name, std::move(body));
    ++saves_;
    return FaultyFiles::StartThread(name, [this, body = std::move(body)] {
      body();
      --saves_;
    });
  }

 private:
  std::atomic<std::thread::id> waiting_;
  std::atomic<int> saves_ = 0;
};

TEST(SaveAtEndTest, StoppingATaskWaitsForItsSave) {
  SlowFiles files;
  const ScopedEnv env(&files);
  TestCluster cluster(1, 1);
  Graph g;
  {
    auto device = g.Device("/job:ps/task:0");
    const Variable v(g, {3}, Zeros(), {.name = "v"});
  }
  Saver saver(g, {.sharded = true});
  const Operation init = GlobalVariablesInitializer(g);
  auto session = Session::Create(g, {.target = cluster.worker_target()}).value();
  ASSERT_TRUE(session->Run({init}).ok());

  files.FailAt(FaultyFiles::Fault::kBlocked, 1);
  Status saved;
  Thread saving("saving", [&] { saved = saver.Save(*session, "/model").status(); });
  files.WaitUntilFired();
  EXPECT_EQ(files.saves(), 1);
  files.RepairWhenThisThreadWaits();
  cluster.Stop("ps", 0);
  EXPECT_EQ(files.saves(), 0) << "the parameter server was destroyed while it saved";
  files.Repair();
  saving.Join();
  EXPECT_TRUE(absl::IsUnavailable(saved)) << saved;
}

}  // namespace
}  // namespace tensorbraid
