#include "executor/plan.h"

#include <algorithm>

#include "core/memory/shared_memory.h"
#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "executor/clusters/make.h"
#include "executor/clusters/program_nodes.h"
#include "executor/device_copies.h"
#include "executor/scheduling.h"
#include "executor/send_order.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node_status.h"
#include "graph/model/references.h"

namespace tensorbraid {

namespace {

// The state of the kernel that checkpoints can hold. Null if there is no kernel or no such state.
KernelState* StateOf(Kernel* kernel) {
  auto* stateful = dynamic_cast<StatefulKernel*>(kernel);
  return stateful == nullptr ? nullptr : stateful->state();
}

}  // namespace

StatusOr<std::shared_ptr<Kernel>> KernelCache::GetOrCreate(const Node& node, const KernelDef& def,
                                                           const KernelConstruction& c) {
  std::string fingerprint = StrCat(node.type(), "@", c.device());
  for (const auto& [name, value] : node.attrs()) {
    // The number of a cluster is not the same in all plans.
    if (name != kClusterMark) fingerprint += StrCat(";", name, "=", value.ToString());
  }
  MutexLock lock(mu_);
  Slot& slot = kernels_[node.name()];
  if (slot.kernel == nullptr || slot.fingerprint != fingerprint) {
    TF_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, def.create(c));
    slot = {std::move(fingerprint), std::move(kernel)};
    if (const auto restored = restored_.find(node.name()); restored != restored_.end()) {
      KernelState* const state = StateOf(slot.kernel.get());
      if (state != nullptr) TF_RETURN_IF_ERROR(state->Restore(restored->second));
      restored_.erase(restored);
    }
  }
  return slot.kernel;
}

Tensor KernelCache::Save(const std::string& node) {
  MutexLock lock(mu_);
  const auto slot = kernels_.find(node);
  if (slot != kernels_.end()) {
    if (KernelState* const state = StateOf(slot->second.kernel.get()); state != nullptr) return state->Save();
  }
  const auto restored = restored_.find(node);
  return restored != restored_.end() ? restored->second : Tensor::Vector(std::vector<int64_t>());
}

Status KernelCache::Restore(const std::string& node, const Tensor& state) {
  MutexLock lock(mu_);
  const auto slot = kernels_.find(node);
  if (slot != kernels_.end() && slot->second.kernel != nullptr) {
    KernelState* const kept = StateOf(slot->second.kernel.get());
    return kept == nullptr ? InvalidArgument("the kernel of '", node, "' has no state to restore")
                           : kept->Restore(state);
  }
  restored_[node] = state;
  return OkStatus();
}

std::map<std::string, Tensor> KernelCache::SaveAll() {
  MutexLock lock(mu_);
  std::map<std::string, Tensor> states = restored_;
  for (const auto& [node, slot] : kernels_) {
    if (KernelState* const state = StateOf(slot.kernel.get()); state != nullptr) states[node] = state->Save();
  }
  return states;
}

StatusOr<std::shared_ptr<Kernel>> KernelCache::KernelOnHost(const Node& node) {
  TF_ASSIGN_OR_RETURN(DeviceName device, DeviceName::Parse(node.device()));
  device.type = "CPU";
  device.id = 0;
  const std::string name = device.ToString();
  TF_ASSIGN_OR_RETURN(const KernelDef* def, KernelRegistry::Global().Find(node, "CPU"));
  return GetOrCreate(node, *def, KernelConstruction(node, nullptr, name));
}

namespace {

// How long the node's kernel may use the tensors that it gets.
Plan::Keeps KeepsInputs(const Node& node, const Device& device) {
  if (node.type() == "_Send" || node.type() == "_JoinTensors") return Plan::Keeps::kMemory;
  // Kernels with a state may keep them in a variable or another resource.
  if (node.op().is_stateful || node.type() == "PyFuncStateless") return Plan::Keeps::kValue;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    if (IsRef(node.declared_input_type(static_cast<int>(i)))) return Plan::Keeps::kValue;
  }
  for (int i = 0; i < node.num_outputs(); ++i) {
    const DType type = BaseType(node.output_type(i));
    if (type == DType::kVariant || type == DType::kResource) return Plan::Keeps::kValue;  // in a list or a dataset
  }
  return device.has_stream() ? Plan::Keeps::kMemory : Plan::Keeps::kNothing;
}

