// What the nodes of a step have cost, the way TensorFlow tells it.
#ifndef TENSORBRAID_CLUSTER_COST_GRAPH_H_
#define TENSORBRAID_CLUSTER_COST_GRAPH_H_

#include <string>
#include <vector>

namespace tensorbraid {

namespace proto {
class CostGraphDef;
class StepStats;
}  // namespace proto

// The nodes of all partitions (a GraphDef each; what cannot be read is left out), with what each has given and how long
// it took in a step that was traced. A node of a loop has the time of all its iterations.
void FillCostGraph(const proto::StepStats& stats, const std::vector<std::string>& partitions, proto::CostGraphDef* out);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_COST_GRAPH_H_
