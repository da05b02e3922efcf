#include "executor/clusters/on_host_kernel.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "executor/clusters/host_variables.h"
#include "graph/model/node_status.h"
#include "graph/model/references.h"
#include "runtime/variables/variable_access.h"

namespace tensorbraid {
namespace {

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
    std::vector<RefPtr<VariableResource>> variables;
    std::vector<int> variable_of(ctx.num_inputs(), -1);
    std::map<VariableResource*, int> numbers;
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      const DType declared = ctx.node().declared_input_type(i);
      if (!IsRef(declared) && declared != DType::kResource) continue;
      TF_ASSIGN_OR_RETURN(RefPtr<VariableResource> variable, VariableOf(ctx, i));
      const auto [at, added] = numbers.try_emplace(variable.get(), static_cast<int>(variables.size()));
      variable_of[i] = at->second;
      if (added) variables.push_back(std::move(variable));
    }
    const std::vector<bool> changed(variables.size(), changes_variables_);
    TF_ASSIGN_OR_RETURN(const auto host, HostVariables::Lock(std::move(variables), ctx.device()));
    TF_RETURN_IF_ERROR(RunKernel(ctx, *host, variable_of));
    return host->CopyBack(changed);
  }

  // Runs the kernel of the CPU with the variables in host memory.
  Status RunKernel(KernelContext& ctx, const HostVariables& host, const std::vector<int>& variable_of) {
    std::vector<Entry> inputs(ctx.num_inputs()), outputs(ctx.num_outputs());
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      if (variable_of[i] < 0) {
        inputs[i].value = ctx.input(i);
      } else {
        inputs[i] = host.InPlaceOf(variable_of[i], ctx.node().declared_input_type(i));
      }
    }
    KernelContext on_host(ctx.node(), inputs, outputs, ctx.env(), HostNodeMemory(), ctx.position());
    TF_RETURN_IF_ERROR(kernel_->Compute(on_host));
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      if (!outputs[i].ref) {
        ctx.set_output(i, std::move(outputs[i].value));
      } else if (const int variable = host.NumberOf(outputs[i].ref.get()); variable >= 0) {
        ctx.set_output_ref(i, host.on_device(variable));
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
      for (const char* reader :
           {"ReadVariableOp", "_ReadVariablesOp", "ResourceGather", "ResourceGatherNd", "VarIsInitializedOp",
            "VariableShape", "ResourceStridedSlice", "KvResourceGather", "KvResourceGatherV1", "KvVarIsInitializedOp",
            "KvVariableShape", "_ExportTable", "_ExportTrackedTable", "_SaveTables"}) {
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
