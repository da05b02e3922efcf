#include "graph/model/connect.h"

#include <map>
#include <vector>

#include "core/text/strings.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node_status.h"

namespace tensorbraid {
namespace {

class Connector {
 public:
  Connector(const Graph& graph, int num_feeds, int num_fetches)
      : graph_(graph), num_feeds_(num_feeds), num_fetches_(num_fetches) {}

  StatusOr<std::unique_ptr<Graph>> Run() {
    const auto& nodes = ImplOf(graph_).nodes();
    for (const auto& node : nodes) {
      if (const int k = Connection(*node, "_Retval", num_fetches_); k >= 0) sources_[k] = node->inputs()[0];
    }
    state_.assign(nodes.size(), State::kNew);
    copies_.assign(nodes.size(), nullptr);
    for (const auto& node : nodes) TF_RETURN_IF_ERROR(CopyWithInputs(node.get()));
    TF_RETURN_IF_ERROR(
        back_edges_.Close([this](const Output& o) { return OutputOf(copies_[NodeOf(o)->id()], o.index()); }));
    return std::move(out_);
  }

 private:
  enum class State : uint8_t { kNew, kEntered, kDone };

  // Returns the number of the connection that this node is one end of, or -1.
  static int Connection(const Node& node, std::string_view type, int first) {
    if (node.type() != type) return -1;
    const auto index = node.attr<int64_t>("index");
    return index < first ? -1 : static_cast<int>(index - first);
  }

  // Follows connections from `o` to the output of the original graph that provides its value in the copy.
  StatusOr<Output> Resolve(Output o) {
    for (size_t steps = 0; steps <= sources_.size(); ++steps) {
      const int k = Connection(*NodeOf(o), "_Arg", num_feeds_);
      if (k < 0) return o;
      const auto source = sources_.find(k);
      if (source == sources_.end()) return Internal("connection ", k, " has no source");
      if (BaseType(source->second.dtype()) != BaseType(o.dtype())) {
        return InvalidArgument("'", source->second.name(), "' is ", source->second.dtype(),
                               " and cannot be connected to a tensor of ", o.dtype());
      }
      o = source->second;
    }
    return InvalidArgument("a connection of tensors would close a cycle at '", o.name(), "'");
  }

  // Copies a node after the nodes that it depends on.
  Status CopyWithInputs(Node* last) {
    std::vector<Node*> stack = {last};
    while (!stack.empty()) {
      Node* const node = stack.back();
      State& state = state_[node->id()];
      if (state == State::kDone || Connection(*node, "_Arg", num_feeds_) >= 0 ||
          Connection(*node, "_Retval", num_fetches_) >= 0) {
        stack.pop_back();
        continue;
      }
      const bool entered = state == State::kEntered;
      state = State::kEntered;
      std::vector<Output> inputs;
      std::vector<int> back;
      std::vector<Node*> needs(node->control_inputs().begin(), node->control_inputs().end());
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        TF_ASSIGN_OR_RETURN(const Output from, Resolve(node->inputs()[i]));
        if (IsBackEdge(*node, static_cast<int>(i))) {
          back.push_back(static_cast<int>(i));
          inputs.emplace_back();
        } else {
          needs.push_back(NodeOf(from));
          inputs.push_back(from);
        }
      }
      if (!entered) {
        for (Node* need : needs) {
          if (state_[need->id()] == State::kEntered) {
            return AboutNode(InvalidArgument("a connection of tensors would close a cycle at ", need->Describe()),
                             *need);
          }
          if (state_[need->id()] == State::kNew) stack.push_back(need);
        }
        continue;
      }
      for (Output& in : inputs) {
        if (in.valid()) in = OutputOf(copies_[NodeOf(in)->id()], in.index());
      }
      std::vector<Node*> controls;
      for (const Node* c : node->control_inputs()) controls.push_back(copies_[c->id()]);
      TF_ASSIGN_OR_RETURN(copies_[node->id()], ImplOf(*out_).CopyNode(*node, std::move(inputs), std::move(controls)));
      for (int i : back) back_edges_.Add(copies_[node->id()], i, node->inputs()[i]);
      state = State::kDone;
      stack.pop_back();
    }
    return OkStatus();
  }

  const Graph& graph_;
  const int num_feeds_;
  const int num_fetches_;
  std::unique_ptr<Graph> out_ = std::make_unique<Graph>();
  std::map<int, Output> sources_;  // keyed by connection: the tensor that it connects from
  std::vector<State> state_;       // indexed by the original's id
  std::vector<Node*> copies_;      // indexed by the original's id
  BackEdges back_edges_;
};

}  // namespace

StatusOr<std::unique_ptr<Graph>> ConnectEnds(const Graph& graph, int num_feeds, int num_fetches) {
  return Connector(graph, num_feeds, num_fetches).Run();
}

}  // namespace tensorbraid
