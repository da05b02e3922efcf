#include "partition/partition.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "core/values/repeated_tensor.h"
#include "core/values/tensor_bytes.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/references.h"
#include "kernels/cpu/wire/codec.h"
#include "partition/joined_sends.h"
#include "partition/loop_drivers.h"
#include "partition/passage.h"

namespace tensorbraid {
namespace {

class GraphPartitioner {
 public:
  GraphPartitioner(const Graph& graph, const JobWireTypes& jobs, Feeding feeding)
      : graph_(graph), jobs_(jobs), feeding_(feeding) {}

  StatusOr<GraphParts> Run() {
    const auto& nodes = ImplOf(graph_).nodes();
    copies_.assign(nodes.size(), nullptr);
    for (const auto& node : nodes) {
      TF_ASSIGN_OR_RETURN(const DeviceName device, DeviceName::Parse(node->device()));
      tasks_.push_back(device.TaskString());
      devices_.push_back(node->device());
    }
    TF_ASSIGN_OR_RETURN(frames_, AssignFrames(graph_));
    MarkConditional();
    MoveToMerges();
    TF_ASSIGN_OR_RETURN(wire_edges_, WireEdges::Find(graph_, tasks_, jobs_));
    const ReferenceTensors references(
        graph_, [this](const Node& node, int i) { return Task(node.inputs()[i]) == tasks_[node.id()]; });
    ReferenceReads reads(graph_, references);
    if (feeding_ == Feeding::kAtOnce) {
      TF_ASSIGN_OR_RETURN(JoinedEdges edges, JoinedEdges::Find(graph_, tasks_, conditional_, references, wire_edges_));
      joined_ = JoinedSends(std::move(edges));
    }
    for (const std::string& task : tasks_) {
      auto& part = parts_[task];
      if (part == nullptr) part = std::make_unique<Graph>();
    }
    for (const auto& node : nodes) {
      const std::string& task = tasks_[node->id()];
      std::vector<Output> inputs;
      std::vector<int> missing;  // inputs along back edges, set at the end
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        const Output& in = node->inputs()[i];
        if (Task(in) == task) {
          if (copies_[NodeOf(in)->id()] == nullptr) missing.push_back(static_cast<int>(i));
          inputs.push_back(OutputOf(copies_[NodeOf(in)->id()], in.index()));
          continue;
        }
        if (BaseType(node->input_type(static_cast<int>(i))) == DType::kResource) {
          return Internal("the resource '", in.name(), "' cannot be sent to another task for ", node->Describe());
        }
        const int number = static_cast<int>(i);
        Edge edge{.tensor = in, .wire = wire_edges_.At(*node, number)};
        if (references.Contains(in)) edge.after = reads.After(*node, number);
        edge.conditional = conditional_[edge.after.empty() ? NodeOf(in)->id() : node->id()];
        TF_ASSIGN_OR_RETURN(Node * recv, Transfer(edge, task, devices_[node->id()]));
        inputs.push_back(OutputOf(recv, 0));
      }
      std::vector<Node*> controls;
      for (Node* c : node->control_inputs()) {
        if (tasks_[c->id()] == task) {
          controls.push_back(copies_[c->id()]);
        } else {
          TF_ASSIGN_OR_RETURN(Node * recv, TransferControl(*c, task, devices_[node->id()]));
          controls.push_back(recv);
        }
      }
      TF_ASSIGN_OR_RETURN(copies_[node->id()],
                          ImplOf(*parts_[task]).CopyNode(*node, std::move(inputs), std::move(controls)));
      copies_[node->id()]->set_device(devices_[node->id()]);
      for (int i : missing) back_edges_.Add(copies_[node->id()], i, node->inputs()[i]);
    }
    TF_RETURN_IF_ERROR(
        back_edges_.Close([this](const Output& o) { return OutputOf(copies_[NodeOf(o)->id()], o.index()); }));
    TF_RETURN_IF_ERROR(DriveLoops());
    TF_RETURN_IF_ERROR(joined_.Finish(parts_));
    return std::move(parts_);
  }

 private:
  // Marks the nodes whose outputs may be dead: control flow nodes and all nodes after them.
  void MarkConditional() {
    for (const auto& node : ImplOf(graph_).nodes()) {
      bool conditional = FlowKindOf(*node) != FlowKind::kNone;
      for (size_t i = 0; i < node->inputs().size() && !conditional; ++i) {
        conditional = conditional_[NodeOf(node->inputs()[i])->id()];
      }
      for (const Node* c : node->control_inputs()) conditional = conditional || conditional_[c->id()];
      conditional_.push_back(conditional);
    }
  }

