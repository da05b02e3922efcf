#include "graph/model/subgraph.h"

#include <algorithm>
#include <map>

#include "core/text/op_type_name.h"
#include "core/text/strings.h"
#include "graph/control_flow/control_flow.h"
#include "graph/functions/function.h"
#include "graph/model/connect.h"
#include "graph/model/fed_variables.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/node_status.h"
#include "graph/model/references.h"

namespace tensorbraid {
namespace {

class Extractor {
 public:
  Extractor(const Graph& graph, const std::vector<Output>& feeds) : graph_(graph), feeds_(feeds) {}

  // The first `num_read` fetches may be variables that are read (FetchedVariables::kRead).
  StatusOr<std::unique_ptr<Graph>> Run(const std::vector<Output>& fetches, const std::vector<Operation>& targets,
                                       size_t num_read) {
    const auto& nodes = ImplOf(graph_).nodes();
    needed_.assign(nodes.size(), false);
    for (const Output& f : fetches) {
      if (FeedIndex(f) < 0) Mark(NodeOf(f));
    }
    for (const Operation& t : targets) Mark(NodeOf(t));
    AddInitializersOfRestoredIterators();

    copies_.assign(nodes.size(), nullptr);
    args_.assign(feeds_.size(), Output());
    // Ids rise along every edge except back edges, so a node is copied after its inputs.
    for (const auto& node : nodes) {
      if (needed_[node->id()]) TF_RETURN_IF_ERROR(Copy(*node));
    }
    TF_RETURN_IF_ERROR(
        back_edges_.Close([&](const Output& o) { return OutputOf(copies_[NodeOf(o)->id()], o.index()); }));
    for (size_t i = 0; i < fetches.size(); ++i) {
      TF_ASSIGN_OR_RETURN(Output from, MapFetch(fetches[i]));
      std::vector<Node*> updates;
      if (i < num_read && FeedIndex(fetches[i]) < 0) updates = UpdatesOf(fetches[i]);
      if (i < num_read && NodeOf(from)->type() == "KvVarHandleOp") {
        return InvalidArgument("the growing table '", fetches[i].op().name(),
                               "' cannot be fetched as a whole: its keys ",
                               "are not known beforehand; fetch a lookup of some keys (nn::EmbeddingLookup, in Python ",
                               "tf.nn.embedding_lookup)");
      }
      if (i < num_read && NodeOf(from)->type() == "VarHandleOp") {
        TF_ASSIGN_OR_RETURN(from, ReadAfter(updates, from));
        updates.clear();
      }
      TF_RETURN_IF_ERROR(ImplOf(*out_)
                             .AddNode({.name = StrCat("_retval_", i),
                                       .op = "_Retval",
                                       .inputs = {from},
                                       .controls = updates,
                                       .attrs = {{"index", static_cast<int64_t>(i)}},
                                       .device = ""})
                             .status());
    }
    return std::move(out_);
  }

 private:
  // The copies of the nodes that update the variable `fetched`; none if it is no variable. Updates of a resource
  // variable have no outputs, but for one op. Those of a reference take it as a reference.
  std::vector<Node*> UpdatesOf(const Output& fetched) const {
    const bool is_handle = NodeOf(fetched)->type() == "VarHandleOp";
    std::vector<Node*> updates;
    if (!is_handle && !IsRef(NodeOf(fetched)->output_type(fetched.index()))) return updates;
    for (const auto& node : ImplOf(graph_).nodes()) {
      if (!needed_[node->id()]) continue;
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        if (node->inputs()[i] != fetched) continue;
        const int input = static_cast<int>(i);
        const bool is_update = is_handle ? node->num_outputs() == 0 || node->type() == "ResourceCountUpTo"
                                         : IsRef(node->declared_input_type(input)) && !ForwardsInput(*node, input);
        if (!is_update) continue;
        updates.push_back(copies_[node->id()]);
        break;
      }
    }
    return updates;
  }

  // Adds a read of the variable.
  StatusOr<Output> ReadAfter(const std::vector<Node*>& updates, const Output& handle) {
    const Node* const variable = NodeOf(handle);
    TF_ASSIGN_OR_RETURN(Node * read, ImplOf(*out_).AddNode({.name = StrCat(variable->name(), "/_fetched"),
                                                            .op = "ReadVariableOp",
                                                            .inputs = {handle},
                                                            .controls = updates,
                                                            .attrs = {{"dtype", variable->attr<DType>("dtype")}},
                                                            .device = variable->device()}));
    return OutputOf(read, 0);
  }