// FNV-1a, which has the same result on every task and in every process.
uint64_t StableHash(std::string_view s) {
  uint64_t h = 14695981039346656037u;
  for (const unsigned char c : s) h = (h ^ c) * 1099511628211u;
  return h;
}

// Whether a tensor of the graph may be dead: the graph has control flow, or receives tensors from a partition that has
// control flow.
bool HasControlFlow(const Graph& graph) {
  const auto& nodes = ImplOf(graph).nodes();
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& node) {
    return FlowKindOf(*node) != FlowKind::kNone ||
           (node->type() == "_Recv" && node->template attr<bool>("may_be_dead"));
  });
}

// Returns the index of an _Arg or a _Retval node.
StatusOr<int> IndexOf(const Node& node) {
  constexpr int64_t kMax = 1'000'000;
  const auto index = node.attr<int64_t>("index");
  if (index < 0 || index > kMax) {
    return InvalidArgument(node.Describe(), " has index ", index, "; expected 0 to ", kMax);
  }
  return static_cast<int>(index);
}

// The weight of a node, as far as it is known before any step.
Plan::Weight WeightOf(const Node& node, CostFn cost) {
  if (cost == kNoCost) return Plan::Weight::kLight;
  const CostContext context(node);
  if (EstimatedNs(cost(context)) > kHeavyNs) return Plan::Weight::kHeavy;
  return context.lacks_input() ? Plan::Weight::kAsk : Plan::Weight::kLight;
}

}  // namespace

Status Plan::AddFlow(const std::vector<int>& index) {
  TF_ASSIGN_OR_RETURN(const FrameAssignment assignment, AssignFrames(*graph_));
  auto flow = std::make_unique<Flow>();
  for (const Frame& f : assignment.frames) {
    FlowFrame& frame = flow->frames.emplace_back();
    frame.name_hash = StableHash(f.name);
    frame.parallel_iterations = f.parallel_iterations;
  }
  for (const auto& node : ImplOf(*graph_).nodes()) {
    if (index[node->id()] < 0) continue;
    const PlanNode& p = nodes_[index[node->id()]];
    FlowNode n;
    n.kind = FlowKindOf(*node);
    n.frame = assignment.frame_of[node->id()];
    FlowFrame& frame = flow->frames[n.frame];
    n.local = frame.num_nodes++;
    n.first_slot = frame.num_slots;
    frame.num_slots += p.num_inputs;
    n.num_controls = static_cast<int>(node->control_inputs().size());
    for (int i = 0; i < p.num_inputs; ++i) n.num_forward += IsBackEdge(*node, i) ? 0 : 1;
    n.is_transfer = node->type() == "_Send" || node->type() == "_Recv";
    n.may_give_dead = n.kind == FlowKind::kSwitch || node->type() == "_Recv";
    frame.pending.push_back(n.kind == FlowKind::kMerge ? n.num_controls : p.pending);
    if (n.kind == FlowKind::kEnter) {
      n.is_constant = node->attr<bool>("is_constant");
      n.child = assignment.out_frame_of[node->id()];
      ++flow->frames[n.child].num_enters;
    }
    if (n.kind == FlowKind::kExit) frame.exits.push_back(index[node->id()]);
    if (p.kind == Kind::kRetval && n.frame != 0) {
      return InvalidArgument("'", node->inputs()[0].name(), "' is inside a loop and cannot be fetched");
    }
    flow->nodes.push_back(n);
  }
  flow_ = std::move(flow);
  return OkStatus();
}

namespace {

// Whether output 0 of the node shares the buffer of the node's first input.
bool PassesBufferOn(const Node& node) {
  const std::string& type = node.type();
  return (type == "Reshape" || type == "Identity" || type == "ExpandDims" || type == "Squeeze") &&
         !IsRef(node.input_type(0));
}

// Whether the node sends its inputs to another task, or keeps them for a later step that does.
bool SendsInputs(const Node& node) {
  return node.type() == "_Send" || node.type() == "_JoinTensors" ||
         (node.type() == "_AddToHostSums" && node.attr<bool>("leaves"));
}

// By node id and output: whether the output is sent to another task, perhaps in another shape, and is worth allocating
// in memory that neighbours (other processes of this machine) can map; see core/memory/shared_memory.h. The list of a
// node without such outputs is empty.
std::vector<std::vector<bool>> LeavingOutputs(const std::vector<std::shared_ptr<Node>>& nodes) {
  std::vector<std::vector<bool>> leaving(nodes.size());
  if (!HasNeighbours()) return leaving;
  const auto leaves = [&](const Output& tensor) {
    if (!IsFloating(BaseType(tensor.dtype()))) return;
    auto& outputs = leaving[NodeOf(tensor)->id()];
    outputs.resize(NodeOf(tensor)->num_outputs());
    outputs[tensor.index()] = true;
  };
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (SendsInputs(**node)) {
      for (const Output& in : (*node)->inputs()) leaves(in);
    } else if (const auto& outputs = leaving[(*node)->id()]; !outputs.empty() && outputs[0] && PassesBufferOn(**node)) {
      leaves((*node)->inputs()[0]);
    }
  }
  return leaving;
}

}  // namespace

