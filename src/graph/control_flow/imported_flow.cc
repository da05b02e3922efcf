#include "graph/control_flow/imported_flow.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/control_flow/control_flow.h"
#include "graph/control_flow/flow_context.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

bool IsLoopEnter(const Node& node) { return FlowKindOf(node) == FlowKind::kEnter; }

// "while" for "while/Enter_1".
std::string ScopeOf(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

// Visits the nodes of a graph in the order of their ids, so that the contexts of a node's inputs are known.
class FlowFinder {
 public:
  explicit FlowFinder(GraphImpl& graph) : graph_(graph) {}

  void Run() {
    for (const auto& node : graph_.nodes()) {
      for (const Output& input : node->inputs()) used_.insert(KeyOf(input));
    }
    for (const auto& node : graph_.nodes()) {
      if (node->flow_context() == nullptr) Visit(node.get());
    }
    for (FlowContext* loop : found_loops_) {
      // A value whose Merge is missing does not pass from one iteration to the next.
      std::erase_if(loop->variables, [](const LoopVariable& v) { return !v.merge.valid() || !v.next.valid(); });
    }
  }

 private:
  // The context of all inputs, which is the innermost. Null also if the inputs are in unrelated branches.
  static FlowContext* ContextOfInputs(const Node& node) {
    FlowContext* innermost = nullptr;
    const auto add = [&](FlowContext* context) {
      if (IsInside(context, innermost)) innermost = context;
      return IsInside(innermost, context);
    };
    for (const Output& input : node.inputs()) {
      if (input.valid() && FlowKindOf(*NodeOf(input)) != FlowKind::kNextIteration && !add(ContextOf(input))) return {};
    }
    for (const Node* control : node.control_inputs()) {
      // A Switch has run if its inputs are alive, whichever branch is taken.
      FlowContext* context = control->flow_context();
      if (context != nullptr && !context->is_loop() && context->gates.contains(control)) context = context->outer;
      if (!add(context)) return {};
    }
    return innermost;
  }

  void Visit(Node* node) {
    FlowContext* const context = ContextOfInputs(*node);
    switch (FlowKindOf(*node)) {
      case FlowKind::kEnter:
        return VisitEnter(node, context);
      case FlowKind::kMerge:
        return VisitMerge(node, context);
      case FlowKind::kSwitch:
        return VisitSwitch(node, context);
      case FlowKind::kExit:
        return VisitExit(node, context);
      case FlowKind::kLoopCond:
        graph_.SetFlowContext(node, context);
        if (FlowContext* const loop = LoopOf(context); loop != nullptr && !loop->condition.valid()) {
          loop->condition = OutputOf(node, 0);
          loop->machinery.insert(node);
        }
        return;
      case FlowKind::kNextIteration:
        graph_.SetFlowContext(node, context);
        if (FlowContext* const loop = LoopOf(context); loop != nullptr) loop->machinery.insert(node);
        return;
      case FlowKind::kNone:
      case FlowKind::kControlTrigger:
        break;
    }
    graph_.SetFlowContext(node, context);
    // The first Identity in a context, of one of its values, is what nodes without inputs wait for.
    if (context != nullptr && context->pivot == nullptr && node->type() == "Identity" && IsFirstValue(*node, context)) {
      context->pivot = node;
    }
  }

  // Whether the node runs whenever the context does: its input is a value of the loop's body, or comes through a gate
  // of the branch.
  static bool IsFirstValue(const Node& node, const FlowContext* context) {
    const Output& input = node.inputs()[0];
    if (!context->is_loop()) return context->gates.contains(NodeOf(input));
    return std::any_of(context->variables.begin(), context->variables.end(),
                       [&](const LoopVariable& v) { return v.body == input; });
  }

  void VisitEnter(Node* node, FlowContext* outer) {
    const auto& frame = node->attr<std::string>("frame_name");
    FlowContext*& loop = loops_[{LoopOf(outer), frame}];
    if (loop == nullptr) {
      loop = graph_.MakeFlowContext();
      found_loops_.push_back(loop);
      loop->kind = FlowContext::Kind::kLoop;
      loop->outer = outer;
      loop->name = ScopeOf(node->name());
      loop->frame = frame;
      loop->parallel_iterations = node->attr<int64_t>("parallel_iterations");
    } else if (IsInside(outer, loop->outer)) {
      loop->outer = outer;
    }
    graph_.SetFlowContext(node, loop);
    loop->machinery.insert(node);
    const Output inside = OutputOf(node, 0);
    if (node->attr<bool>("is_constant")) {
      loop->gates.insert(node);
      loop->captured.emplace(KeyOf(node->inputs()[0]), inside);
    } else {
      loop->variables.push_back(
          {.enter = inside, .merge = {}, .body = {}, .exit = {}, .next = {}, .place = Operation()});
    }
  }

  void VisitMerge(Node* node, FlowContext* context) {
    if (IsLoopEnter(*NodeOf(node->inputs()[0])) && node->inputs().size() == 2 && IsBackEdge(*node, 1)) {
      FlowContext* const loop = NodeOf(node->inputs()[0])->flow_context();
      graph_.SetFlowContext(node, loop);
      if (LoopVariable* const v = Find(loop, &LoopVariable::enter, node->inputs()[0]); v != nullptr) {
        v->merge = OutputOf(node, 0);
        v->next = NodeOf(node->inputs()[1])->inputs()[0];
        loop->machinery.insert(node);
      }
      return;
    }
    // The end of a conditional: the inputs are in branches of which one is taken.
    FlowContext* around = nullptr;
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      const Output& input = node->inputs()[i];
      FlowContext* const branch = input.valid() ? ContextOf(input) : nullptr;
      if (branch == nullptr || branch->is_loop()) return graph_.SetFlowContext(node, context);
      if (i > 0 && branch->outer != around) return graph_.SetFlowContext(node, nullptr);
      around = branch->outer;
    }
    graph_.SetFlowContext(node, around);
  }

  void VisitSwitch(Node* node, FlowContext* context) {
    if (node->op().name == "_SwitchN") return graph_.SetFlowContext(node, context);
    FlowContext* const loop = LoopOf(context);
    if (loop != nullptr && loop->condition == node->inputs()[1]) {
      if (LoopVariable* const v = Find(loop, &LoopVariable::merge, node->inputs()[0]); v != nullptr) {
        graph_.SetFlowContext(node, loop);
        v->body = OutputOf(node, 1);
        loop->machinery.insert(node);
        return;
      }
    }
    FlowContext*& taken = branches_[{context, KeyOf(PredicateOf(node->inputs()[1]))}];
    if (taken == nullptr) {
      taken = graph_.MakeFlowContext();
      FlowContext* const other = graph_.MakeFlowContext();
      taken->other = other;
      other->other = taken;
      for (FlowContext* branch : {taken, other}) {
        branch->kind = FlowContext::Kind::kBranch;
        branch->outer = context;
        branch->predicate = node->inputs()[1];
        branch->side = branch == taken ? 1 : 0;
      }
    }
    for (FlowContext* branch : {taken->other, taken}) {
      if (branch != taken && !used_.contains({node, 0})) continue;
      if (branch == taken && !used_.contains({node, 1}) && node->flow_context() != nullptr) continue;
      graph_.SetFlowContext(node, branch);
      branch->gates.insert(node);
      branch->captured.emplace(KeyOf(node->inputs()[0]), OutputOf(node, branch->side));
    }
  }

  // The tensor that a predicate is a copy of. In TensorFlow's conditionals, some Switches take the predicate itself,
  // and some the Identity "pred_id" of it.
  static Output PredicateOf(Output predicate) {
    while (NodeOf(predicate)->type() == "Identity") {
      const Output& input = NodeOf(predicate)->inputs()[0];
      if (ContextOf(input) != ContextOf(predicate)) break;
      predicate = Output(input);
    }
    return predicate;
  }

  void VisitExit(Node* node, FlowContext* context) {
    FlowContext* const loop = LoopOf(context);
    if (loop == nullptr) return;
    graph_.SetFlowContext(node, loop->outer);
    loop->machinery.insert(node);
    for (LoopVariable& v : loop->variables) {
      if (v.body.valid() && NodeOf(v.body) == NodeOf(node->inputs()[0])) v.exit = OutputOf(node, 0);
    }
  }

  static LoopVariable* Find(FlowContext* loop, Output LoopVariable::*member, const Output& value) {
    const auto it = std::find_if(loop->variables.begin(), loop->variables.end(),
                                 [&](const LoopVariable& v) { return v.*member == value; });
    return it == loop->variables.end() ? nullptr : &*it;
  }

  GraphImpl& graph_;
  std::set<OutputKey> used_;  // the tensors that a node takes as an input
  std::vector<FlowContext*> found_loops_;
  std::map<std::pair<FlowContext*, std::string>, FlowContext*> loops_;   // by the loop around, and the frame
  std::map<std::pair<FlowContext*, OutputKey>, FlowContext*> branches_;  // side 1, by context around and predicate
};

}  // namespace

void FindImportedFlow(Graph& graph) {
  GraphImpl& impl = ImplOf(graph);
  const GraphLock lock(impl);
  if (!impl.has_imported_flow()) return;
  impl.set_has_imported_flow(false);
  FlowFinder(impl).Run();
}

Status CompleteImportedFlow(Graph& graph) {
  const GraphLock lock(graph);
  FindImportedFlow(graph);
  const auto contexts = ImplOf(graph).flow_contexts();  // a copy: completing one may add another
  for (const auto& context : contexts) TF_RETURN_IF_ERROR(CompleteContext(graph, context.get()));
  return OkStatus();
}

}  // namespace tensorbraid
