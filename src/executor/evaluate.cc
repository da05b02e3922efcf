#include "executor/evaluate.h"

#include <map>
#include <memory>
#include <optional>

#include "core/system/denormals.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "executor/scheduling.h"
#include "graph/control_flow/control_flow.h"
#include "graph/gradients/unused_outputs.h"
#include "graph/model/node.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {
namespace {

// Runs the kernel and waits until it has called back.
Status RunAndWait(AsyncKernel& kernel, KernelContext& ctx) {
  struct Result {
    Mutex mu;
    CondVar cv;
    std::optional<Status> status TB_GUARDED_BY(mu);
  } result;
  kernel.ComputeAsync(ctx, [&result](Status status) {
    MutexLock lock(result.mu);
    result.status = std::move(status);
    result.cv.NotifyAll();
  });
  MutexLock lock(result.mu);
  result.cv.Wait(result.mu, [&]() TB_REQUIRES(result.mu) { return result.status.has_value(); });
  return *result.status;
}

// The state of one call of Evaluate.
class Evaluation {
 public:
  explicit Evaluation(const EvaluateOptions& options)
      : step_resources_(options.resources != nullptr ? options.resources : &own_resources_) {
    env_.resources = options.resources != nullptr ? options.resources : &own_resources_;
    env_.pool = options.pool != nullptr ? options.pool : &own_pool_;
    env_.step_resources = &step_resources_;
    env_.cancellation = options.cancellation != nullptr ? options.cancellation : &own_cancellation_;
  }
  ~Evaluation() { step_resources_.Clear(); }

  Status Feed(const Output& output, const Tensor& value) {
    if (!output.valid()) return InvalidArgument("a fed tensor is not valid; see the status of the graph");
    if (value.dtype() != output.dtype() || !output.shape().IsCompatibleWith(value.shape())) {
      return InvalidArgument("'", output.name(), "' is ", output.dtype(), output.shape(), " and cannot be fed ",
                             value.dtype(), value.shape());
    }
    entries_[Key(output)].value = value;
    return OkStatus();
  }

  // Appends `node` to the order of execution, after everything that it depends on. Adds each node only once.
  void Need(Node* node) {
    // Uses an explicit stack, because a graph may be too deep for recursion.
    std::vector<std::pair<Node*, bool>> stack = {{node, false}};
    while (!stack.empty()) {
      const auto [n, inputs_done] = stack.back();
      stack.pop_back();
      if (inputs_done) {
        order_.push_back(n);
        continue;
      }
      if (!seen_.emplace(n->id(), true).second) continue;
      stack.emplace_back(n, true);
      for (const Output& in : n->inputs()) {
        ++uses_[Key(in)];
        if (!entries_.contains(Key(in))) stack.emplace_back(NodeOf(in), false);
      }
      for (Node* control : n->control_inputs()) stack.emplace_back(control, false);
    }
  }

  void Fetch(const Output& output) {
    ++uses_[Key(output)];
    if (!entries_.contains(Key(output))) Need(NodeOf(output));
  }

  Status Run() {
    for (Node* node : order_) {
      const Status status = Run(*node);
      if (!status.ok()) return Annotate(status, node->Describe());
    }
    return OkStatus();
  }

  StatusOr<Tensor> Result(const Output& output) {
    Entry& entry = entries_[Key(output)];
    if (entry.ref) return entry.ref->Read();
    return entry.value;
  }

 private:
  static std::pair<int, int> Key(const Output& o) { return {NodeOf(o)->id(), o.index()}; }

  Status Run(const Node& node) {
    if (FlowKindOf(node) != FlowKind::kNone) {
      return Unimplemented("control flow ops cannot be evaluated outside of a session");
    }
    std::vector<Entry> inputs;
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const auto key = Key(node.inputs()[i]);
      Entry& produced = entries_[key];
      // The last consumer takes the entry itself, so that it can reuse the buffer.
      inputs.push_back(--uses_[key] == 0 ? std::move(produced) : produced);
      Entry& input = inputs.back();
      if (!input.ref && IsRef(node.declared_input_type(static_cast<int>(i)))) {
        return InvalidArgument("input ", i, " must be a reference to a variable, not a tensor");
      }
      if (input.ref && !IsRef(node.declared_input_type(static_cast<int>(i)))) {
        TF_ASSIGN_OR_RETURN(input.value, input.ref->Read());
        input.ref.reset();
      }
    }
    TF_ASSIGN_OR_RETURN(const KernelDef* def, KernelRegistry::Global().Find(node, "CPU"));
    static const std::string device = "/job:localhost/replica:0/task:0/device:CPU:0";
    TF_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, def->create(KernelConstruction(node, env_.resources, device)));
    std::vector<Entry> outputs(node.num_outputs());
    KernelContext ctx(node, inputs, outputs, env_);
    auto* async = dynamic_cast<AsyncKernel*>(kernel.get());
    const ScopedFlushDenormals flush;
    TF_RETURN_IF_ERROR(async != nullptr ? RunAndWait(*async, ctx) : Compute(*kernel, ctx));
    for (int i = 0; i < node.num_outputs(); ++i) {
      if (const Tensor& value = outputs[i].value; !outputs[i].ref && !IsUnusedOutput(node, i)) {
        if (value.dtype() != node.output_type(i) || !node.output_shape(i).IsCompatibleWith(value.shape())) {
          return Internal("output ", i, " must be ", node.output_type(i), node.output_shape(i),
                          ", but the kernel returned ", value.dtype(), value.shape());
        }
      }
      const std::pair<int, int> key{node.id(), i};
      // A fed output keeps the fed value even if a control edge made its node run.
      if (!entries_.contains(key)) entries_[key] = std::move(outputs[i]);
    }
    return OkStatus();
  }

  ResourceManager own_resources_;
  StepResources step_resources_;
  ThreadPool own_pool_{"evaluate", /*num_threads=*/0};
  CancellationManager own_cancellation_;
  StepEnvironment env_;
  std::map<std::pair<int, int>, Entry> entries_;  // keyed by node and output
  std::map<std::pair<int, int>, int> uses_;       // consumers that have not run yet
  std::map<int, bool> seen_;
  std::vector<Node*> order_;
};

}  // namespace

StatusOr<std::vector<Tensor>> Evaluate(const std::vector<Output>& fetches,
                                       const std::vector<std::pair<Output, Tensor>>& feeds,
                                       const EvaluateOptions& options) {
  Evaluation evaluation(options);
  for (const auto& [output, value] : feeds) TF_RETURN_IF_ERROR(evaluation.Feed(output, value));
  for (const Output& fetch : fetches) {
    if (!fetch.valid()) return InvalidArgument("a fetched tensor is not valid; see the status of the graph");
    evaluation.Fetch(fetch);
  }
  for (const Operation& target : options.targets) {
    if (!target.valid()) return InvalidArgument("a target operation is not valid; see the status of the graph");
    evaluation.Need(NodeOf(target));
  }
  TF_RETURN_IF_ERROR(evaluation.Run());
  std::vector<Tensor> results;
  for (const Output& fetch : fetches) {
    TF_ASSIGN_OR_RETURN(Tensor value, evaluation.Result(fetch));
    results.push_back(std::move(value));
  }
  return results;
}

}  // namespace tensorbraid
