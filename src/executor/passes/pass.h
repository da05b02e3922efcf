// Passes: rewrites of a graph that make it cheaper to run and do not change its results.
//
// A pass changes a placed graph in place, in one sweep. The graph is what one combination of feeds, fetches and targets
// needs. passes.cc has the list of passes, in the order in which they run.
#ifndef TENSORBRAID_EXECUTOR_PASSES_PASS_H_
#define TENSORBRAID_EXECUTOR_PASSES_PASS_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/still_wanted.h"
#include "graph/model/node.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// The information that passes have in addition to the graph. Passes must keep it up to date.
class PassContext {
 public:
  // The targets of `graph` are the nodes that have no consumers now.
  explicit PassContext(const Graph& graph, StillWanted still_wanted = nullptr);

  // Nodes that the step must run even if nothing consumes their outputs.
  const std::vector<Node*>& targets() const { return targets_; }
  void ReplaceTarget(const Node* node, Node* by);
  // The type of the device on which the node runs, such as "CPU".
  const std::string& DeviceType(const Node& node);
  // Call this before long work. Returns OK, or the error with which the pass must end.
  Status CheckWanted() const { return CheckStillWanted(still_wanted_); }

 private:
  const StillWanted still_wanted_;
  std::vector<Node*> targets_;
  std::map<std::string, std::string, std::less<>> device_types_;  // keyed by device name
};

struct Pass {
  std::string_view name;  // users write it to skip the pass (optimize.h)
  // On entry, every node of `graph` is consumed or a target, except nodes that an earlier pass has left without a
  // consumer. Ids rise along every edge except back edges. Both must hold when the pass returns. An error means that
  // the graph must not be used.
  Status (*run)(Graph* graph, PassContext& context);
};

// All passes, in the order in which they run.
std::span<const Pass> Passes();

// Collects replacements of nodes during a sweep in the order of ids, and applies them.
//
//   Replacements r(graph, context);
//   for (Node* node : r.nodes()) {
//     r.Update(node);                          // its inputs are now the replacements of earlier nodes
//     if (...) r.Replace(node, {other});
//   }
//   return r.Finish();
class Replacements {
 public:
  Replacements(Graph* graph, PassContext& context);
  // The nodes that the graph had at construction.
  const std::vector<Node*>& nodes() const { return nodes_; }
  // Redirects the inputs and control inputs of a node to the replacements of the nodes that have been replaced.
  void Update(Node* node) const;
  // Replaces output i of `node` by outputs[i]. Nodes that wait for `node` then wait for the node of outputs[0], which
  // also becomes a target if `node` is one. Finish removes `node`. REQUIRES: `outputs` is not empty.
  void Replace(Node* node, std::vector<Output> outputs);
  // Replaces `node` by `same`, which has the same outputs, in the same way.
  void Replace(Node* node, Node* same);
  // Redirects back edges and targets, and removes the replaced nodes.
  Status Finish();

 private:
  struct Replacement {
    Node* node = nullptr;  // null: not replaced
    std::vector<Output> outputs;
  };
  // Null if the node is not replaced.
  const Replacement* Find(const Node& node) const {
    const auto id = static_cast<size_t>(node.id());
    return id < by_.size() && by_[id].node != nullptr ? &by_[id] : nullptr;
  }

  Graph* const graph_;
  PassContext& context_;
  std::vector<Node*> nodes_;
  std::vector<Replacement> by_;  // indexed by id
  bool any_ = false;
};

// Whether the node may be folded, merged with an equal one, or dropped: its op is pure, it is no control flow op, and
// none of its inputs and outputs is a reference or a resource.
bool IsPure(const Node& node);
// For each node, indexed by id: whether it may be dead or run in a loop, because it is a control flow op or depends on
// one.
std::vector<bool> ConditionalNodes(const Graph& graph);

// The passes. The file that defines a pass describes it.
Status FoldKnownShapes(Graph* graph, PassContext& context);
Status RemoveIdentities(Graph* graph, PassContext& context);
Status FoldConstants(Graph* graph, PassContext& context);
Status MergeCommonSubexpressions(Graph* graph, PassContext& context);
Status FuseBiases(Graph* graph, PassContext& context);
Status FuseReluGradients(Graph* graph, PassContext& context);
Status FuseBatchNorms(Graph* graph, PassContext& context);
Status SumProducts(Graph* graph, PassContext& context);
Status RemoveReferenceIdentities(Graph* graph, PassContext& context);
Status SaveVariables(Graph* graph, PassContext& context);
Status Prune(Graph* graph, PassContext& context);
Status MarkUnusedOutputs(Graph* graph, PassContext& context);
Status MarkClusters(Graph* graph, PassContext& context);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_PASSES_PASS_H_