  // Moves the Enter and NextIteration nodes that feed a Merge to the Merge's task. They have outputs in some iterations
  // only, and a _Recv cannot know in which.
  void MoveToMerges() {
    for (const auto& node : ImplOf(graph_).nodes()) {
      if (FlowKindOf(*node) != FlowKind::kMerge) continue;
      for (const Output& in : node->inputs()) {
        if (!IsInSomeIterations(*NodeOf(in)) || Task(in) == tasks_[node->id()]) continue;
        tasks_[NodeOf(in)->id()] = tasks_[node->id()];
        devices_[NodeOf(in)->id()] = devices_[node->id()];
      }
    }
  }
  static bool IsInSomeIterations(const Node& node) {
    const FlowKind kind = FlowKindOf(node);
    return kind == FlowKind::kNextIteration || (kind == FlowKind::kEnter && !node.attr<bool>("is_constant"));
  }

  // Returns the node on which a _Recv in `task` for an output of `from` must depend, so that it runs once in each
  // iteration of its loop. Null outside of loops.
  StatusOr<Node*> DriverFor(const Node& from, const std::string& task, const std::string& device) {
    if (IsInSomeIterations(from)) {
      return InvalidArgument(from.Describe(), " in ", tasks_[from.id()], " cannot be used in ", task,
                             ": its output exists in some iterations only, so only a Merge can use it");
    }
    return drivers_.BeginOn(parts_.at(task).get(), task, device, frames_, frames_.out_frame_of[from.id()]);
  }

  // Creates a driver (loop_drivers.h) for each part that has nodes of a loop but no Merge with a back edge. Such nodes
  // depend only on loop invariants but must run in each iteration all the same. A loop without a LoopCond has one
  // iteration and needs no driver.
  Status BeginWithoutBackEdges(const std::vector<Node*>& conditions) {
    std::set<std::pair<int, std::string>> with_back_edge;
    for (const auto& node : ImplOf(graph_).nodes()) {
      if (FlowKindOf(*node) != FlowKind::kMerge || !HasBackEdge(*node)) continue;
      with_back_edge.emplace(frames_.frame_of[node->id()], tasks_[node->id()]);
    }
    for (const auto& node : ImplOf(graph_).nodes()) {
      const int id = node->id(), frame = frames_.frame_of[id];
      if (frame == 0 || conditions[frame] == nullptr || with_back_edge.contains({frame, tasks_[id]})) continue;
      TF_RETURN_IF_ERROR(
          drivers_.BeginOn(parts_.at(tasks_[id]).get(), tasks_[id], devices_[id], frames_, frame).status());
    }
    return OkStatus();
  }
  static bool HasBackEdge(const Node& merge) {
    return std::any_of(merge.inputs().begin(), merge.inputs().end(),
                       [](const Output& in) { return FlowKindOf(*NodeOf(in)) == FlowKind::kNextIteration; });
  }

  // Completes every driver with its loop's condition, which may have to be received from another task.
  Status DriveLoops() {
    std::vector<Node*> conditions(frames_.frames.size(), nullptr);
    for (const auto& node : ImplOf(graph_).nodes()) {
      if (FlowKindOf(*node) != FlowKind::kLoopCond) continue;
      Node*& condition = conditions[frames_.frame_of[node->id()]];
      if (condition != nullptr) {
        return InvalidArgument(node->Describe(), " and ", condition->Describe(),
                               " are in the same loop, but a loop across tasks can have only one LoopCond");
      }
      condition = node.get();
    }
    TF_RETURN_IF_ERROR(BeginWithoutBackEdges(conditions));
    // `drivers_` may grow in this loop: to receive the condition of a nested loop, a part may need a driver of the
    // outer loop that it did not need before.
    for (size_t i = 0; i < drivers_.size(); ++i) {
      const LoopDriver driver = drivers_[i];
      Node* const condition = conditions[driver.frame];
      if (condition == nullptr) {
        return InvalidArgument("loop '", frames_.frames[driver.frame].name, "' crosses tasks but has no LoopCond");
      }
      Output local = OutputOf(copies_[condition->id()], 0);
      if (tasks_[condition->id()] != driver.task) {
        const Edge edge{.tensor = OutputOf(condition, 0), .conditional = conditional_[condition->id()]};
        TF_ASSIGN_OR_RETURN(Node * recv, Transfer(edge, driver.task, driver.device));
        local = OutputOf(recv, 0);
      }
      TF_RETURN_IF_ERROR(drivers_.Close(parts_.at(driver.task).get(), driver, local));
    }
    return OkStatus();
  }

