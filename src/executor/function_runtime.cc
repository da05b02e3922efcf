#include "executor/function_runtime.h"

#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "executor/executor.h"
#include "executor/optimize.h"
#include "graph/functions/expand_functions.h"
#include "graph/model/graph_impl.h"
#include "graph/model/subgraph.h"

namespace tensorbraid {
namespace {

class PlanFunction final : public RunnableFunction {
 public:
  PlanFunction(std::string name, std::vector<DType> arguments, std::vector<DType> returns)
      : name_(std::move(name)), arguments_(std::move(arguments)), returns_(std::move(returns)) {}

  Status Create(std::unique_ptr<Graph> graph, const FunctionRuntime::Place& place) {
    TF_ASSIGN_OR_RETURN(auto plan, Plan::Create(std::move(graph), place.resources, &kernels_));
    executor_ = std::make_shared<Executor>(std::move(plan), place.pool, place.resources);
    return OkStatus();
  }

  void Run(std::vector<Tensor> args, CancellationManager* cancellation, Done done) override {
    if (args.size() != arguments_.size()) {
      return done(InvalidArgument("function '", name_, "' takes ", arguments_.size(), " arguments, got ", args.size()));
    }
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i].dtype() == arguments_[i]) continue;
      return done(InvalidArgument("argument ", i, " of function '", name_, "' must be ", arguments_[i], ", got ",
                                  args[i].dtype()));
    }
    executor_->Run(std::move(args), /*rendezvous=*/nullptr, cancellation,
                   [done = std::move(done)](const Status& status, std::vector<Tensor> values) {
                     if (!status.ok()) return done(status);
                     done(std::move(values));
                   });
  }
  const std::vector<DType>& argument_types() const override { return arguments_; }
  const std::vector<DType>& return_types() const override { return returns_; }
  KernelStates& states() override { return kernels_; }

 private:
  const std::string name_;
  const std::vector<DType> arguments_;
  const std::vector<DType> returns_;
  KernelCache kernels_;  // belongs to this instance, so that instances of a function share no kernel state
  std::shared_ptr<Executor> executor_;
};

// Puts all nodes on `device`. InvalidArgument if a node requests a device of another task.
Status Place(Graph* graph, const std::string& device) {
  TF_ASSIGN_OR_RETURN(const DeviceName here, DeviceName::Parse(device));
  for (const auto& node : ImplOf(*graph).nodes()) {
    if (!node->device().empty()) {
      TF_ASSIGN_OR_RETURN(const DeviceName requested, DeviceName::Parse(node->device()));
      if (requested.MergedOver(here).TaskString() != here.TaskString()) {
        return InvalidArgument(node->Describe(), " requests device '", node->device(), "', but its function runs on '",
                               device, "'");
      }
    }
    node->set_device(device);
  }
  return OkStatus();
}

class PlanFunctionRuntime final : public FunctionRuntime {
 public:
  StatusOr<std::shared_ptr<RunnableFunction>> Instantiate(const AttrValue::Function& function,
                                                          const std::shared_ptr<const FunctionLibrary>& library,
                                                          const FunctionRuntime::Place& place) const override {
    const Function* definition = library->Find(function.name);
    if (definition == nullptr) return InvalidArgument("the library has no function '", function.name, "'");
    auto made = Make(*definition, function, library, place);
    if (!made.ok()) return Annotate(made.status(), StrCat("function '", function.name, "'"));
    return made;
  }

 private:
  static StatusOr<std::shared_ptr<RunnableFunction>> Make(const Function& definition,
                                                          const AttrValue::Function& function,
                                                          const std::shared_ptr<const FunctionLibrary>& library,
                                                          const FunctionRuntime::Place& place) {
    TF_ASSIGN_OR_RETURN(const FunctionBody body, definition.Instantiate(function.attrs, library));
    std::vector<Output> feeds;
    std::vector<DType> arguments, returns;
    for (Node* arg : body.args) {
      feeds.push_back(OutputOf(arg, 0));
      arguments.push_back(BaseType(arg->output_type(0)));
    }
    for (const Output& o : body.returns) returns.push_back(o.dtype());
    std::vector<Operation> targets;
    for (Node* n : body.control_returns) targets.push_back(OperationOf(n));
    for (const auto& node : ImplOf(*body.graph).nodes()) {
      if (node->op().is_stateful && node->type() != "_Arg") targets.push_back(OperationOf(node.get()));
    }
    TF_ASSIGN_OR_RETURN(auto graph, ExtractSubgraph(*body.graph, feeds, body.returns, targets));
    TF_ASSIGN_OR_RETURN(auto expanded, ExpandFunctions(*graph, /*still_wanted=*/nullptr, RemoteCalls::kOnThisTask));
    if (expanded != nullptr) graph = std::move(expanded);
    TF_RETURN_IF_ERROR(tensorbraid::Place(graph.get(), place.device));
    TF_RETURN_IF_ERROR(Optimize(graph.get()));
    auto made = std::make_shared<PlanFunction>(function.name, std::move(arguments), std::move(returns));
    TF_RETURN_IF_ERROR(made->Create(std::move(graph), place));
    return made;
  }
};

}  // namespace

const FunctionRuntime& FunctionRuntimeOfPlans() {
  static const PlanFunctionRuntime runtime;
  return runtime;
}

}  // namespace tensorbraid