  // Returns the first error of a shape rule among the nodes of the step. Attributes that no input can satisfy are thus
  // reported before a missing feed, as in TensorFlow.
  Status CheckShapeRules() const {
    for (const auto& node : ImplOf(graph_).nodes()) {
      if (!needed_[node->id()] || node->op().shape_fn == nullptr) continue;
      std::vector<Shape> shapes(static_cast<size_t>(node->num_outputs()));
      ShapeContext context(*node, &shapes);
      if (const Status shaped = node->op().shape_fn(context); !shaped.ok()) {
        return AtNode(shaped, *node);
      }
    }
    return OkStatus();
  }

  int FeedIndex(const Output& o) const {
    const auto it = std::find(feeds_.begin(), feeds_.end(), o);
    return it == feeds_.end() ? -1 : static_cast<int>(it - feeds_.begin());
  }

  // A fed placeholder cannot run itself, so control edges from it come from the _Arg node instead.
  bool IsFedPlaceholder(Node* node) const {
    return (node->type() == "Placeholder" || node->type() == "PlaceholderV2") && FeedIndex(OutputOf(node, 0)) >= 0;
  }

  void Mark(Node* start) {
    std::vector<Node*> stack = {start};
    while (!stack.empty()) {
      Node* n = stack.back();
      stack.pop_back();
      if (needed_[n->id()]) continue;
      needed_[n->id()] = true;
      for (const Output& in : n->inputs()) {
        if (in.valid() && FeedIndex(in) < 0) stack.push_back(NodeOf(in));
      }
      for (Node* c : n->control_inputs()) {
        if (!IsFedPlaceholder(c)) stack.push_back(c);
      }
    }
  }

  // Adds the MakeIterator of each iterator that a DeserializeIterator restores (see subgraph.h). The inputs of a
  // MakeIterator are the dataset and the iterator; the first input of a DeserializeIterator is the iterator.
  void AddInitializersOfRestoredIterators() {
    const auto& nodes = ImplOf(graph_).nodes();
    std::vector<Node*> restores;
    for (const auto& node : nodes) {
      if (needed_[node->id()] && node->type() == "DeserializeIterator") restores.push_back(node.get());
    }
    for (Node* restore : restores) {
      Node* initializer = nullptr;
      int initializers = 0;
      for (const auto& node : nodes) {
        if (node->type() != "MakeIterator" || node->inputs()[1] != restore->inputs()[0]) continue;
        initializer = node.get();
        ++initializers;
      }
      if (initializers != 1 || initializer->id() > restore->id()) continue;
      const std::vector<bool> before = needed_;
      Mark(initializer);
      const bool lacks_feed = std::any_of(nodes.begin(), nodes.end(), [&](const auto& node) {
        return needed_[node->id()] && node->type() == "Placeholder";
      });
      if (lacks_feed) {
        needed_ = before;
      } else {
        runs_before_[restore] = initializer;
      }
    }
  }

  StatusOr<Output> MapFetch(const Output& o) {
    const int feed = FeedIndex(o);
    if (feed < 0) return OutputOf(copies_[NodeOf(o)->id()], o.index());
    if (!args_[feed].valid()) {
      const TensorSpec spec = FedSpecOf(o);
      TF_ASSIGN_OR_RETURN(
          Node * arg, ImplOf(*out_).AddNode(
                          {.name = StrCat("_arg_", feed),
                           .op = "_Arg",
                           .inputs = {},
                           .controls = {},
                           .attrs = {{"T", spec.dtype}, {"index", static_cast<int64_t>(feed)}, {"shape", spec.shape}},
                           .device = ""}));
      args_[feed] = OutputOf(arg, 0);
    }
    return args_[feed];
  }

  // The tensor that the consumers of `o` get. It is the value that is fetched, but for the handle of a fed variable.
  StatusOr<Output> Map(const Output& o) {
    TF_ASSIGN_OR_RETURN(const Output value, MapFetch(o));
    if (FeedIndex(o) < 0 || NodeOf(o)->type() != "VarHandleOp") return value;
    Output& handle = handles_[NodeOf(o)];
    if (!handle.valid()) {
      TF_ASSIGN_OR_RETURN(handle, AddFedVariable(o, value, out_.get()));
    }
    return handle;
  }

