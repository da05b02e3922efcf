#include "executor/device_copies.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <tuple>
#include <utility>

#include "core/text/strings.h"
#include "core/threads/at_once_or_pool.h"
#include "executor/clusters/cluster_kernel.h"
#include "executor/clusters/make.h"
#include "executor/clusters/on_host_kernel.h"
#include "executor/clusters/program_nodes.h"
#include "graph/control_flow/control_flow.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/node_status.h"
#include "graph/model/references.h"
#include "runtime/kernel/work_of_steps.h"

namespace tensorbraid {
namespace {

// Whether the node is of a type that the runtime inserts. The kernels of these types are registered for the CPU only.
bool IsHostNode(const Node& node) {
  for (const char* type : {"_Arg", "_Retval", "_Send", "_Recv", "_Copy"}) {
    if (node.type() == type) return true;
  }
  return false;
}

// The number of tensors of an argument.
int CountOf(const Node& node, const ArgDef& arg) {
  if (!arg.number_attr.empty()) return static_cast<int>(node.attr<int64_t>(arg.number_attr));
  if (!arg.type_list_attr.empty()) return static_cast<int>(node.attr<std::vector<DType>>(arg.type_list_attr).size());
  return 1;
}

// Whether tensors of this dtype are in the memory of a device, unless a kernel wants them on the host. Lists are there
// if their elements are: on devices that run programs, whose kernels of lists do not look at elements.
bool UsesDeviceMemory(DType dtype, const Device& device) {
  return IsPlain(dtype) || (dtype == DType::kVariant && RunsPrograms(device.type()));
}

// Makes the copy of a graph that InsertDeviceCopies returns.
class CopyInserter {
 public:
  CopyInserter(const Graph& graph, const DeviceSet& devices) : graph_(graph), devices_(devices) {}

  StatusOr<std::unique_ptr<Graph>> Run() {
    const auto& nodes = ImplOf(graph_).nodes();
    node_devices_.resize(nodes.size());
    copies_.assign(nodes.size(), nullptr);
    memory_.resize(nodes.size());
    for (const auto& node : nodes) {
      TF_ASSIGN_OR_RETURN(node_devices_[node->id()], DeviceOf(*node, &devices_));
      TF_ASSIGN_OR_RETURN(memory_[node->id()], MemoryOfArguments(*node, *node_devices_[node->id()]));
    }
    TF_RETURN_IF_ERROR(MoveToMerges());
    const ReferenceTensors references(
        graph_, [this](const Node& node, int i) { return Holder(node.inputs()[i]) == Wanted(node, i); });
    ReferenceReads reads(graph_, references);
    for (const auto& node : nodes) {
      std::vector<Output> inputs;
      std::vector<int> missing;  // inputs along back edges, set at the end
      for (int i = 0; i < static_cast<int>(node->inputs().size()); ++i) {
        const Output& in = node->inputs()[i];
        Device* const wanted = Wanted(*node, i);
        if (copies_[NodeOf(in)->id()] == nullptr) {
          if (Holder(in) != wanted) {
            return AtNode(
                Unimplemented("the loop's value '", in.name(), "' goes to Merge nodes in different memories: ",
                              "give each of them a NextIteration of its own"),
                *node);
          }
          missing.push_back(i);
          inputs.emplace_back();
          continue;
        }
        const std::vector<Node*> after =
            Holder(in) != wanted && references.Contains(in) ? reads.After(*node, i) : std::vector<Node*>();
        TF_ASSIGN_OR_RETURN(const Output local, In(in, wanted, after));
        inputs.push_back(local);
      }
      std::vector<Node*> controls;
      for (const Node* c : node->control_inputs()) controls.push_back(copies_[c->id()]);
      TF_ASSIGN_OR_RETURN(copies_[node->id()], ImplOf(*out_).CopyNode(*node, std::move(inputs), std::move(controls)));
      if (const auto moved = moved_to_.find(node->id()); moved != moved_to_.end()) {
        copies_[node->id()]->set_device(moved->second);
      }
      for (int i : missing) back_edges_.Add(copies_[node->id()], i, node->inputs()[i]);
    }
    TF_RETURN_IF_ERROR(
        back_edges_.Close([this](const Output& o) { return OutputOf(copies_[NodeOf(o)->id()], o.index()); }));
    ImplOf(*out_).extension<ClusterBodies>() = ImplOf(graph_).extension<ClusterBodies>();
    return std::move(out_);
  }

