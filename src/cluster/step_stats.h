// What was noted of a step that was traced, the way TensorFlow tells it.
#ifndef TENSORBRAID_CLUSTER_STEP_STATS_H_
#define TENSORBRAID_CLUSTER_STEP_STATS_H_

#include <string>
#include <vector>

#include "runtime/step_tracer.h"

namespace tensorbraid {

// A StepStats, in binary form: one DeviceStepStats per device. What came from other tasks is there as "RecvTensor",
// from when it was asked for until it had come. REQUIRES: the records' nodes are still there.
std::string EncodeStepStats(const std::vector<NodeRecord>& records);

// Which parts a RunMetadata is to have.
struct RunMetadataParts {
  bool step_stats = true;
  bool partition_graphs = true;
  bool cost_graph = false;  // what each node of the graphs has given and how long it took
};

// A RunMetadata, in binary form, of what the tasks have said (parts that cannot be read are left out) and of their
// graphs.
std::string EncodeRunMetadata(const std::vector<std::string>& step_stats, const std::vector<std::string>& graphs,
                              RunMetadataParts parts = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_STEP_STATS_H_
