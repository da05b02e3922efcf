// What the nodes of a step cost.
#ifndef TENSORBRAID_PLANNER_MODEL_NODE_COSTS_H_
#define TENSORBRAID_PLANNER_MODEL_NODE_COSTS_H_

#include <map>
#include <set>
#include <string>
#include <utility>

#include "executor/plan.h"
#include "graph/model/node.h"
#include "planner/model/training_graph.h"
#include "runtime/kernel/cost.h"

namespace tensorbraid::planner {

// The measured times of kernels, or what their cost functions estimate. Used by one thread.
class NodeCosts {
 public:
  // Both must outlive this object.
  NodeCosts(const TrainingGraph& graph, const GraphOptions& options) : graph_(graph), options_(options) {}

  // For a plan with another batch than the measured one: the estimates for the measured batch, in ns by node. Measured
  // times are scaled by the ratio of the two estimates.
  void ScaleFrom(std::map<std::string, double> estimates) { at_measured_batch_ = std::move(estimates); }

  struct Time {
    double ns = 0;  // if each thread has a core
    double threads = 1;
  };
  Time Of(const Plan::PlanNode& p, bool on_worker);

  struct Estimated {
    double ns = 0;
    Cost cost;
    bool lacks_shape = false;
  };
  static Estimated Estimate(const Node& node);

  // Nodes that Of was asked about, and whose cost depends on a shape that is not known.
  const std::set<std::string>& unknown() const { return unknown_; }

 private:
  const TrainingGraph& graph_;
  const GraphOptions& options_;
  std::map<std::string, double> at_measured_batch_;
  std::set<std::string> unknown_;
};

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_MODEL_NODE_COSTS_H_