const NodeMemory* Plan::MemoryFor(Device& device, const std::vector<bool>& output_on_device,
                                  const std::vector<bool>& output_leaves) {
  Allocator* const own = &device.allocator();
  std::vector<Allocator*> outputs(output_on_device.size(), own);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!device.uses_host_memory() && output_on_device[i]) continue;
    if (!output_leaves.empty() && output_leaves[i]) {
      outputs[i] = &SharedAllocator();
    } else if (!device.uses_host_memory()) {
      outputs[i] = &HostAllocator();
    }
  }
  if (std::count(outputs.begin(), outputs.end(), own) == static_cast<ptrdiff_t>(outputs.size())) outputs.clear();
  for (const auto& m : memories_) {
    if (m->device == &device && m->outputs == outputs) return m.get();
  }
  memories_.push_back(std::make_unique<const NodeMemory>(
      NodeMemory{.device = &device, .allocator = own, .outputs = std::move(outputs)}));
  return memories_.back().get();
}

StatusOr<std::shared_ptr<const Plan>> Plan::Create(std::shared_ptr<const Graph> graph, ResourceManager* resources,
                                                   KernelCache* cache, const DeviceSet* devices,
                                                   const StillWanted& still_wanted,
                                                   std::shared_ptr<ChangingValues> changing) {
  const size_t num_changing = changing == nullptr ? 0 : changing->size();
  if (devices != nullptr && RunPrograms(*devices)) {
    TF_ASSIGN_OR_RETURN(graph, MakeClusters(std::move(graph), changing));
  }
  if (devices != nullptr) {
    TF_ASSIGN_OR_RETURN(auto with_copies, InsertDeviceCopies(*graph, *devices));
    if (with_copies != nullptr) graph = std::move(with_copies);
  }
  auto plan = std::shared_ptr<Plan>(new Plan);
  plan->graph_ = std::move(graph);
  plan->changing_ = std::move(changing);
  plan->num_changing_ = num_changing;
  const auto& nodes = ImplOf(*plan->graph_).nodes();
  constexpr int kArg = -1;
  std::vector<int> index(nodes.size(), kArg);  // indexed by node id
  const std::vector<std::vector<bool>> leaving = LeavingOutputs(nodes);
  const ReferenceTensors references(*plan->graph_);
  for (const auto& node : nodes) {
    if (node->type() == "_Arg") {
      TF_ASSIGN_OR_RETURN(const int number, IndexOf(*node));
      const auto i = static_cast<size_t>(number);
      if (plan->args_.size() <= i) plan->args_.resize(i + 1);
      continue;
    }
    index[node->id()] = static_cast<int>(plan->nodes_.size());
    PlanNode p;
    p.node = node.get();
    p.num_inputs = static_cast<int>(node->inputs().size());
    p.num_outputs = node->num_outputs();
    p.first_input = plan->num_slots_;
    plan->num_slots_ += p.num_inputs;
    if (node->type() == "_Retval") {
      p.kind = Kind::kRetval;
      TF_ASSIGN_OR_RETURN(p.retval, IndexOf(*node));
      plan->num_retvals_ = std::max(plan->num_retvals_, p.retval + 1);
      p.derefs = true;
      p.keeps_inputs = Keeps::kValue;
    } else {
      TF_RETURN_IF_ERROR(CheckStillWanted(still_wanted));
      TF_ASSIGN_OR_RETURN(Device * device, DeviceOf(*node, devices));
      TF_ASSIGN_OR_RETURN(const KernelDef* def, FindKernel(*node, *device));
      TF_ASSIGN_OR_RETURN(const ArgumentMemory memory, MemoryOfArguments(*node, *device));
      p.memory = plan->MemoryFor(*device, memory.output_on_device, leaving[node->id()]);
      if (device->has_stream() &&
          std::find(plan->streams_.begin(), plan->streams_.end(), device) == plan->streams_.end()) {
        plan->streams_.push_back(device);
      }
      const KernelConstruction construction(*node, resources, node->device(), *device);
      std::shared_ptr<Kernel> kernel;
      const bool keeps_state = node->op().is_stateful && !node->type().starts_with("_");
      const Status made = [&]() -> Status {
        if (keeps_state) {
          TF_ASSIGN_OR_RETURN(kernel, cache->GetOrCreate(*node, *def, construction));
        } else {
          TF_ASSIGN_OR_RETURN(kernel, def->create(construction));
        }
        return OkStatus();
      }();
      if (!made.ok()) return AtNode(made, *node);
      if (auto* user = dynamic_cast<KernelStatesUser*>(kernel.get()); user != nullptr) user->UseStates(cache);
      p.kernel = kernel.get();
      p.async = dynamic_cast<AsyncKernel*>(kernel.get());
      p.kind = p.async != nullptr ? Kind::kAsync : Kind::kSync;
      p.weight = p.kind == Kind::kSync ? WeightOf(*node, def->cost) : Weight::kLight;
      p.cost = def->cost;
      if (p.kind == Kind::kAsync) {
        p.async_number = static_cast<int>(plan->async_nodes_.size());
        plan->async_nodes_.push_back(static_cast<int>(plan->nodes_.size()));
      }
      plan->kernels_.push_back(std::move(kernel));
      for (int i = 0; i < p.num_inputs; ++i) {
        if (IsRef(node->declared_input_type(i)) || references.Contains(node->inputs()[i])) p.derefs = true;
      }
      p.keeps_inputs = KeepsInputs(*node, *device);
      p.may_keep_references = MayKeepReferences(*node, *def);
      p.derefs_for_neighbours =
          p.derefs && node->type() == "_Send" && HasNeighbours() && IsFloating(BaseType(node->input_type(0)));
    }
    plan->nodes_.push_back(p);
  }
  plan->arg_controls_.resize(plan->args_.size());

  // Edges are collected by producer and then stored one after the other.
  std::vector<std::vector<DataEdge>> data(plan->nodes_.size());
  std::vector<std::vector<int>> control(plan->nodes_.size());
  for (const auto& node : nodes) {
    const int to = index[node->id()];
    if (to == kArg) continue;
    PlanNode& p = plan->nodes_[to];
    for (int i = 0; i < p.num_inputs; ++i) {
      const Output& in = node->inputs()[i];
      const int from = index[NodeOf(in)->id()];
      ++p.pending;
      if (from == kArg) {
        plan->args_[static_cast<size_t>(NodeOf(in)->attr<int64_t>("index"))].push_back({0, p.first_input + i, to});
      } else {
        data[from].push_back({in.index(), p.first_input + i, to});
      }
    }
    for (const Node* c : node->control_inputs()) {
      const int from = index[c->id()];
      ++p.pending;
      if (from == kArg) {
        plan->arg_controls_[static_cast<size_t>(c->attr<int64_t>("index"))].push_back(to);
      } else {
        control[from].push_back(to);
      }
    }
  }
  for (size_t i = 0; i < plan->nodes_.size(); ++i) {
    PlanNode& p = plan->nodes_[i];
    std::stable_sort(data[i].begin(), data[i].end(),
                     [](const DataEdge& a, const DataEdge& b) { return a.output < b.output; });
    p.data_begin = static_cast<int>(plan->data_edges_.size());
    plan->data_edges_.insert(plan->data_edges_.end(), data[i].begin(), data[i].end());
    p.data_end = static_cast<int>(plan->data_edges_.size());
    p.control_begin = static_cast<int>(plan->control_edges_.size());
    plan->control_edges_.insert(plan->control_edges_.end(), control[i].begin(), control[i].end());
    p.control_end = static_cast<int>(plan->control_edges_.size());
    if (p.pending == 0) plan->roots_.push_back(static_cast<int>(i));
  }
  std::stable_partition(plan->roots_.begin(), plan->roots_.end(),
                        [&](int i) { return plan->nodes_[i].node->type() == "_Recv"; });
  if (HasControlFlow(*plan->graph_)) {
    TF_RETURN_IF_ERROR(plan->AddFlow(index));
  } else {
    plan->ranks_ = RankBySends(*plan);
  }
  return plan;
}

}  // namespace tensorbraid