 private:
  // If a NextIteration and its Merge use different memories, moves the NextIteration to the Merge's device. Then the
  // input of the NextIteration is copied. A copy cannot be on the back edge, because a back edge must join a
  // NextIteration and a Merge.
  Status MoveToMerges() {
    for (const auto& merge : ImplOf(graph_).nodes()) {
      for (int i = 0; i < static_cast<int>(merge->inputs().size()); ++i) {
        const Output& in = merge->inputs()[i];
        const int id = NodeOf(in)->id();
        if (!IsBackEdge(*merge, i) || Holder(in) == Wanted(*merge, i) || moved_to_.contains(id)) continue;
        moved_to_[id] = merge->device();
        node_devices_[id] = node_devices_[merge->id()];
        TF_ASSIGN_OR_RETURN(memory_[id], MemoryOfArguments(*NodeOf(in), *node_devices_[id]));
      }
    }
    return OkStatus();
  }

  // The device in whose memory the node needs the input; null for host memory.
  Device* Wanted(const Node& node, int input) const {
    return memory_[node.id()].input_on_device[input] ? node_devices_[node.id()] : nullptr;
  }
  // The device whose memory holds the tensor; null for host memory.
  Device* Holder(const Output& o) const {
    return memory_[NodeOf(o)->id()].output_on_device[o.index()] ? node_devices_[NodeOf(o)->id()] : nullptr;
  }

  // Returns `tensor` in the memory of `wanted` (null: host memory), and adds the copies that this needs. If it is a
  // reference, its value is read after the nodes in `after`.
  StatusOr<Output> In(const Output& tensor, Device* wanted, const std::vector<Node*>& after) {
    Device* const holder = Holder(tensor);
    if (holder == wanted) return OutputOf(copies_[NodeOf(tensor)->id()], tensor.index());
    const auto [it, added] = made_.try_emplace({NodeOf(tensor)->id(), tensor.index(), wanted, after}, Output());
    if (!added) return it->second;
    Output from = OutputOf(copies_[NodeOf(tensor)->id()], tensor.index());
    if (holder != nullptr && wanted != nullptr) {
      TF_ASSIGN_OR_RETURN(from, In(tensor, nullptr, after));
    }
    std::vector<Node*> controls;
    for (const Node* node : after) controls.push_back(copies_[node->id()]);
    const bool to_host = wanted == nullptr;
    TF_ASSIGN_OR_RETURN(DeviceName device, DeviceName::Parse(NodeOf(tensor)->device()));
    device.type = (to_host ? holder : wanted)->type();
    device.id = (to_host ? holder : wanted)->id();
    TF_ASSIGN_OR_RETURN(Node * copy,
                        ImplOf(*out_).AddNode({.name = StrCat("_copy_", next_++),
                                               .op = "_Copy",
                                               .inputs = {from},
                                               .controls = std::move(controls),
                                               .attrs = {{"T", BaseType(tensor.dtype())}, {"to_host", to_host}},
                                               .device = device.ToString()}));
    it->second = OutputOf(copy, 0);
    return it->second;
  }

