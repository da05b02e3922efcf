#include "planner/model/placed_step.h"

#include <algorithm>
#include <set>
#include <vector>

#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "core/values/tensor_bytes.h"
#include "executor/optimize.h"
#include "graph/format/graph.pb.h"
#include "graph/format/tensor_proto.h"
#include "graph/functions/expand_functions.h"
#include "graph/model/fed_variables.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/subgraph.h"
#include "io/file.h"
#include "partition/partition.h"
#include "placement/placer.h"

namespace tensorbraid::planner {
namespace {

const char* const kVariableOps[] = {"VarHandleOp", "KvVarHandleOp", "VariableV2", "Variable", "AutoReloadVariable"};
const char* const kServerOps[] = {"VarHandleOp",        "KvVarHandleOp",    "VariableV2",        "Variable",
                                  "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2"};

template <size_t n>
bool IsOneOf(const char* const (&types)[n], const std::string& type) {
  return std::find(std::begin(types), std::end(types), type) != std::end(types);
}

// "x" for "x:0".
std::string OpOf(const std::string& tensor) { return tensor.substr(0, tensor.rfind(':')); }

// The shape that the user, the measurement or the batch gives for a tensor that is fed.
Shape ShapeOfFeed(const TrainingGraph::Feed& feed, const GraphOptions& options) {
  for (const std::string& name : {feed.tensor, OpOf(feed.tensor)}) {
    const auto given = options.shapes.find(name);
    if (given != options.shapes.end()) return given->second;
  }
  if (options.batch <= 0 || feed.shape.rank() < 1) return feed.shape;
  std::vector<int64_t> dims;
  for (int i = 0; i < feed.shape.rank(); ++i) dims.push_back(i == 0 ? options.batch : feed.shape.dim(i));
  return Shape(dims);
}

// Replaces the nodes of fed tensors by placeholders of the right shape, so that the import infers all other shapes.
StatusOr<std::string> WithShapesOfFeeds(const TrainingGraph& graph, const GraphOptions& options) {
  proto::GraphDef def;
  if (!def.ParseFromString(graph.graph_def)) return InvalidArgument("the graph is not a GraphDef");
  std::map<std::string, Shape> shapes;
  for (const auto& feed : graph.feeds) {
    if (feed.tensor.ends_with(":0")) shapes[OpOf(feed.tensor)] = ShapeOfFeed(feed, options);
  }
  for (auto& node : *def.mutable_node()) {
    const auto shape = shapes.find(node.name());
    if (shape == shapes.end() || !node.op().starts_with("Placeholder")) continue;
    auto* attr = (*node.mutable_attr())["shape"].mutable_shape();
    attr->Clear();
    ToProto(shape->second, attr);
  }
  return def.SerializeAsString();
}

// Gives each node the device that it requests in the cluster of the plan.
class Devices {
 public:
  Devices(const Graph& graph, const GraphOptions& options) : graph_(graph), options_(options) {}

  void Assign() {
    PlaceVariablesOnServers();
    const auto& nodes = ImplOf(graph_).nodes();
    std::vector<bool> on_server(nodes.size(), false);
    for (const auto& node : nodes) {
      if (server_of_.contains(node->id())) continue;
      auto asked = DeviceName::Parse(node->device());
      on_server[node->id()] = (asked.ok() && asked->job == "ps") || IsOneOf(kServerOps, node->type());
      if (on_server[node->id()]) continue;
      DeviceName device = asked.ok() ? *asked : DeviceName{};
      device.job = "worker";
      device.task = 0;
      node->set_device(device.ToString());
    }
    FollowVariables(on_server);
  }

 private:
  void PlaceVariablesOnServers() {
    std::vector<const Node*> variables;
    std::vector<double> bytes;
    for (const auto& node : ImplOf(graph_).nodes()) {
      if (!IsOneOf(kVariableOps, node->type())) continue;
      const auto asked = DeviceName::Parse(node->device());
      if (asked.ok() && asked->job.has_value() && asked->job != "ps") continue;  // a variable of the worker's own
      if (!node->colocated_with().empty() && node->colocated_with() != std::vector<std::string>{node->name()}) continue;
      variables.push_back(node.get());
      const AttrValue* shape = node->FindAttr("shape");
      const AttrValue* dtype = node->FindAttr("dtype");
      const bool known = shape != nullptr && dtype != nullptr && shape->get<Shape>() && dtype->get<DType>();
      const int64_t size = known ? TensorBytes(*shape->get<Shape>(), *dtype->get<DType>()) : 0;
      bytes.push_back(static_cast<double>(std::max<int64_t>(size, 0)));
    }
    const int servers = options_.placement == Placement::kEven ? 1 : options_.servers;
    const std::vector<int> place = planner::PlaceVariables(bytes, options_.placement, servers);
    for (size_t i = 0; i < variables.size(); ++i) {
      server_of_[variables[i]->id()] = place[i];
      ImplOf(graph_).nodes()[variables[i]->id()]->set_device(StrCat("/job:ps/task:", place[i]));
    }
  }

