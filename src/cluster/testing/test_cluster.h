// A cluster in one process, for tests.
#ifndef TENSORBRAID_CLUSTER_TESTING_TEST_CLUSTER_H_
#define TENSORBRAID_CLUSTER_TESTING_TEST_CLUSTER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/task.h"
#include "core/strings.h"
#include "transport/inproc/inproc_transport.h"

namespace tensorbraid {

// `num_ps` parameter servers and `num_workers` workers that communicate over one in-process network. Sessions reach
// them by target(). A task can be stopped and started again.
class TestCluster {
 public:
  TestCluster(int num_ps, int num_workers, TaskOptions options = {}) : options_(std::move(options)) {
    std::map<std::string, std::vector<std::string>> jobs;
    for (int i = 0; i < num_ps; ++i) jobs["ps"].push_back(StrCat("localhost:", 1000 + i));
    for (int i = 0; i < num_workers; ++i) jobs["worker"].push_back(StrCat("localhost:", 2000 + i));
    spec_ = ClusterSpec(jobs);
    for (int i = 0; i < num_ps; ++i) Start("ps", i);
    for (int i = 0; i < num_workers; ++i) Start("worker", i);
  }
  ~TestCluster() {
    for (auto& [target, task] : tasks_) WithdrawTask(target);
  }

  // Starts a task. If it has run before, it gets a new incarnation.
  void Start(const std::string& job, int index) {
    TaskOptions options = options_;
    options.job = job;
    options.index = index;
    tasks_.erase(target(job, index));
    auto task = Task::Create(spec_, options, NewInprocTransport(network_)).value();
    TB_CHECK_OK(task->Start(*spec_.task_address(job, index)).status());
    PublishTask(target(job, index), task);
    tasks_[target(job, index)] = std::move(task);
  }
  void Stop(const std::string& job, int index, const Status& why = OkStatus()) {
    tasks_.at(target(job, index))->Stop(why);
    tasks_.erase(target(job, index));
  }
  std::string target(const std::string& job, int index) const {
    return StrCat("inproc://", reinterpret_cast<uintptr_t>(this), "/", job, "/", index);
  }
  std::string worker_target(int index = 0) const { return target("worker", index); }
  Task& task(const std::string& job, int index) { return *tasks_.at(target(job, index)); }
  const ClusterSpec& spec() const { return spec_; }

 private:
  TaskOptions options_;
  ClusterSpec spec_;
  std::shared_ptr<InprocNetwork> network_ = std::make_shared<InprocNetwork>();
  std::map<std::string, std::shared_ptr<Task>> tasks_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_TESTING_TEST_CLUSTER_H_