  const Graph& graph_;
  const DeviceSet& devices_;
  std::unique_ptr<Graph> out_ = std::make_unique<Graph>();
  std::vector<Device*> node_devices_;    // indexed by node id
  std::vector<ArgumentMemory> memory_;   // indexed by node id
  std::map<int, std::string> moved_to_;  // the new devices of moved NextIterations, by node id
  std::vector<Node*> copies_;            // the nodes of out_, indexed by the ids of the nodes of graph_
  BackEdges back_edges_;
  // The outputs of _Copy nodes, by tensor (node id and output), destination, and the nodes after which a reference is
  // read.
  std::map<std::tuple<int, int, Device*, std::vector<Node*>>, Output> made_;
  int next_ = 0;
};

}  // namespace

StatusOr<Device*> DeviceOf(const Node& node, const DeviceSet* devices) {
  TF_ASSIGN_OR_RETURN(const DeviceName name, DeviceName::Parse(node.device()));
  Device* device = nullptr;
  if (devices != nullptr) {
    device = devices->Find(name);
  } else if (name.type.value_or("CPU") == "CPU") {
    device = &HostDevice();
  }
  if (device == nullptr) {
    return InvalidArgument(node.Describe(), " is placed on device '", node.device(), "', which does not exist here");
  }
  return device;
}

StatusOr<const KernelDef*> FindKernel(const Node& node, const Device& device) {
  if (node.type() == "_Cluster") return &ClusterKernelDef();
  if (RunsOnHost(node)) return &OnHostKernelDef();
  return KernelRegistry::Global().Find(node, IsHostNode(node) ? "CPU" : device.type());
}

StatusOr<ArgumentMemory> MemoryOfArguments(const Node& node, Device& device) {
  ArgumentMemory memory{std::vector<bool>(node.inputs().size()), std::vector<bool>(node.num_outputs())};
  if (device.uses_host_memory()) return memory;
  if (node.type() == "_Copy") {
    const bool to_host = node.attr<bool>("to_host");
    memory.input_on_device[0] = to_host && UsesDeviceMemory(BaseType(node.input_type(0)), device);
    memory.output_on_device[0] = !to_host && UsesDeviceMemory(node.output_type(0), device);
    return memory;
  }
  if (IsHostNode(node)) return memory;
  if (RunsOnHost(node)) {
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      memory.input_on_device[i] = IsRef(node.declared_input_type(static_cast<int>(i)));
    }
    for (int i = 0; i < node.num_outputs(); ++i) memory.output_on_device[i] = IsRef(node.output_type(i));
    return memory;
  }
  if (node.type() == "_Cluster") {
    memory.input_on_device.flip();
    for (const int64_t input : node.attr<std::vector<int64_t>>("host_inputs")) memory.input_on_device[input] = false;
    memory.output_on_device.flip();
    return memory;
  }
  TF_ASSIGN_OR_RETURN(const KernelDef* def, FindKernel(node, device));
  const auto on_host = [&](const ArgDef& arg) {
    return std::find(def->host_memory.begin(), def->host_memory.end(), arg.name) != def->host_memory.end();
  };
  size_t at = 0;
  for (const ArgDef& arg : node.op().inputs) {
    for (int n = CountOf(node, arg); n > 0 && at < memory.input_on_device.size(); --n, ++at) {
      memory.input_on_device[at] =
          !on_host(arg) && UsesDeviceMemory(BaseType(node.input_type(static_cast<int>(at))), device);
    }
  }
  at = 0;
  for (const ArgDef& arg : node.op().outputs) {
    for (int n = CountOf(node, arg); n > 0 && at < memory.output_on_device.size(); --n, ++at) {
      memory.output_on_device[at] =
          !on_host(arg) && UsesDeviceMemory(BaseType(node.output_type(static_cast<int>(at))), device);
    }
  }
  if (const AttrValue* const outputs = node.FindAttr(kOutputsOnHost); outputs != nullptr) {
    for (const int64_t output : *outputs->get<std::vector<int64_t>>()) memory.output_on_device[output] = false;
  }
  return memory;
}

StatusOr<std::unique_ptr<Graph>> InsertDeviceCopies(const Graph& graph, const DeviceSet& devices) {
  const auto& all = devices.devices();
  if (std::all_of(all.begin(), all.end(), [](const auto& device) { return device->uses_host_memory(); })) {
    return std::unique_ptr<Graph>();
  }
  return CopyInserter(graph, devices).Run();
}

void WhenIdle(const std::vector<Device*>& devices, const CancellationManager* step, ThreadPool* pool,
              std::function<void(const Status&)> done) {
  struct Waiting {
    explicit Waiting(ThreadPool& pool) : after(pool) {}
    std::atomic<size_t> left;
    AtOnceOrPool after;
    std::function<void(const Status&)> done;
    Mutex mu;
    Status status TB_GUARDED_BY(mu);
  };
  const auto waiting = std::make_shared<Waiting>(*pool);
  waiting->left.store(devices.size());
  waiting->done = std::move(done);
  for (Device* device : devices) {
    const auto end = [waiting](const Status& status) {
      {
        MutexLock lock(waiting->mu);
        if (waiting->status.ok()) waiting->status = status;
      }
      if (waiting->left.fetch_sub(1) > 1) return;
      waiting->after.Run([waiting] {
        Status status;
        {
          MutexLock lock(waiting->mu);
          status = waiting->status;
        }
        waiting->done(status);
      });
    };
    auto* const work = step == nullptr ? nullptr : dynamic_cast<WorkOfSteps*>(device);
    if (work != nullptr) {
      work->WhenStepIsDone(step, end);
    } else {
      device->WhenIdle(end);
    }
  }
  waiting->after.CallHasReturned();
}

}  // namespace tensorbraid
