// Costs of the nodes of a step, as TensorFlow's CostGraphDef.
#ifndef TENSORBRAID_CLUSTER_TRACE_COST_GRAPH_H_
#define TENSORBRAID_CLUSTER_TRACE_COST_GRAPH_H_

#include <string>
#include <vector>

namespace tensorbraid {

namespace proto {
class CostGraphDef;
class StepStats;
}  // namespace proto

// Appends the nodes of all `partitions` to `out`, with the outputs and the compute time that `stats`, the trace of a
// step, has for them. Each partition is a serialized GraphDef; unreadable ones are skipped. The compute time of a node
// in a loop is the sum over all iterations.
void FillCostGraph(const proto::StepStats& stats, const std::vector<std::string>& partitions, proto::CostGraphDef* out);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_TRACE_COST_GRAPH_H_