  // The server of a node that has no variable as an input is that of the node's first consumer on a server, or else of
  // its first input there. The placer moves the users of a variable to the variable.
  void FollowVariables(const std::vector<bool>& on_server) {
    const auto& nodes = ImplOf(graph_).nodes();
    const auto server_of_inputs = [&](const Node& node) {
      for (const Output& in : node.inputs()) {
        const auto found = server_of_.find(NodeOf(in)->id());
        if (found != server_of_.end()) return found->second;
      }
      return -1;
    };
    for (const auto& node : nodes) {
      const int server = on_server[node->id()] ? server_of_inputs(*node) : -1;
      if (server >= 0) server_of_[node->id()] = server;
    }
    std::vector<int> of_consumer(nodes.size(), -1);
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      const Node& node = **it;
      if (on_server[node.id()] && !server_of_.contains(node.id())) {
        server_of_[node.id()] = std::max(0, of_consumer[node.id()]);
      }
      const auto own = server_of_.find(node.id());
      if (own == server_of_.end()) continue;
      for (const Output& in : node.inputs()) of_consumer[NodeOf(in)->id()] = own->second;
    }
    for (const auto& node : nodes) {
      if (on_server[node->id()]) node->set_device(StrCat("/job:ps/task:", server_of_.at(node->id())));
    }
  }

  const Graph& graph_;
  const GraphOptions& options_;
  std::map<int, int> server_of_;  // by node id
};

// The operations that look like the end of a training step: they follow an update by an optimizer, have no outputs, and
// no other operation of this kind follows them.
std::string Candidates(const Graph& graph) {
  const auto& nodes = ImplOf(graph).nodes();
  std::vector<bool> trains(nodes.size(), false), ends(nodes.size(), false);
  for (const auto& node : nodes) {
    std::vector<const Node*> before(node->control_inputs().begin(), node->control_inputs().end());
    for (const Output& in : node->inputs()) before.push_back(NodeOf(in));
    bool after =
        node->type().find("Apply") != std::string::npos || node->type().find("Accumulator") != std::string::npos;
    for (const Node* from : before) after = after || trains[from->id()];
    trains[node->id()] = after;
    ends[node->id()] = after && (node->num_outputs() == 0 || node->type().starts_with("Assign"));
    if (!ends[node->id()]) continue;
    for (const Node* from : before) ends[from->id()] = false;
  }
  std::vector<std::string> names;
  for (const auto& node : nodes) {
    if (ends[node->id()] && names.size() < 8) names.push_back(node->name());
  }
  return names.empty() ? "none, as no operation updates a variable by a gradient" : StrJoin(names, ", ");
}

}  // namespace

int64_t BatchOf(const TrainingGraph& graph) {
  for (const auto& feed : graph.feeds) {
    if (feed.shape.rank() >= 1) return std::max<int64_t>(0, feed.shape.dim(0));
  }
  return 0;
}

StatusOr<TrainingGraph> ReadTrainingGraph(const std::string& path, const std::string& train_op) {
  TF_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  Graph g;
  if (const Status binary = g.ImportGraphDef(bytes); !binary.ok()) {
    const Status text = g.ImportGraphDefText(bytes);
    proto::GraphDef def;
    // Of the two errors, returns the one about the form that the file has.
    if (!text.ok()) return Annotate(def.ParseFromString(bytes) ? binary : text, StrCat("'", path, "'"));
  }
  TrainingGraph graph;
  TF_ASSIGN_OR_RETURN(graph.graph_def, g.ToGraphDef());
  const Node* target = train_op.empty() ? nullptr : ImplOf(g).Find(train_op);
  if (target == nullptr) {
    return InvalidArgument(train_op.empty() ? "the operation that trains is not given"
                                            : StrCat("'", path, "' has no operation '", train_op, "'"),
                           "; name it with --train_op; candidates: ", Candidates(g));
  }
  graph.targets = {train_op};
  std::vector<bool> needed(ImplOf(g).nodes().size(), false);
  std::vector<const Node*> todo = {target};
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    if (needed[node->id()]) continue;
    needed[node->id()] = true;
    for (const Output& in : node->inputs()) todo.push_back(NodeOf(in));
    for (const Node* c : node->control_inputs()) todo.push_back(c);
  }
  for (const auto& node : ImplOf(g).nodes()) {
    if (!needed[node->id()] || (node->type() != "Placeholder" && node->type() != "PlaceholderV2")) continue;
    graph.feeds.push_back({.tensor = StrCat(node->name(), ":0"), .shape = node->output_shape(0)});
  }
  return graph;
}

