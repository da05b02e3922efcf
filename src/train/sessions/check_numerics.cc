// CheckNumericsHook: finds the first operation of a step whose output is not finite.
#include <algorithm>
#include <map>
#include <set>

#include "core/text/strings.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/node.h"
#include "tensorbraid/train/hooks.h"

namespace tensorbraid {
namespace {

class CheckNumericsHookImpl final : public SessionRunHook {
 public:
  explicit CheckNumericsHookImpl(CheckNumericsOptions options) : options_(std::move(options)) {}

  Status Begin(Graph& graph) override {
    TF_RETURN_IF_ERROR(graph.status());
    TF_ASSIGN_OR_RETURN(const std::vector<bool> inside, InsideControlFlow(graph));
    const auto wanted = [&](const Output& tensor) {
      if (!IsFloating(tensor.dtype()) || inside[NodeOf(tensor)->id()]) return false;
      const auto& chosen = options_.tensors;
      return chosen.empty() || std::find(chosen.begin(), chosen.end(), tensor) != chosen.end();
    };
    for (const Output& tensor : options_.tensors) {
      if (!tensor.valid()) return InvalidArgument("CheckNumericsHook: one of the tensors is not valid");
      if (!wanted(tensor)) {
        return InvalidArgument("CheckNumericsHook: cannot check '", tensor.name(), "' of ", NodeOf(tensor)->Describe(),
                               ": it must be a floating tensor outside loops and conditionals");
      }
    }
    const auto no_device = graph.NoDevice();
    const auto no_control = graph.ControlDependencies(std::vector<Operation>{});
    const auto scope = graph.NameScope("check_numerics");
    // For each node, in order of node id: the checks that must pass before any check of a node that depends on it.
    std::vector<std::vector<Node*>> passed(inside.size());
    for (const Operation& op : graph.operations()) {
      if (NodeOf(op)->id() >= static_cast<int>(inside.size())) break;  // the checks come last
      std::vector<Node*>& before = passed[NodeOf(op)->id()];
      const auto add = [&](const Node* from) {
        const auto& more = passed[from->id()];
        before.insert(before.end(), more.begin(), more.end());
      };
      for (const Output& input : NodeOf(op)->inputs()) add(NodeOf(input));
      for (const Node* control : NodeOf(op)->control_inputs()) add(control);
      std::sort(before.begin(), before.end(), [](const Node* a, const Node* b) { return a->id() < b->id(); });
      before.erase(std::unique(before.begin(), before.end()), before.end());
      std::vector<Node*> own;
      for (int i = 0; i < op.num_outputs(); ++i) {
        if (wanted(op.output(i))) own.push_back(AddCheck(op.output(i), before));
      }
      TF_RETURN_IF_ERROR(graph.status());
      if (own.empty()) continue;
      checks_[NodeOf(op)] = own;
      before = std::move(own);
    }
    return OkStatus();
  }

  SessionRunArgs BeforeRun(SessionRunContext& context) override {
    if (!context.trains()) return {};
    std::vector<const Node*> fetched;
    for (const Fetch& fetch : context.fetches()) {
      if (fetch.name().empty()) {
        if (fetch.output().valid()) fetched.push_back(NodeOf(fetch.output()));
        continue;
      }
      const std::string name = fetch.name().substr(0, fetch.name().find(':'));
      const auto op = context.session().graph().FindOperation(name);
      if (op.ok()) fetched.push_back(NodeOf(*op));  // otherwise the run fails with the error
    }
    if (fetched != fetched_) {
      fetched_ = std::move(fetched);
      run_checks_ = ChecksFor(fetched_);
    }
    return {.fetches = run_checks_};
  }

 private:
  Node* AddCheck(const Output& tensor, const std::vector<Node*>& after) {
    NodeBuilder check(*tensor.graph(), "CheckNumerics");
    check.Input(tensor).ColocateWith(tensor.op());
    check.Attr("message", StrCat("'", tensor.name(), "', made by ", NodeOf(tensor)->Describe(),
                                 ", is not finite, but all checked tensors that it depends on are"));
    for (Node* node : after) check.Control(OperationOf(node));
    return NodeOf(check.Finish());
  }

  // The checks of these nodes and of everything that they depend on.
  std::vector<Fetch> ChecksFor(std::vector<const Node*> open) const {
    std::vector<Fetch> found;
    std::set<const Node*> visited;
    while (!open.empty()) {
      const Node* node = open.back();
      open.pop_back();
      if (!visited.insert(node).second) continue;
      if (const auto own = checks_.find(node); own != checks_.end()) {
        for (Node* check : own->second) found.emplace_back(OperationOf(check));
      }
      for (const Output& input : node->inputs()) open.push_back(NodeOf(input));
      for (const Node* control : node->control_inputs()) open.push_back(control);
    }
    return found;
  }

  const CheckNumericsOptions options_;
  std::map<const Node*, std::vector<Node*>> checks_;  // of each node's outputs
  std::vector<const Node*> fetched_;                  // by the last run that trained
  std::vector<Fetch> run_checks_;                     // for the nodes in fetched_
};

}  // namespace

std::shared_ptr<SessionRunHook> CheckNumericsHook(CheckNumericsOptions options) {
  return std::make_shared<CheckNumericsHookImpl>(std::move(options));
}

}  // namespace tensorbraid
