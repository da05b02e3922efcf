// The trace of a step, as TensorFlow's StepStats and RunMetadata.
#ifndef TENSORBRAID_CLUSTER_TRACE_STEP_STATS_H_
#define TENSORBRAID_CLUSTER_TRACE_STEP_STATS_H_

#include <string>
#include <vector>

#include "runtime/kernel/step_tracer.h"

namespace tensorbraid {

// Returns a serialized StepStats with one DeviceStepStats per device. A tensor from another task is an entry
// "RecvTensor" that lasts from the request until the tensor's arrival. What a device with a stream does, which goes on
// while its nodes have ended, is under DEVICE/stream:all: copies from and to the host, programs from when they were
// enqueued until they ended, and compilations that the step has waited for. REQUIRES: the nodes of the records still
// exist.
std::string EncodeStepStats(const std::vector<NodeRecord>& records);

// Which parts of a RunMetadata to fill in.
struct RunMetadataParts {
  bool step_stats = true;
  bool partition_graphs = true;
  bool cost_graph = false;  // see FillCostGraph
};

// Returns a serialized RunMetadata. `step_stats` has a serialized StepStats of each task (unreadable ones are skipped),
// and `graphs` has a serialized GraphDef of each task.
std::string EncodeRunMetadata(const std::vector<std::string>& step_stats, const std::vector<std::string>& graphs,
                              RunMetadataParts parts = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_TRACE_STEP_STATS_H_
