#include "executor/clusters/host_substitute.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/system/denormals.h"
#include "core/text/device_name.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "executor/clusters/host_variables.h"
#include "executor/clusters/on_host_kernel.h"
#include "executor/scheduling.h"
#include "graph/model/node_status.h"
#include "pjrt/compile_log.h"
#include "pjrt/emitter.h"

namespace tensorbraid {
namespace {

bool Draws(const Node& node) {
  const auto emitter = pjrt::EmitterRegistry::Global().Find(node);
  return emitter.ok() && (*emitter)->draws;
}

// Marks the variables among the inputs of a node that changes variables.
void MarkChanged(const Node& node, const std::vector<Entry>& inputs, const PrivateVariables& variables,
                 std::vector<bool>& changed) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const RefCounted* resource = nullptr;
    if (IsRef(node.declared_input_type(static_cast<int>(i)))) {
      resource = inputs[i].ref.get();
    } else if (inputs[i].value.is_valid() && inputs[i].value.dtype() == DType::kResource) {
      const auto handle = HandleOf(inputs[i].value);
      if (handle.ok()) resource = (*handle)->resource.get();
    }
    const int number = resource == nullptr ? -1 : variables.NumberOf(resource);
    if (number >= 0) changed[number] = true;
  }
}

}  // namespace

StatusOr<std::shared_ptr<Kernel>> MakeKernelOfHost(const Node& node) {
  TF_ASSIGN_OR_RETURN(DeviceName device, DeviceName::Parse(node.device()));
  device.type = "CPU";
  device.id = 0;
  const std::string name = device.ToString();
  TF_ASSIGN_OR_RETURN(const KernelDef* def, KernelRegistry::Global().Find(node, "CPU"));
  TF_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, def->create(KernelConstruction(node, nullptr, name)));
  return std::shared_ptr<Kernel>(std::move(kernel));
}

HostSubstituteUse HostSubstituteFromEnvironment() {
  const char* const value = std::getenv(kHostSubstituteVariable);
  const std::string_view choice = value == nullptr ? "" : value;
  if (choice == "always") return HostSubstituteUse::kAlways;
  if (choice == "never") return HostSubstituteUse::kNever;
  static std::atomic<bool> warned{false};
  if (!choice.empty() && choice != "further" && !warned.exchange(true)) {
    TB_LOG(Warning, "accelerators") << kHostSubstituteVariable << "=" << choice << " is not a choice; the choices are "
                                    << "further (the default), always and never";
  }
  return HostSubstituteUse::kFurther;
}

StatusOr<std::unique_ptr<HostSubstitute>> HostSubstitute::Create(std::shared_ptr<const ClusterBody> body,
                                                                 const KernelOfSession& kernel_of_session) {
  std::unique_ptr<HostSubstitute> made(new HostSubstitute(std::move(body)));
  for (const Node* node : made->body_->nodes) {
    const Status added = made->AddNode(*node, kernel_of_session);
    if (!added.ok()) return AtNode(added, *node);
  }
  made->AssignSlots();
  return made;
}

Status HostSubstitute::AddNode(const Node& node, const KernelOfSession& kernel_of_session) {
  TF_ASSIGN_OR_RETURN(const KernelDef* def, KernelRegistry::Global().Find(node, "CPU"));
  TF_ASSIGN_OR_RETURN(std::shared_ptr<Kernel> kernel, Draws(node) ? kernel_of_session(node) : MakeKernelOfHost(node));
  if (dynamic_cast<AsyncKernel*>(kernel.get()) != nullptr) {
    return Unimplemented("the kernel of the CPU is asynchronous, so the host cannot run the node for a program");
  }
  Plan::PlanNode p;
  p.node = &node;
  p.may_keep_references = MayKeepReferences(node, *def);
  runs_.push_back({.node = p,
                   .kernel = std::move(kernel),
                   .changes_variables = ChangesVariable(node),
                   .inputs = {},
                   .outputs = {}});
  return OkStatus();
}

void HostSubstitute::AssignSlots() {
  std::map<std::pair<const Node*, int>, int> slots;
  for (const ClusterBody::Argument& argument : body_->arguments) {
    slots[{NodeOf(argument.tensor), argument.tensor.index()}] = num_slots_++;
  }
  for (NodeRun& run : runs_) {
    for (const Output& in : run.node.node->inputs()) run.inputs.push_back({slots.at({NodeOf(in), in.index()}), false});
    for (int i = 0; i < run.node.node->num_outputs(); ++i) {
      slots[{run.node.node, i}] = num_slots_;
      run.outputs.push_back(num_slots_++);
    }
  }
  std::vector<bool> used_later(num_slots_, false);
  for (const Output& result : body_->results) {
    results_.push_back(slots.at({NodeOf(result), result.index()}));
    used_later[results_.back()] = true;
  }
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
    for (int& output : run->outputs) {
      if (!used_later[output]) output = kNoSlot;
    }
    for (auto in = run->inputs.rbegin(); in != run->inputs.rend(); ++in) {
      in->is_last = !used_later[in->slot];
      used_later[in->slot] = true;
    }
  }
}

