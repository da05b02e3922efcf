#include "executor/clusters/on_host_kernel.h"

#include <future>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "core/values/new_tensor.h"
#include "graph/model/node_status.h"
#include "graph/model/references.h"
#include "runtime/variables/locked_variables.h"
#include "runtime/variables/variable_access.h"

namespace tensorbraid {
namespace {

// Copies a tensor between the host and the memory of a device, and waits for the end.
StatusOr<Tensor> CopyTo(Allocator& memory, const Tensor& from, Device& device) {
  TF_ASSIGN_OR_RETURN(const Tensor to, NewTensor(from.dtype(), from.shape(), memory));
  std::promise<Status> copied;
  device.Copy(from, to, [&copied](const Status& status) { copied.set_value(status); });
  TF_RETURN_IF_ERROR(copied.get_future().get());
  return to;
}

// A variable of the device, and the variable in host memory that takes its place while the kernel runs.
struct Substitute {
  RefPtr<VariableResource> variable;
  RefPtr<VariableResource> on_host;
};

class OnHostKernel final : public AsyncKernel {
 public:
  OnHostKernel(std::unique_ptr<Kernel> kernel, bool changes_variables)
      : kernel_(std::move(kernel)), changes_variables_(changes_variables) {}

  void ComputeAsync(KernelContext& ctx, Done done) override {
    // Waits for locks and copies.
    ctx.pool().ScheduleBlocking([this, &ctx, done = std::move(done)] { done(Run(ctx)); });
  }

 private:
  Status Run(KernelContext& ctx) {
    std::vector<Substitute> substitutes;
    std::vector<int> substitute_of(ctx.num_inputs(), -1);
    std::map<VariableResource*, int> numbers;
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      const DType declared = ctx.node().declared_input_type(i);
      if (!IsRef(declared) && declared != DType::kResource) continue;
      TF_ASSIGN_OR_RETURN(RefPtr<VariableResource> variable, VariableOf(ctx, i));
      const auto [at, added] = numbers.try_emplace(variable.get(), static_cast<int>(substitutes.size()));
      substitute_of[i] = at->second;
      if (added) substitutes.push_back({std::move(variable), nullptr});
    }
    std::vector<VariableResource*> variables;
    for (const Substitute& s : substitutes) variables.push_back(s.variable.get());
    LockedVariables locked(std::move(variables));
    for (size_t k = 0; k < substitutes.size(); ++k) {
      VariableResource& v = *substitutes[k].variable;
      substitutes[k].on_host = MakeRef<ReferenceVariable>(v.name(), v.dtype(), Shape::Unknown());
      if (!locked.value(k).is_valid()) continue;
      TF_ASSIGN_OR_RETURN(Tensor value, CopyTo(HostAllocator(), locked.value(k), ctx.device()));
      TF_RETURN_IF_ERROR(substitutes[k].on_host->Assign(std::move(value)));
    }
    TF_RETURN_IF_ERROR(RunKernel(ctx, substitutes, substitute_of));
    if (!changes_variables_) return OkStatus();
    for (size_t k = 0; k < substitutes.size(); ++k) {
      if (!substitutes[k].on_host->is_initialized()) continue;
      TF_ASSIGN_OR_RETURN(const Tensor value, substitutes[k].on_host->Read());
      TF_ASSIGN_OR_RETURN(Tensor on_device, CopyTo(ctx.device().allocator(), value, ctx.device()));
      locked.Replace(k, std::move(on_device));
    }
    return OkStatus();
  }

  // Runs the kernel of the CPU with the substitutes of the variables.
  Status RunKernel(KernelContext& ctx, const std::vector<Substitute>& substitutes,
                   const std::vector<int>& substitute_of) {
    std::vector<Entry> inputs(ctx.num_inputs()), outputs(ctx.num_outputs());
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      if (substitute_of[i] < 0) {
        inputs[i].value = ctx.input(i);
        continue;
      }
      const RefPtr<VariableResource>& on_host = substitutes[substitute_of[i]].on_host;
      if (IsRef(ctx.node().declared_input_type(i))) {
        inputs[i].ref = on_host;
      } else {
        inputs[i].value = MakeHandleTensor(on_host, ctx.device().name(), "", on_host->name());
      }
    }
    KernelContext on_host(ctx.node(), inputs, outputs, ctx.env(), HostNodeMemory(), ctx.position());
    TF_RETURN_IF_ERROR(kernel_->Compute(on_host));
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      if (!outputs[i].ref) {
        ctx.set_output(i, std::move(outputs[i].value));
        continue;
      }
      for (const Substitute& s : substitutes) {
        if (s.on_host.get() == outputs[i].ref.get()) ctx.set_output_ref(i, s.variable);
      }
    }
    return OkStatus();
  }

  const std::unique_ptr<Kernel> kernel_;
  const bool changes_variables_;
};

}  // namespace

bool RunsOnHost(const Node& node) { return node.FindAttr(kOnHost) != nullptr; }

bool ChangesVariable(const Node& node) {
  for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
    if (IsRef(node.declared_input_type(i)) && !ForwardsInput(node, i)) return node.type() != "IsVariableInitialized";
    if (BaseType(node.input_type(i)) == DType::kResource) {
      for (const char* reader : {"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VarIsInitializedOp",
                                 "VariableShape", "ResourceStridedSlice"}) {
        if (node.type() == reader) return false;
      }
      return true;
    }
  }
  return false;
}

const KernelDef& OnHostKernelDef() {
  static const auto* const def = [] {
    auto* d = new KernelDef;
    d->create = [](const KernelConstruction& c) -> StatusOr<std::unique_ptr<Kernel>> {
      TF_ASSIGN_OR_RETURN(const KernelDef* cpu, KernelRegistry::Global().Find(c.node(), "CPU"));
      TF_ASSIGN_OR_RETURN(auto kernel, cpu->create(KernelConstruction(c.node(), c.resources(), c.device())));
      if (dynamic_cast<AsyncKernel*>(kernel.get()) != nullptr) {
        return Unimplemented("the op uses a variable on ", c.device(), " and has no kernel there. Place the variable ",
                             "on the CPU, with tf.device or Graph::Device");
      }
      return std::unique_ptr<Kernel>(std::make_unique<OnHostKernel>(std::move(kernel), ChangesVariable(c.node())));
    };
    return d;
  }();
  return *def;
}

}  // namespace tensorbraid
