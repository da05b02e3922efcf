// The resources of a process that all its workers share.
#ifndef TENSORBRAID_CLUSTER_WORKER_WORKER_ENV_H_
#define TENSORBRAID_CLUSTER_WORKER_WORKER_ENV_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/system/clock.h"
#include "core/system/file_access.h"
#include "core/system/timer.h"
#include "core/threads/thread_pool.h"
#include "executor/step_watch.h"
#include "runtime/kernel/device.h"
#include "runtime/kernel/resource.h"
#include "transport/messages.h"

namespace tensorbraid {

// A new number for a task, device or cluster; random and never 0.
uint64_t NewIncarnation();

// Owns the devices, the variables that sessions share, and the threads. Thread-safe.
class WorkerEnv {
 public:
  struct Options {
    std::map<std::string, int> device_count = {};  // by type; see DeviceSet::Create
    int num_threads = 0;                           // 0: one per core
    bool has_timer = true;                         // without one, the workers cannot reach other tasks
    // The directories that graphs of clients on other machines may use.
    std::vector<std::string> allow_paths = {};
  };
  static StatusOr<std::unique_ptr<WorkerEnv>> Create(const Options& options);
  ~WorkerEnv();
  WorkerEnv(const WorkerEnv&) = delete;
  WorkerEnv& operator=(const WorkerEnv&) = delete;

  // The file limit for graphs of clients on other machines.
  const FileAccess& files_of_strangers() const { return files_of_strangers_; }
  const DeviceSet& devices() const { return *devices_; }
  // The devices as other tasks see them, in the same order, each with its incarnation.
  const std::vector<DeviceInfo>& device_infos() const { return infos_; }
  ResourceManager& resources() { return resources_; }
  ThreadPool& pool() { return *pool_; }
  Timer* timer() { return timer_.get(); }  // null if the environment has none
  // How long threads have worked on steps that span several tasks.
  WorkTime* work() { return &work_; }
  MonotonicClock::time_point started() const { return started_; }
  // Ends the threads of the timer, of the devices and of the pool, in this order. The timer and the pool may still be
  // used, also while this runs; see Timer::Stop and ThreadPool::Stop for what they do then. Idempotent.
  void StopThreads();

 private:
  explicit WorkerEnv(std::unique_ptr<DeviceSet> devices);

  const std::unique_ptr<const DeviceSet> devices_;
  std::vector<DeviceInfo> infos_;
  FileAccess files_of_strangers_;  // constant after Create
  const MonotonicClock::time_point started_ = MonotonicClock::now();
  WorkTime work_;
  ResourceManager resources_;
  std::unique_ptr<Timer> timer_;
  std::unique_ptr<ThreadPool> pool_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_WORKER_WORKER_ENV_H_