  const std::string& Task(const Output& o) const { return tasks_[NodeOf(o)->id()]; }

  // A tensor that a task needs from another one.
  struct Edge {
    Output tensor;
    const WireEdge* wire = nullptr;  // null: the tensor travels as it is
    // If the tensor is a reference: the nodes after which its value is read. (Any other tensor is sent as soon as it
    // exists.)
    std::vector<Node*> after = {};
    bool conditional = false;  // whether what arrives may be dead
  };

  // Whether the node is a large constant that repeats one value, so that its definition is much smaller than its value.
  static bool IsCompactConstant(const Node& node) {
    return node.type() == "Const" && node.control_inputs().empty() &&
           RepeatedElement(node.attr<Tensor>("value")) != nullptr;
  }

  // Returns the node in `task` that has the tensor: the _Recv, the _WireDecode after it, or a copy of a constant that
  // is cheaper to make there. Adds the nodes that do not exist yet. Consumers whose reads of a reference wait for
  // different nodes get a transfer each.
  StatusOr<Node*> Transfer(const Edge& edge, const std::string& task, const std::string& device) {
    const Node& from = *NodeOf(edge.tensor);
    const Wire wire = edge.wire == nullptr ? Wire::kFloat32 : edge.wire->wire;
    const std::string residual = edge.wire == nullptr ? "" : edge.wire->residual;
    const auto [it, added] =
        recvs_.try_emplace({from.id(), edge.tensor.index(), task, wire, residual, edge.after}, nullptr);
    if (!added) return it->second;
    const Output local = OutputOf(copies_[from.id()], edge.tensor.index());
    TF_ASSIGN_OR_RETURN(const std::vector<Node*> controls, ControlsIn(tasks_[from.id()], devices_[from.id()], edge));
    if (edge.wire == nullptr && IsCompactConstant(from)) {
      TF_ASSIGN_OR_RETURN(it->second, ImplOf(*parts_[task]).CopyNode(from, {}, {}));
      it->second->set_device(device);
    } else if (edge.wire == nullptr) {
      const int group = joined_.GroupOf(edge.tensor, task);
      TF_ASSIGN_OR_RETURN(it->second, group < 0 ? AddPair(from, local, controls, edge.conditional, task, device)
                                                : joined_.Add(parts_, group, local, &next_edge_));
    } else {
      TF_ASSIGN_OR_RETURN(it->second, AddEncodedPair(from, local, controls, edge, task, device));
    }
    return it->second;
  }

  // The nodes of a part that stand for `edge.after` there: the nodes themselves, or the arrival of their signals.
  StatusOr<std::vector<Node*>> ControlsIn(const std::string& task, const std::string& device, const Edge& edge) {
    std::vector<Node*> controls;
    for (Node* node : edge.after) {
      if (tasks_[node->id()] == task) {
        controls.push_back(copies_[node->id()]);
      } else {
        TF_ASSIGN_OR_RETURN(Node * recv, TransferControl(*node, task, device));
        controls.push_back(recv);
      }
    }
    return controls;
  }

  StatusOr<Node*> AddEncodedPair(const Node& from, const Output& tensor, const std::vector<Node*>& controls,
                                 const Edge& edge, const std::string& task, const std::string& device) {
    const int64_t number = next_edge_;  // of the _Send and _Recv
    const std::string& from_task = tasks_[from.id()];
    TF_ASSIGN_OR_RETURN(
        Node * encoded,
        ImplOf(*parts_[from_task])
            .AddNode({.name = StrCat("_wire_encode_", number),
                      .op = "_WireEncode",
                      .inputs = {tensor},
                      .controls = controls,
                      .attrs = {{"wire", std::string(WireName(edge.wire->wire))}, {"residual", edge.wire->residual}},
                      .device = FirstCpuOf(from_task)}));
    const int group = joined_.GroupOf(edge.tensor, task);
    TF_ASSIGN_OR_RETURN(Node * recv, group < 0
                                         ? AddPair(from, OutputOf(encoded, 0), {}, edge.conditional, task, device,
                                                   cpu::WireBytes(edge.wire->wire, tensor.shape()), tensor.index())
                                         : joined_.Add(parts_, group, OutputOf(encoded, 0), &next_edge_));
    return ImplOf(*parts_[task])
        .AddNode({.name = StrCat("_wire_decode_", number),
                  .op = "_WireDecode",
                  .inputs = {OutputOf(recv, 0)},
                  .controls = {},
                  .attrs = {{"shape", tensor.shape()}},
                  .device = FirstCpuOf(task)});
  }

