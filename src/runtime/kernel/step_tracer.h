// Records when the nodes of a step ran.
#ifndef TENSORBRAID_RUNTIME_KERNEL_STEP_TRACER_H_
#define TENSORBRAID_RUNTIME_KERNEL_STEP_TRACER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {

// One run of one node, or work that it has given to its device.
struct NodeRecord {
  struct Out {
    int slot = 0;
    DType dtype = DType::kInvalid;
    Shape shape;
    uint64_t bytes = 0;
    uint64_t address = 0;
  };
  const Node* node = nullptr;  // a node of the plan that ran (executor/plan.h)
  int64_t start_ns = 0;        // since the epoch
  int64_t end_ns = 0;
  uint32_t thread = 0;  // the system's id of the thread on which the run ended
  absl::InlinedVector<Out, 1> outputs;
  // What the device has done for the node: "run of a program of 40 nodes that ends with 'train'". Empty for the node's
  // own run.
  std::string work = {};
};

// Records the node runs of one traced step on one task. Thread-safe.
class StepTracer {
 public:
  // Records beyond this number are dropped, because a loop may run for ever.
  static constexpr size_t kMaxRecords = size_t{1} << 18;

  // Nanoseconds since the epoch.
  static int64_t Now();
  // Records that the node started at `start_ns` and ended now with these outputs.
  void Record(const Node& node, int64_t start_ns, std::span<const Entry> outputs);
  // Records that the device, or its compiler, has done this work for the node from `start_ns` until now.
  void RecordWork(const Node& node, std::string work, int64_t start_ns);
  // Returns and removes all records so far, in the order in which the runs ended.
  std::vector<NodeRecord> TakeRecords();

 private:
  void Add(NodeRecord record);

  Mutex mu_;
  std::vector<NodeRecord> records_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_STEP_TRACER_H_
