#include "train/checkpoints/flow_collections.h"

#include "core/text/strings.h"
#include "graph/control_flow/control_flow.h"
#include "graph/control_flow/flow_context.h"
#include "graph/control_flow/imported_flow.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "train/checkpoints/meta_graph.pb.h"

namespace tensorbraid {
namespace {

class FlowWriter {
 public:
  explicit FlowWriter(const GraphImpl& graph) {
    for (const auto& context : graph.flow_contexts()) inner_[context->outer].push_back(context.get());
    for (const auto& node : graph.nodes()) {
      nodes_[TensorFlowContextOf(*node)].push_back(node.get());
    }
  }

  std::map<std::string, std::vector<std::string>> Write() {
    std::map<std::string, std::vector<std::string>> collections;
    for (const FlowContext* context : inner_[nullptr]) {
      if (!IsWhole(*context)) continue;
      if (context->is_loop()) {
        collections["while_context"].push_back(While(*context).SerializeAsString());
      } else {
        collections["cond_context"].push_back(Cond(*context).SerializeAsString());
      }
    }
    return collections;
  }

 private:
  // The context to which TensorFlow counts a node. An Exit belongs to the loop that it leaves, and a Switch of which
  // both outputs are used to the context around its branches.
  static const FlowContext* TensorFlowContextOf(const Node& node) {
    const FlowContext* const context = node.flow_context();
    if (FlowKindOf(node) == FlowKind::kExit) return LoopOf(ContextOf(node.inputs()[0]));
    const bool in_two = context != nullptr && !context->is_loop() && context->other != nullptr &&
                        context->gates.contains(&node) && context->other->gates.contains(&node);
    return in_two ? context->outer : context;
  }

  // Whether the context has all nodes that its description must name.
  static bool IsWhole(const FlowContext& context) {
    if (context.pivot == nullptr) return false;
    if (!context.is_loop()) return true;
    if (!context.condition.valid() || context.variables.empty()) return false;
    for (const LoopVariable& v : context.variables) {
      if (!v.exit.valid() || !v.body.valid()) return false;
    }
    return true;
  }

  // All tensors of the context itself, and the tensors from outside that it uses.
  void AddValues(const FlowContext& context, proto::ValuesDef* values) {
    for (const Node* node : nodes_[&context]) {
      for (int i = 0; i < node->num_outputs(); ++i) values->add_values(OutputOf(const_cast<Node*>(node), i).name());
      if (node->num_outputs() == 0) values->add_values(node->name());
    }
    for (const auto& [outside, inside] : context.captured) {
      const Output tensor = OutputOf(const_cast<Node*>(outside.first), outside.second);
      (*values->mutable_external_values())[tensor.name()] = inside.name();
      values->add_values(tensor.name());
    }
  }

  template <typename Def>
  void AddInner(const FlowContext& context, Def* def) {
    for (const FlowContext* inner : inner_[&context]) {
      if (!IsWhole(*inner)) continue;
      proto::ControlFlowContextDef* const nested = def->add_nested_contexts();
      if (inner->is_loop()) {
        *nested->mutable_while_ctxt() = While(*inner);
      } else {
        *nested->mutable_cond_ctxt() = Cond(*inner);
      }
    }
  }

  proto::CondContextDef Cond(const FlowContext& branch) {
    proto::CondContextDef def;
    def.set_context_name(StrCat(branch.pivot->name(), "_context"));
    def.set_pred_name(branch.predicate.name());
    def.set_pivot_name(OutputOf(branch.pivot, 0).name());
    def.set_branch(branch.side);
    AddValues(branch, def.mutable_values_def());
    AddInner(branch, &def);
    return def;
  }

  proto::WhileContextDef While(const FlowContext& loop) {
    proto::WhileContextDef def;
    def.set_context_name(loop.frame);
    def.set_parallel_iterations(static_cast<int32_t>(loop.parallel_iterations));
    def.set_back_prop(loop.differentiable);
    def.set_pivot_name(loop.condition.name());
    def.set_pivot_for_pred_name(loop.variables[0].merge.name());
    def.set_pivot_for_body_name(OutputOf(loop.pivot, 0).name());
    for (const LoopVariable& v : loop.variables) {
      def.add_loop_exit_names(v.exit.name());
      def.add_loop_enter_names(v.enter.name());
    }
    AddValues(loop, def.mutable_values_def());
    AddInner(loop, &def);
    return def;
  }

  std::map<const FlowContext*, std::vector<FlowContext*>> inner_;  // the contexts directly in a context
  std::map<const FlowContext*, std::vector<const Node*>> nodes_;   // the nodes directly in a context
};

}  // namespace

std::map<std::string, std::vector<std::string>> FlowCollections(const Graph& graph) {
  const GraphLock lock(graph);
  FindImportedFlow(const_cast<Graph&>(graph));  // changes no node
  return FlowWriter(ImplOf(graph)).Write();
}

}  // namespace tensorbraid