Status HostSubstitute::Run(KernelContext& ctx, const std::vector<RefPtr<VariableResource>>& variables,
                           const std::vector<int>& variable_of) const {
  CompileLog::Global().CountHostRun();
  const ScopedFlushDenormals flush;
  std::vector<Entry> slots(num_slots_);
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    if (variable_of[i] >= 0) continue;
    slots[i].value = ctx.input(i);
    if (ClusterBody::IsOnHost(body_->arguments[i].kind)) continue;
    TF_ASSIGN_OR_RETURN(slots[i].value, CopyTo(HostAllocator(), ctx.input(i), ctx.device()));
  }
  TF_ASSIGN_OR_RETURN(const auto host, HostVariables::Lock(variables, ctx.device()));
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    if (variable_of[i] >= 0) slots[i] = host->InPlaceOf(variable_of[i], ctx.node().declared_input_type(i));
  }
  std::vector<bool> changed(variables.size(), false);
  TF_RETURN_IF_ERROR(RunNodes(ctx, *host, slots, changed, nullptr));
  TF_RETURN_IF_ERROR(SetOutputs(ctx, slots));
  return host->CopyBack(changed);
}

Status HostSubstitute::Replay(const KernelContext& ctx, const std::vector<Tensor>& arguments,
                              const PrivateVariables& variables, const std::vector<int>& variable_of,
                              const Observer& observer) const {
  const ScopedFlushDenormals flush;
  std::vector<Entry> slots(num_slots_);
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    if (variable_of[i] < 0) {
      slots[i].value = arguments[i];
    } else {
      slots[i] = variables.InPlaceOf(variable_of[i], ctx.node().declared_input_type(i));
    }
  }
  std::vector<bool> changed(ctx.num_inputs(), false);
  return RunNodes(ctx, variables, slots, changed, observer);
}

Status HostSubstitute::RunNodes(const KernelContext& ctx, const PrivateVariables& variables, std::vector<Entry>& slots,
                                std::vector<bool>& changed, const Observer& observer) const {
  CancellationManager* const cancellation = ctx.env().cancellation;
  for (const NodeRun& run : runs_) {
    if (cancellation != nullptr && cancellation->IsCancelled()) return cancellation->status();
    std::vector<Entry> inputs;
    for (const Input& in : run.inputs) {
      Entry& entry = slots[in.slot];
      // The last use takes the entry itself, so that the kernel can use its memory again.
      inputs.push_back(in.is_last ? std::move(entry) : entry);
    }
    if (run.changes_variables) MarkChanged(*run.node.node, inputs, variables, changed);
    const Status done = RunNode(run, std::move(inputs), ctx, slots, observer);
    if (!done.ok()) return AtNode(done, *run.node.node);
  }
  return OkStatus();
}

Status HostSubstitute::RunNode(const NodeRun& run, std::vector<Entry> inputs, const KernelContext& cluster,
                               std::vector<Entry>& slots, const Observer& observer) {
  TF_RETURN_IF_ERROR(Dereference(run.node, inputs));
  std::vector<Entry> outputs(run.outputs.size());
  KernelContext ctx(*run.node.node, inputs, outputs, cluster.env(), HostNodeMemory(), cluster.position());
  TF_RETURN_IF_ERROR(Compute(*run.kernel, ctx));
  if (observer != nullptr) observer(*run.node.node, outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (run.outputs[i] != kNoSlot) slots[run.outputs[i]] = std::move(outputs[i]);
  }
  return OkStatus();
}

Status HostSubstitute::SetOutputs(KernelContext& ctx, const std::vector<Entry>& slots) const {
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    const Entry& entry = slots[results_[i]];
    Tensor value = entry.value;
    if (entry.ref) {
      TF_ASSIGN_OR_RETURN(value, entry.ref->Read());
    }
    if (!value.is_valid() || value.dtype() != ctx.node().output_type(i)) {
      return Internal("the kernel of '", body_->results[i].name(), "' gave ",
                      value.is_valid() ? StrCat("a tensor of ", value.dtype()) : std::string("no tensor"), ", not ",
                      ctx.node().output_type(i));
    }
    TF_ASSIGN_OR_RETURN(Tensor copy, CopyTo(ctx.output_memory(i), value, ctx.device()));
    ctx.set_output(i, std::move(copy));
  }
  return OkStatus();
}

}  // namespace tensorbraid
