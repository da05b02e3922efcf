#include "placement/partition.h"

#include <tuple>
#include <vector>

#include "core/device_name.h"
#include "core/strings.h"
#include "graph/node.h"

namespace tensorbraid {
namespace {

class Partitioner {
 public:
  explicit Partitioner(const Graph& graph) : graph_(graph) {}

  StatusOr<std::map<std::string, std::unique_ptr<Graph>>> Run() {
    const auto& nodes = graph_.impl().nodes();
    copies_.assign(nodes.size(), nullptr);
    for (const auto& node : nodes) {
      TF_ASSIGN_OR_RETURN(const DeviceName device, DeviceName::Parse(node->device()));
      tasks_.push_back(device.TaskString());
      auto& part = parts_[tasks_.back()];
      if (part == nullptr) part = std::make_unique<Graph>();
    }
    for (const auto& node : nodes) {
      const std::string& task = tasks_[node->id()];
      std::vector<Output> inputs;
      for (size_t i = 0; i < node->inputs().size(); ++i) {
        const Output& in = node->inputs()[i];
        if (Task(in) == task) {
          inputs.emplace_back(copies_[in.node()->id()], in.index());
          continue;
        }
        if (BaseType(node->input_type(static_cast<int>(i))) == DType::kResource) {
          return Internal("the resource '", in.name(), "' would leave its task for ", node->Describe());
        }
        TF_ASSIGN_OR_RETURN(Node * recv, Transfer(in, task, *node));
        inputs.emplace_back(recv, 0);
      }
      std::vector<Node*> controls;
      for (Node* c : node->control_inputs()) {
        if (tasks_[c->id()] == task) {
          controls.push_back(copies_[c->id()]);
        } else {
          TF_ASSIGN_OR_RETURN(Node * recv, TransferControl(*c, task, *node));
          controls.push_back(recv);
        }
      }
      TF_ASSIGN_OR_RETURN(copies_[node->id()],
                          parts_[task]->impl().CopyNode(*node, std::move(inputs), std::move(controls)));
    }
    return std::move(parts_);
  }

 private:
  const std::string& Task(const Output& o) const { return tasks_[o.node()->id()]; }

  // The _Recv in `task` that gives the tensor there.
  StatusOr<Node*> Transfer(const Output& tensor, const std::string& task, const Node& consumer) {
    const auto [it, added] = recvs_.try_emplace({tensor.node()->id(), tensor.index(), task}, nullptr);
    if (!added) return it->second;
    const Output local(copies_[tensor.node()->id()], tensor.index());
    TF_ASSIGN_OR_RETURN(it->second, AddPair(local, tensor.node()->device(), Task(tensor), task, consumer.device()));
    return it->second;
  }

  StatusOr<Node*> TransferControl(const Node& from, const std::string& task, const Node& consumer) {
    const auto [it, added] = recvs_.try_emplace({from.id(), -1, task}, nullptr);
    if (!added) return it->second;
    const std::string& from_task = tasks_[from.id()];
    Graph& part = *parts_[from_task];
    TF_ASSIGN_OR_RETURN(Node * signal, part.impl().AddNode({.name = StrCat("_signal_", next_edge_),
                                                            .op = "Const",
                                                            .inputs = {},
                                                            .controls = {copies_[from.id()]},
                                                            .attrs = {{"dtype", kBool}, {"value", Tensor(kBool, {0})}},
                                                            .device = from.device(),
                                                            .loc = {}}));
    TF_ASSIGN_OR_RETURN(it->second, AddPair(Output(signal, 0), from.device(), from_task, task, consumer.device()));
    return it->second;
  }

  StatusOr<Node*> AddPair(Output tensor, const std::string& from_device, const std::string& from_task,
                          const std::string& to_task, const std::string& to_device) {
    const int64_t edge = next_edge_++;
    const int64_t elements = tensor.shape().num_elements();
    const int64_t bytes =
        IsPlain(tensor.dtype()) && elements >= 0 ? elements * static_cast<int64_t>(DTypeSize(tensor.dtype())) : -1;
    TF_RETURN_IF_ERROR(parts_[from_task]
                           ->impl()
                           .AddNode({.name = StrCat("_send_", edge),
                                     .op = "_Send",
                                     .inputs = {tensor},
                                     .controls = {},
                                     .attrs = {{"edge", edge}, {"peer", to_task}, {"bytes", bytes}},
                                     .device = from_device,
                                     .loc = {}})
                           .status());
    return parts_[to_task]->impl().AddNode(
        {.name = StrCat("_recv_", edge),
         .op = "_Recv",
         .inputs = {},
         .controls = {},
         .attrs =
             {{"T", tensor.dtype()}, {"edge", edge}, {"peer", from_task}, {"bytes", bytes}, {"shape", tensor.shape()}},
         .device = to_device,
         .loc = {}});
  }

  const Graph& graph_;
  std::vector<std::string> tasks_;  // by node id
  std::vector<Node*> copies_;       // by node id
  std::map<std::string, std::unique_ptr<Graph>> parts_;
  std::map<std::tuple<int, int, std::string>, Node*> recvs_;
  int64_t next_edge_ = 0;
};

}  // namespace

StatusOr<std::map<std::string, std::unique_ptr<Graph>>> PartitionByTask(const Graph& graph) {
  return Partitioner(graph).Run();
}

}  // namespace tensorbraid