  StatusOr<Node*> TransferControl(const Node& from, const std::string& task, const std::string& device) {
    const auto [it, added] = recvs_.try_emplace({from.id(), -1, task, Wire::kFloat32, "", {}}, nullptr);
    if (!added) return it->second;
    Graph& part = *parts_[tasks_[from.id()]];
    TF_ASSIGN_OR_RETURN(Node * signal, ImplOf(part).AddNode({.name = StrCat("_signal_", next_edge_),
                                                             .op = "Const",
                                                             .inputs = {},
                                                             .controls = {copies_[from.id()]},
                                                             .attrs = {{"dtype", kBool}, {"value", Tensor(kBool, {0})}},
                                                             .device = devices_[from.id()]}));
    TF_ASSIGN_OR_RETURN(it->second, AddPair(from, OutputOf(signal, 0), {}, conditional_[from.id()], task, device));
    return it->second;
  }

  // Adds a _Send and a _Recv for `tensor`, which is in the part of `from`. It is an output of the copy of `from`, or
  // the signal of a control edge from `from`, or an encoded output of `from`. For an encoded output, `encoded_output`
  // is its number, and `encoded_bytes` its size; otherwise both are -1. The _Send waits for `controls`. If
  // `conditional`, what arrives may be dead.
  StatusOr<Node*> AddPair(const Node& from, Output tensor, std::vector<Node*> controls, bool conditional,
                          const std::string& to_task, const std::string& to_device, int64_t encoded_bytes = -1,
                          int encoded_output = -1) {
    const std::string& from_task = tasks_[from.id()];
    TF_ASSIGN_OR_RETURN(Node * driver, DriverFor(from, to_task, to_device));
    std::vector<Node*> drivers;
    if (driver != nullptr) drivers.push_back(driver);
    const int64_t edge = next_edge_++;
    const int64_t bytes = encoded_output >= 0       ? encoded_bytes
                          : IsPlain(tensor.dtype()) ? TensorBytes(tensor.shape(), tensor.dtype())
                                                    : -1;  // not known
    // The name that traces show.
    std::string name = NodeOf(tensor)->name().starts_with("_signal_")
                           ? StrCat("^", from.name())
                           : StrCat(from.name(), ":", encoded_output >= 0 ? encoded_output : tensor.index());
    const Passage passage{.edge = edge, .from = from_task, .to = to_task, .bytes = bytes};
    TF_RETURN_IF_ERROR(AddSend(parts_, passage, tensor, std::move(controls), devices_[from.id()]));
    return AddRecv(parts_, passage, tensor.dtype(), tensor.shape(), conditional, name, std::move(drivers), to_device);
  }

  const Graph& graph_;
  const JobWireTypes& jobs_;
  const Feeding feeding_;
  WireEdges wire_edges_;
  JoinedSends joined_;
  FrameAssignment frames_;
  std::vector<std::string> tasks_;    // indexed by node id
  std::vector<std::string> devices_;  // indexed by node id
  std::vector<bool> conditional_;     // indexed by node id
  std::vector<Node*> copies_;         // indexed by node id
  BackEdges back_edges_;
  LoopDrivers drivers_;
  GraphParts parts_;
  // Keyed by node, output (-1: the control edge), receiving task, wire type with the name of the residual, and the
  // nodes after which a reference is read.
  std::map<std::tuple<int, int, std::string, Wire, std::string, std::vector<Node*>>, Node*> recvs_;
  int64_t next_edge_ = 0;
};

}  // namespace

StatusOr<std::map<std::string, std::unique_ptr<Graph>>> PartitionByTask(const Graph& graph, const JobWireTypes& jobs,
                                                                        Feeding feeding) {
  return GraphPartitioner(graph, jobs, feeding).Run();
}

}  // namespace tensorbraid
