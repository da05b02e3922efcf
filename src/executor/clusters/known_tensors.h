// What is known of programs when they are made, in memory of the device.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_KNOWN_TENSORS_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_KNOWN_TENSORS_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/threads/mutex.h"
#include "executor/clusters/program_source.h"
#include "pjrt/device.h"

namespace tensorbraid {

// Enqueues a copy of a tensor in host memory, and returns its place on the device. Calls `done` when it is copied.
StatusOr<Tensor> ToDevice(const Tensor& tensor, pjrt::PjrtDevice& device, std::function<void(const Status&)> done);

// The tensors of one program. They are copied once, for all runs.
struct KnownTensors {
  std::vector<Tensor> constants;  // those of the text
  std::vector<Tensor> results;    // by result; not valid: the program computes it
  // A copy has failed, so the tensors must be made again.
  std::atomic<bool> copy_failed{false};
};

// The known tensors of the programs of a cluster. Programs share constants that are the same tensor. Thread-safe.
class KnownTensorsOfCluster {
 public:
  explicit KnownTensorsOfCluster(pjrt::PjrtDevice& device) : device_(device) {}

  // Null if nothing is known. Does not block for the copies.
  StatusOr<std::shared_ptr<const KnownTensors>> Of(const std::shared_ptr<const Executable>& executable);
  void Clear();

 private:
  // Not valid if no program has it.
  Tensor FindConstant(const Tensor& constant) const TB_REQUIRES(mu_);

  pjrt::PjrtDevice& device_;
  Mutex mu_;
  std::map<std::shared_ptr<const Executable>, std::shared_ptr<KnownTensors>> known_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_KNOWN_TENSORS_H_