  Status Copy(Node& node) {
    if (const Status finished = CheckLoopFinished(node); !finished.ok()) return finished;
    if (IsExecutorOp(node.type()) && FeedIndex(OutputOf(&node, 0)) < 0) {
      return InvalidArgument(node.Describe(), " has an op that is reserved for the executor");
    }
    if (node.type() == "Placeholder") {
      TF_RETURN_IF_ERROR(CheckShapeRules());
      // Contains the phrase "You must feed a value for placeholder tensor", which programs look for.
      const std::string where = node.location().empty() ? "" : StrCat(" (", node.location(), ")");
      return AboutNode(InvalidArgument("the step reads a placeholder that has no value: You must feed a value for "
                                       "placeholder tensor '",
                                       node.name(), "' with dtype ", OpTypeName(node.output_type(0)), " and shape ",
                                       node.output_shape(0), where),
                       node);
    }
    std::vector<Output> inputs;
    for (const Output& in : node.inputs()) {
      if (IsRef(node.declared_input_type(static_cast<int>(inputs.size()))) && FeedIndex(in) >= 0) {
        return FedReferenceIsNeeded(in, node);
      }
      TF_ASSIGN_OR_RETURN(const Output mapped, Map(in));
      inputs.push_back(mapped);
    }
    std::vector<int> missing;  // back edges, set at the end
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].valid()) missing.push_back(static_cast<int>(i));
    }
    std::vector<Node*> controls;
    for (Node* c : node.control_inputs()) {
      Node* control = copies_[c->id()];
      if (IsFedPlaceholder(c)) {
        TF_ASSIGN_OR_RETURN(const Output fed, Map(OutputOf(c, 0)));
        control = NodeOf(fed);
      }
      controls.push_back(control);
    }
    if (const auto before = runs_before_.find(&node); before != runs_before_.end()) {
      controls.push_back(copies_[before->second->id()]);
    }
    TF_ASSIGN_OR_RETURN(copies_[node.id()], ImplOf(*out_).CopyNode(node, std::move(inputs), std::move(controls)));
    for (int i : missing) back_edges_.Add(copies_[node.id()], i, node.inputs()[i]);
    return OkStatus();
  }

  const Graph& graph_;
  const std::vector<Output>& feeds_;
  std::unique_ptr<Graph> out_ = std::make_unique<Graph>();
  std::vector<bool> needed_;
  // Keyed by DeserializeIterator: the MakeIterator that runs before it.
  std::map<const Node*, const Node*> runs_before_;
  std::vector<Node*> copies_;  // indexed by the original's id
  BackEdges back_edges_;
  std::vector<Output> args_;               // one for each feed
  std::map<const Node*, Output> handles_;  // keyed by VarHandleOp: what stands for it if it is fed
};

}  // namespace

StatusOr<std::unique_ptr<Graph>> ExtractSubgraph(const Graph& graph, const std::vector<Output>& feeds,
                                                 const std::vector<Output>& fetches,
                                                 const std::vector<Operation>& targets,
                                                 const std::vector<std::pair<Output, Output>>& connections,
                                                 FetchedVariables variables) {
  const size_t num_read = variables == FetchedVariables::kRead ? fetches.size() : 0;
  if (connections.empty()) return Extractor(graph, feeds).Run(fetches, targets, num_read);
  std::vector<Output> all_feeds = feeds, all_fetches = fetches;
  for (const auto& [from, to] : connections) {
    if (std::find(all_feeds.begin(), all_feeds.end(), to) != all_feeds.end()) {
      return InvalidArgument("'", to.name(), "' is fed more than once");
    }
    if (from == to) return InvalidArgument("'", to.name(), "' is connected to itself");
    all_feeds.push_back(to);
    all_fetches.push_back(from);
  }
  TF_ASSIGN_OR_RETURN(auto open, Extractor(graph, all_feeds).Run(all_fetches, targets, num_read));
  return ConnectEnds(*open, static_cast<int>(feeds.size()), static_cast<int>(fetches.size()));
}

Status CheckLoopFinished(const Node& node) {
  if (std::ranges::all_of(node.inputs(), &Output::valid)) return OkStatus();
  return FailedPrecondition(node.Describe(), " belongs to a loop that is still being built");
}

}  // namespace tensorbraid
