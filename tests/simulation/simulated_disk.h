// The disk of a simulated cluster: in memory, shared by all processes, with faults.
#ifndef TENSORBRAID_TESTS_SIMULATION_SIMULATED_DISK_H_
#define TENSORBRAID_TESTS_SIMULATION_SIMULATED_DISK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/system/env_testutil.h"
#include "core/testing/faulty_files.h"
#include "core/threads/mutex.h"
#include "simulation/scheduler.h"

namespace tensorbraid {

// The files of a simulation (Scheduler::set_files). Knows which process uses them, so that a process that was killed
// changes nothing any more. Thread-safe.
class SimulatedDisk final : public ForwardingEnv {
 public:
  enum class State {
    kWorks,
    kFails,     // each change fails
    kFull,      // nothing can be written: an append writes half of its bytes, and then fails
    kReadOnly,  // nothing can be changed
  };

  explicit SimulatedDisk(Scheduler& scheduler) : scheduler_(scheduler) {}

  void SetState(State state);
  // Each change takes a random time up to `most`.
  void SetDelay(MonotonicClock::duration most);
  // From now on, all operations of the process fail.
  void EndProcess(ProcessId process);
  // Loses what has not been synced, or a part of it. REQUIRES: all processes that use the disk have ended.
  void LosePower();
  // Calls `event` once, on the thread that makes the `n`-th change from now on, before that change. If the event ends
  // the process of this thread and the change is an append, half of its bytes are written.
  void AtChange(uint64_t n, std::function<void()> event);

  StatusOr<std::unique_ptr<SequentialFile>> OpenSequential(const std::string& path) override;
  StatusOr<std::unique_ptr<RandomAccessFile>> OpenRandomAccess(const std::string& path) override;
  StatusOr<std::unique_ptr<WritableFile>> OpenWritable(const std::string& path, WriteMode mode) override;
  Status RenameFile(const std::string& from, const std::string& to) override;
  Status RemoveFile(const std::string& path) override;
  StatusOr<FileInfo> Stat(const std::string& path) override;
  Status MakeDirectory(const std::string& path) override;
  Status RemoveDirectory(const std::string& path) override;
  Status SyncDirectory(const std::string& path) override;
  StatusOr<std::vector<std::string>> MatchingPaths(const std::string& pattern) override;

 private:
  class Writer;

  // Returns an error if the current process has ended.
  Status CheckAlive(const std::string& path);
  // Called before each change. Returns the error of the change, if it fails. Sets *torn if it should write half of an
  // append.
  Status Change(const std::string& path, bool* torn = nullptr);

  Scheduler& scheduler_;
  FaultyFiles files_;
  Mutex mu_;
  State state_ TB_GUARDED_BY(mu_) = State::kWorks;
  MonotonicClock::duration delay_ TB_GUARDED_BY(mu_){};
  std::set<ProcessId> ended_ TB_GUARDED_BY(mu_);
  // The events of AtChange, each with the number of changes that are left until it is called.
  std::vector<std::pair<uint64_t, std::function<void()>>> at_change_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_SIMULATION_SIMULATED_DISK_H_