namespace {

// The nodes that the step needs, with the shapes that follow from those of the feeds.
StatusOr<std::unique_ptr<Graph>> NodesOfStep(const TrainingGraph& graph, const GraphOptions& options) {
  TF_ASSIGN_OR_RETURN(const std::string def, WithShapesOfFeeds(graph, options));
  Graph whole;
  TF_RETURN_IF_ERROR(whole.ImportGraphDef(def));
  std::vector<Output> feeds, fetches;
  std::vector<Operation> targets;
  for (const auto& feed : graph.feeds) {
    TF_ASSIGN_OR_RETURN(feeds.emplace_back(), whole.FindOutput(feed.tensor));
  }
  for (const std::string& fetch : graph.fetches) {
    TF_ASSIGN_OR_RETURN(fetches.emplace_back(), whole.FindOutput(fetch));
  }
  for (const std::string& target : graph.targets) {
    TF_ASSIGN_OR_RETURN(targets.emplace_back(), whole.FindOperation(target));
  }
  TF_ASSIGN_OR_RETURN(auto step, ExtractSubgraph(whole, feeds, fetches, targets, {}, FetchedVariables::kRead));
  TF_ASSIGN_OR_RETURN(auto expanded, ExpandFunctions(*step));
  if (expanded != nullptr) step = std::move(expanded);
  TF_ASSIGN_OR_RETURN(auto with_values, ReplaceFedVariables(*step));
  if (with_values != nullptr) step = std::move(with_values);
  return step;
}

}  // namespace

StatusOr<std::unique_ptr<Graph>> StepOnAccelerators(const TrainingGraph& graph, const GraphOptions& options,
                                                    const std::string& device_type) {
  TF_ASSIGN_OR_RETURN(auto step, NodesOfStep(graph, options));
  const std::string task = FullTaskName("localhost", 0);
  std::set<int> accelerators = {0};
  for (const auto& node : ImplOf(*step).nodes()) {
    const auto asked = DeviceName::Parse(node->device());
    const bool on_host = node->type() == "_Arg" || node->type() == "_Retval" ||
                         (asked.ok() && (asked->job == "ps" || asked->type == "CPU"));
    const int number = on_host || !asked.ok() ? 0 : asked->id.value_or(0);
    if (!on_host) accelerators.insert(number);
    node->set_device(StrCat(task, "/device:", on_host ? "CPU" : device_type, ":", number));
  }
  PlacerOptions placer = {.devices = {}, .allow_soft_placement = true};
  const auto add = [&](const std::string& type, int number) {
    placer.devices.push_back(*DeviceName::Parse(StrCat(task, "/device:", type, ":", number)));
  };
  for (const int number : accelerators) add(device_type, number);
  add("CPU", 0);
  TF_RETURN_IF_ERROR(PlaceNodes(step.get(), placer));
  TF_RETURN_IF_ERROR(Optimize(step.get()));
  return step;
}

StatusOr<std::map<std::string, std::unique_ptr<Graph>>> PlacedStep(const TrainingGraph& graph,
                                                                   const GraphOptions& options) {
  TF_ASSIGN_OR_RETURN(auto step, NodesOfStep(graph, options));
  for (const auto& node : ImplOf(*step).nodes()) {
    if (node->type().find("ConditionalAccumulator") == std::string::npos) continue;
    return InvalidArgument("the graph trains synchronously: it has the accumulator '", node->name(),
                           "'; give the graph of the asynchronous training (without --issync), and plan with "
                           "--mode=sync");
  }
  Devices(*step, options).Assign();
  PlacerOptions placer = {.devices = {}, .allow_soft_placement = true};
  const auto add = [&](std::string_view job, int task) {
    placer.devices.push_back(*DeviceName::Parse(StrCat(FullTaskName(job, task), "/device:CPU:0")));
  };
  add("worker", 0);
  const int servers = options.placement == Placement::kEven ? 1 : options.servers;
  for (int s = 0; s < servers; ++s) add("ps", s);
  TF_RETURN_IF_ERROR(PlaceNodes(step.get(), placer));
  TF_RETURN_IF_ERROR(Optimize(step.get()));
  return PartitionByTask(*step, {{"ps", options.wire}});
}

}  // namespace tensorbraid::planner
