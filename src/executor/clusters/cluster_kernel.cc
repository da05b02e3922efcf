#include "executor/clusters/cluster_kernel.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/at_once_or_pool.h"
#include "core/threads/mutex.h"
#include "core/values/new_tensor.h"
#include "executor/clusters/cluster_run.h"
#include "executor/clusters/host_comparison.h"
#include "executor/clusters/host_substitute.h"
#include "executor/clusters/known_arguments.h"
#include "executor/clusters/known_tensors.h"
#include "executor/clusters/lost_variables.h"
#include "executor/clusters/make.h"
#include "executor/clusters/out_of_memory.h"
#include "executor/clusters/program_source.h"
#include "executor/clusters/signature.h"
#include "executor/clusters/signature_limit.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node_status.h"
#include "pjrt/compile_log.h"
#include "pjrt/device.h"
#include "pjrt/device_buffer.h"
#include "pjrt/emitter.h"
#include "pjrt/program_cache.h"
#include "runtime/kernel/kernel_state.h"
#include "runtime/kernel/random_stream.h"
#include "runtime/kernel/step_tracer.h"
#include "runtime/variables/locked_variables.h"
#include "runtime/variables/variable_access.h"

namespace tensorbraid {
namespace {

// A run whose program is enqueued and that waits for the program's error word.
struct ErrorWait {
  Tensor on_device, on_host;
  // The new values of variables that had no value of this dtype and shape. They get them if there is no error.
  std::vector<std::pair<int, Tensor>> values;  // with the number of the variable
};

// The programs of a cluster. The compiler may still hold it when the kernel is gone.
class Cluster : public std::enable_shared_from_this<Cluster> {
 public:
  Cluster(std::shared_ptr<const ClusterBody> body, pjrt::PjrtDevice& device)
      : body_(std::move(body)),
        device_(device),
        name_(NameOf(*body_)),
        comparison_(HostComparison::FromEnvironment(body_, device)),
        // A run on the host would not be compared.
        substitute_use_(comparison_ == nullptr ? HostSubstituteFromEnvironment() : HostSubstituteUse::kNever),
        known_(device),
        lost_(body_->nodes.back()->device()) {}

  // Finds the kernels of the nodes that draw random numbers. Called before the first Start.
  void UseStates(KernelStates& states) {
    for (const Node* node : body_->nodes) {
      const auto emitter = pjrt::EmitterRegistry::Global().Find(*node);
      if (emitter.ok() && (*emitter)->draws) drawing_.insert_or_assign(node, states.KernelOnHost(*node));
    }
  }

  // Has the program of the first run made, if it is known already. Errors are those of that run: it makes the program
  // again.
  void MakeAhead() {
    if (substitute_use_ == HostSubstituteUse::kAlways || DependsOnInitialization(*body_)) return;
    const auto arguments = KnownArgumentsOf(*body_);
    const auto client = device_.client();
    if (!arguments.ok() || !client.ok()) return;
    auto source = SourceOf(name_, body_->nodes, *arguments, body_->results);
    if (!source.ok()) return;
    std::string text = source->text;
    pjrt::CompileOptions options = source->options;
    {
      MutexLock lock(mu_);
      ahead_.emplace(Ahead{.signature = SignatureOf(*body_, *arguments), .source = *std::move(source)});
    }
    const std::weak_ptr<Cluster> weak = weak_from_this();
    ProgramCache::Of(**client).GetAhead(std::move(text), std::move(options), weak, [weak](const auto& program) {
      const auto self = weak.lock();
      if (self == nullptr) return;
      MutexLock lock(self->mu_);
      if (self->ahead_.has_value()) self->ahead_->made = program;
    });
  }

  void Start(KernelContext& ctx, AsyncKernel::Done done) {
    auto run = std::make_shared<ClusterRun>(ctx, std::move(done));
    if (const Status found = FindVariables(*run); !found.ok()) return run->End(found);
    Attempt(run);
  }

 private:
  using RunPtr = std::shared_ptr<ClusterRun>;

  Status FindVariables(ClusterRun& run) const {
    absl::flat_hash_map<const VariableResource*, int> numbers;
    numbers.reserve(body_->arguments.size());
    run.variable_of.reserve(body_->arguments.size());
    for (size_t i = 0; i < body_->arguments.size(); ++i) {
      if (body_->arguments[i].kind != ClusterBody::Kind::kVariable) {
        run.variable_of.push_back(-1);
        continue;
      }
      TF_ASSIGN_OR_RETURN(RefPtr<VariableResource> variable, VariableOf(run.ctx, static_cast<int>(i)));
      const auto [at, added] = numbers.try_emplace(variable.get(), static_cast<int>(run.variables.size()));
      if (added) run.variables.push_back(std::move(variable));
      run.variable_of.push_back(at->second);
    }
    return OkStatus();
  }

  // Runs the program if it exists. Otherwise has it made, and tries again or lets the host run the nodes.
  void Attempt(const RunPtr& run) {
    std::string signature;
    std::vector<pjrt::ProgramArgument> arguments;
    std::shared_ptr<const Executable> executable;
    StatusOr<std::optional<ErrorWait>> enqueued = std::nullopt;
    {
      std::vector<VariableResource*> variables;
      for (const auto& v : run->variables) variables.push_back(v.get());
      LockedVariables locked(std::move(variables));
      signature = SignatureOf(*body_, *run, locked);
      executable = Find(signature);
      if (executable != nullptr) {
        enqueued = Execute(*run, executable, locked);
      } else {
        arguments = ArgumentsOf(*body_, *run, locked);
      }
    }
    if (executable != nullptr) {
      if (!enqueued.ok()) return run->End(enqueued.status());
      if (!enqueued->has_value()) return Finish(run, executable);
      return WaitForWord(run, std::move(executable), **std::move(enqueued));
    }
    const Way way = ChooseWay(signature, arguments);
    if (way == Way::kOnHost) return RunOnHost(run);
    const bool waits = way == Way::kWait;
    const Status made = waits ? MakeAndWait(run, signature, arguments) : MakeMeanwhile(signature, arguments);
    if (!made.ok()) return run->End(made);
    if (waits) return;
    // Another session may have compiled the program.
    Find(signature) != nullptr ? Attempt(run) : RunOnHost(run);
  }

  std::shared_ptr<const Executable> Find(const std::string& signature) {
    MutexLock lock(mu_);
    const auto at = executables_.find(signature);
    return at == executables_.end() ? nullptr : at->second;
  }

  // What a run does that has no program.
  enum class Way : uint8_t {
    kWait,           // has it made, waits and runs it
    kMakeMeanwhile,  // has it made, and runs on the host
    kOnHost,         // runs on the host
  };
  // Of kMakeMeanwhile, notes that the program is being made.
  Way ChooseWay(const std::string& signature, const std::vector<pjrt::ProgramArgument>& arguments) {
    if (substitute_use_ == HostSubstituteUse::kNever) return Way::kWait;
    // An assignment may give a lost variable a value again, and every other use must say what has happened to it.
    if (std::any_of(arguments.begin(), arguments.end(), [](const auto& a) { return !a.loss.ok(); })) return Way::kWait;
    {
      MutexLock lock(mu_);
      // The first program is waited for, so that all steps are computed alike if nothing changes. Of one that could not
      // be compiled, the step shows the error.
      const bool is_first = executables_.empty() && substitute_use_ != HostSubstituteUse::kAlways;
      if (is_first) limit_.Allows(signature, arguments);  // counts it
      if (is_first || failed_.contains(signature)) return Way::kWait;
    }
    const bool host_can = Substitute() != nullptr;
    if (host_can && substitute_use_ == HostSubstituteUse::kAlways) return Way::kOnHost;
    MutexLock lock(mu_);
    const bool was_reached = !limit_.reason().empty();
    const bool allowed = limit_.Allows(signature, arguments);
    if (!allowed && !was_reached) LimitReached(host_can);
    if (!host_can) return Way::kWait;
    return allowed && being_made_.insert(signature).second ? Way::kMakeMeanwhile : Way::kOnHost;
  }

  // Says what happens from now on, and tells the next plan which value changes too often.
  void LimitReached(bool host_can) const TB_REQUIRES(mu_) {
    const std::optional<size_t> changing = limit_.changing_argument();
    if (changing.has_value() && body_->changing != nullptr) {
      body_->changing->Add(body_->arguments[*changing].tensor);
      TB_LOG(Warning, "accelerators")
          << "nodes that need a value that changes too often leave " << name_
          << ", and run on the host, which is slow, unless they can take it as an argument. " << limit_.reason();
    } else if (host_can) {
      TB_LOG(Warning, "accelerators") << "the host computes further inputs of " << name_
                                      << " from now on, which is slow. " << limit_.reason();
    } else {
      TB_LOG(Warning, "accelerators") << "further inputs of " << name_ << " wait for the compiler, which is slow. "
                                      << limit_.reason();
    }
  }

  // Made when it is first needed. Null if the host cannot run the nodes.
  const HostSubstitute* Substitute() {
    MutexLock lock(substitute_mu_);
    if (!substitute_.has_value()) {
      substitute_ = HostSubstitute::Create(body_, [this](const Node& node) { return KernelThatDraws(node); });
      if (!substitute_->ok()) {
        TB_LOG(Info, "accelerators") << name_ << " always waits for the compiler, since the host cannot run its nodes: "
                                     << substitute_->status();
      }
    }
    return substitute_->ok() ? (*substitute_)->get() : nullptr;
  }

  // Lets the host run the nodes. REQUIRES: there is a substitute.
  void RunOnHost(const RunPtr& run) {
    run->Tell(name_, CompileLog::WaitFor::kHost);
    // Waits for locks and copies.
    run->ctx.pool().ScheduleBlocking([self = shared_from_this(), run] {
      StepTracer* const tracer = run->ctx.env().tracer;
      const int64_t start_ns = tracer == nullptr ? 0 : StepTracer::Now();
      const Status status = self->Substitute()->Run(run->ctx, run->variables, run->variable_of);
      if (tracer != nullptr) {
        tracer->RecordWork(run->ctx.node(), StrCat("run of ", self->name_, " by the host"), start_ns);
      }
      run->End(status);
    });
  }

  // What the compiler needs for the program of a signature: what MakeAhead has made, if it is for this one. If that
  // could not be compiled, returns the error, once.
  StatusOr<ProgramSource> SourceFor(const std::string& signature, const std::vector<pjrt::ProgramArgument>& arguments) {
    {
      MutexLock lock(mu_);
      if (ahead_.has_value() && ahead_->signature == signature) {
        if (ahead_->made.ok()) return ahead_->source;
        const Status failed = ahead_->made.status();
        ahead_.reset();
        return failed;
      }
    }
    return SourceOf(name_, body_->nodes, arguments, body_->results);
  }

  // Has the program for a signature made. Calls `ready`, which must return soon, when it can be found, or with the
  // error of the compiler.
  void Make(const std::string& signature, pjrt::Client& client, ProgramSource source,
            std::function<void(const Status&)> ready) {
    ProgramCache::Of(client).Get(std::move(source.text), std::move(source.options),
                                 [self = shared_from_this(), signature, text = std::move(source.program),
                                  ready = std::move(ready)](const StatusOr<std::shared_ptr<pjrt::Program>>& program) {
                                   self->NoteMade(signature, text, program);
                                   ready(program.status());
                                 });
  }

  // Has the program made, then lets the run try again. After an error the run has not ended.
  Status MakeAndWait(const RunPtr& run, const std::string& signature,
                     const std::vector<pjrt::ProgramArgument>& arguments) {
    TF_ASSIGN_OR_RETURN(pjrt::Client* const client, device_.client());
    TF_ASSIGN_OR_RETURN(ProgramSource source, SourceFor(signature, arguments));
    ThreadPool& pool = run->ctx.pool();
    const auto self = shared_from_this();  // while the run waits, it may end, and with it the kernel
    if (!run->Wait(run, name_, CompileLog::WaitFor::kCompiler)) return OkStatus();
    const int64_t start_ns = StepTracer::Now();
    Make(signature, *client, std::move(source), [self, run, &pool, start_ns](const Status& made) {
      if (!run->Resume()) return;
      if (StepTracer* const tracer = run->ctx.env().tracer; tracer != nullptr) {
        tracer->RecordWork(run->ctx.node(), "compilation of " + self->name_, start_ns);
      }
      // The pool exists as long as a run of a step.
      pool.Schedule([self, run, made] {
        if (made.ok()) {
          self->Attempt(run);
        } else {
          run->End(made);
        }
      });
    });
    return OkStatus();
  }

  // Has the program made without waiting for it.
  Status MakeMeanwhile(const std::string& signature, const std::vector<pjrt::ProgramArgument>& arguments) {
    const StatusOr<pjrt::Client*> client = device_.client();
    StatusOr<ProgramSource> source = SourceFor(signature, arguments);
    if (!client.ok() || !source.ok()) {
      MutexLock lock(mu_);
      being_made_.erase(signature);
      return client.ok() ? source.status() : client.status();
    }
    Make(signature, **client, *std::move(source), [name = name_](const Status& made) {
      if (made.ok()) return;
      TB_LOG(Warning, "accelerators") << name << " could not be compiled. The next step that needs it waits for the "
                                      << "compiler, and fails if it cannot be compiled then: " << made;
    });
    return OkStatus();
  }

  // The program of a signature has been made, or could not be compiled.
  void NoteMade(const std::string& signature, const pjrt::ProgramText& text,
                const StatusOr<std::shared_ptr<pjrt::Program>>& program) {
    const auto memory = program.ok() ? (*program)->Memory() : program.status();
    MutexLock lock(mu_);
    being_made_.erase(signature);
    if (ahead_.has_value() && ahead_->signature == signature) ahead_.reset();
    if (!program.ok()) {
      if (failed_.size() >= SignatureLimit::kMostSignatures) failed_.clear();
      failed_.insert(signature);
      return;
    }
    failed_.erase(signature);
    // If the host cannot run the nodes, nothing limits the shapes, and the programs should not fill the memory. They
    // stay in the cache of the client for a while.
    if (executables_.size() >= SignatureLimit::kMostSignatures) {
      executables_.clear();
      known_.Clear();
    }
    executables_.insert_or_assign(signature, std::make_shared<const Executable>(
                                                 text, *program, memory.ok() ? std::optional(*memory) : std::nullopt));
  }

  // Enqueues the program, sets the outputs and gives the variables their new values. The run has then ended, unless the
  // program has an error word.
  StatusOr<std::optional<ErrorWait>> Execute(ClusterRun& run, const std::shared_ptr<const Executable>& executable,
                                             LockedVariables& locked) {
    const pjrt::ProgramText& text = executable->text;
    TF_ASSIGN_OR_RETURN(const std::shared_ptr<const KnownTensors> known, known_.Of(executable));
    RunRecord* const record = comparison_ == nullptr ? nullptr : &run.record.emplace();
    for (size_t i = 0; record != nullptr && i < body_->arguments.size(); ++i) {
      record->arguments.push_back(HasValue(i, run, locked) ? ValueOf(i, run, locked) : Tensor());
    }
    for (const auto& [node, argument, check] : text.host_checks) {
      if (const Status status = check(ValueOf(argument, run, locked)); !status.ok()) return AtNode(status, *node);
    }
    std::vector<const Tensor*> inputs;
    std::vector<Tensor> from_host;
    from_host.reserve(text.parameters.size());  // pointers to its elements stay valid
    for (const int argument : text.parameters) {
      const Tensor& value = ValueOf(argument, run, locked);
      if (body_->arguments[argument].kind == ClusterBody::Kind::kFromHost) {
        TF_ASSIGN_OR_RETURN(from_host.emplace_back(), ToDevice(value, device_, [](const Status&) {}));
      }
      inputs.push_back(body_->arguments[argument].kind == ClusterBody::Kind::kFromHost ? &from_host.back() : &value);
    }
    if (known != nullptr) {
      for (const Tensor& constant : known->constants) inputs.push_back(&constant);
    }
    Tensor streams;
    if (!text.streams.empty()) {
      TF_ASSIGN_OR_RETURN(std::vector<RandomStream::Place> places, TakeStreams(text));
      TF_ASSIGN_OR_RETURN(streams, ToDevice(StreamsTensor(text, places), device_, [](const Status&) {}));
      if (record != nullptr) record->places = std::move(places);
      inputs.push_back(&streams);
    }
    std::vector<int> kept;
    for (const auto& update : text.updates) {
      if (update.aliased >= 0 && !inputs[update.aliased]->IsWritable()) kept.push_back(update.aliased);
    }
    std::sort(kept.begin(), kept.end());
    auto enqueued = executable->program->Run(inputs, kept, device_.index());
    if (!enqueued.ok()) {
      return lost_.LoseConsumed(run, text, locked, WithMemory(enqueued.status(), *body_, *executable, device_));
    }
    pjrt::Program::Results results = *std::move(enqueued);
    const std::shared_ptr<pjrt::Loss> loss = lost_.LossOfUpdated(run, text);
    device_.Follow(std::move(results.done),
                   {.step = run.ctx.env().cancellation,
                    .loss = loss,
                    .ended = RecordsRun(run),
                    .explain = [body = body_, executable, device = &device_](const Status& error) {
                      return WithMemory(error, *body, *executable, *device);
                    }});
    std::optional<ErrorWait> wait;
    if (text.error_word >= 0) {
      const Shape shape({text.checks.word_size()});
      wait.emplace();
      TF_ASSIGN_OR_RETURN(wait->on_device, NewTensor(kInt64, shape, device_.allocator()));
      TF_ASSIGN_OR_RETURN(wait->on_host, NewTensor(kInt64, shape, HostAllocator()));
      TF_RETURN_IF_ERROR(Put(std::move(results.outputs[text.error_word]), loss, wait->on_device));
    }
    for (size_t k = 0; k < text.updates.size(); ++k) {
      const auto& update = text.updates[k];
      TF_ASSIGN_OR_RETURN(Tensor value, NewTensor(update.dtype, update.shape, device_.allocator()));
      TF_RETURN_IF_ERROR(Put(std::move(results.outputs[k]), loss, value));
      if (record != nullptr) record->updates.push_back(value);
      const int variable = run.variable_of[update.argument];
      if (wait.has_value() && update.aliased < 0) {
        wait->values.emplace_back(variable, std::move(value));
      } else {
        locked.Replace(variable, std::move(value));
      }
    }
    for (size_t i = 0; i < text.results.size(); ++i) {
      const auto& result = text.results[i];
      if (result.variable >= 0) {
        return Internal("output ", i, " of ", name_, " is a variable");
      }
      if (result.result < 0) {
        run.ctx.set_output(static_cast<int>(i), known->results[i]);
        continue;
      }
      TF_ASSIGN_OR_RETURN(Tensor * output, run.ctx.AllocateOutput(static_cast<int>(i), result.shape));
      TF_RETURN_IF_ERROR(Put(results.outputs[result.result], loss, *output));
    }
    return wait;
  }

  // Ends the run when the error word is on the host, so that nothing behind an error happens.
  void WaitForWord(const RunPtr& run, std::shared_ptr<const Executable> executable, ErrorWait wait) {
    const auto after = std::make_shared<AtOnceOrPool>(run->ctx.pool());
    if (!run->Wait(run, name_, CompileLog::WaitFor::kDevice)) return;
    const Tensor on_device = wait.on_device, on_host = wait.on_host;
    auto end = [self = shared_from_this(), run, executable = std::move(executable),
                wait = std::move(wait)](const Status& copied) {
      const Status status = copied.ok() ? executable->text.checks.ErrorOf(wait.on_host.data<int64_t>()) : copied;
      if (!status.ok()) return run->End(status);
      self->Assign(*run, wait.values);
      self->Finish(run, executable);
    };
    device_.Copy(on_device, on_host, [run, after, end = std::move(end)](const Status& copied) {
      // The pool exists as long as a run of a step.
      if (run->Resume()) after->Run([end, copied] { end(copied); });
    });
    after->CallHasReturned();
  }

  // For the trace of the step: what to call when the program, which has just been enqueued, ends. Null: no trace. The
  // step ends only when its runs have ended.
  std::function<void()> RecordsRun(const ClusterRun& run) const {
    StepTracer* const tracer = run.ctx.env().tracer;
    if (tracer == nullptr) return nullptr;
    return [tracer, node = &run.ctx.node(), name = name_, start_ns = StepTracer::Now()] {
      tracer->RecordWork(*node, "run of " + name, start_ns);
    };
  }

  // Ends a run whose program is enqueued and has not failed.
  void Finish(const RunPtr& run, const std::shared_ptr<const Executable>& executable) {
    if (comparison_ == nullptr || !run->record.has_value()) return run->End(OkStatus());
    run->Tell(name_, CompileLog::WaitFor::kHost);
    run->ctx.pool().ScheduleBlocking([self = shared_from_this(), run, executable] {
      self->comparison_->Compare(run->ctx, *executable, *run->record, run->variables, run->variable_of);
      run->End(OkStatus());
    });
  }

  static void Assign(const ClusterRun& run, const std::vector<std::pair<int, Tensor>>& values) {
    if (values.empty()) return;
    std::vector<VariableResource*> variables;
    for (const auto& [number, value] : values) variables.push_back(run.variables[number].get());
    LockedVariables locked(std::move(variables));
    for (size_t i = 0; i < values.size(); ++i) locked.Replace(i, values[i].second);
  }

  // The kernel that keeps the node's stream of random numbers.
  StatusOr<std::shared_ptr<Kernel>> KernelThatDraws(const Node& node) const {
    const auto kernel = drawing_.find(&node);
    if (kernel == drawing_.end()) return FailedPrecondition("there is no session with random ops");
    return kernel->second;
  }

  // Reserves the random numbers of one run.
  StatusOr<std::vector<RandomStream::Place>> TakeStreams(const pjrt::ProgramText& text) const {
    std::vector<RandomStream::Place> places;
    for (const auto& stream : text.streams) {
      TF_ASSIGN_OR_RETURN(const std::shared_ptr<Kernel> kernel, KernelThatDraws(*stream.node));
      auto* const stateful = dynamic_cast<StatefulKernel*>(kernel.get());
      auto* const random = stateful == nullptr ? nullptr : dynamic_cast<RandomStream*>(stateful->state());
      if (random == nullptr) return Internal(stream.node->Describe(), " has no stream of random numbers");
      places.push_back(random->TakeElements(stream.elements));
    }
    return places;
  }

  static Status Put(RefPtr<pjrt::Array> array, std::shared_ptr<const pjrt::Loss> loss, const Tensor& tensor) {
    TF_ASSIGN_OR_RETURN(pjrt::DeviceBuffer * buffer, pjrt::DeviceBuffer::Of(tensor));
    buffer->Set(std::move(array), std::move(loss));
    return OkStatus();
  }

  const std::shared_ptr<const ClusterBody> body_;
  pjrt::PjrtDevice& device_;
  const std::string name_;
  const std::unique_ptr<HostComparison> comparison_;  // null: runs are not compared with the host
  const HostSubstituteUse substitute_use_;
  std::map<const Node*, StatusOr<std::shared_ptr<Kernel>>> drawing_;  // the nodes that draw random numbers
  Mutex substitute_mu_;
  // Not set while no run has needed it; then an error if the host cannot run the nodes.
  std::optional<StatusOr<std::unique_ptr<HostSubstitute>>> substitute_ TB_GUARDED_BY(substitute_mu_);
  Mutex mu_;
  std::map<std::string, std::shared_ptr<const Executable>> executables_ TB_GUARDED_BY(mu_);  // keyed by signature
  // Signatures whose programs are made while no step waits for them, and those whose last compilation has failed.
  std::set<std::string> being_made_ TB_GUARDED_BY(mu_), failed_ TB_GUARDED_BY(mu_);
  KnownTensorsOfCluster known_;
  LostVariables lost_;
  // The program that MakeAhead has asked for, until a run has it or its error.
  struct Ahead {
    std::string signature;
    ProgramSource source;
    StatusOr<std::shared_ptr<pjrt::Program>> made = nullptr;  // null while it is being made
  };
  std::optional<Ahead> ahead_ TB_GUARDED_BY(mu_);
  SignatureLimit limit_ TB_GUARDED_BY(mu_){body_->nodes};
};

class ClusterKernel final : public AsyncKernel, public KernelStatesUser {
 public:
  explicit ClusterKernel(const KernelConstruction& c)
      : cluster_(
            std::make_shared<Cluster>(ImplOf(*c.node().graph()).extension<ClusterBodies>().at(c.attr<int64_t>("body")),
                                      static_cast<pjrt::PjrtDevice&>(c.local_device()))) {
    cluster_->MakeAhead();
  }
  void UseStates(KernelStates* states) override {
    if (states != nullptr) cluster_->UseStates(*states);
  }
  void ComputeAsync(KernelContext& ctx, Done done) override { cluster_->Start(ctx, std::move(done)); }

 private:
  const std::shared_ptr<Cluster> cluster_;
};

}  // namespace

const KernelDef& ClusterKernelDef() {
  static const auto* const def = [] {
    auto* d = new KernelDef;
    d->op = "_Cluster";
    d->create = [](const KernelConstruction& c) -> StatusOr<std::unique_ptr<Kernel>> {
      return std::unique_ptr<Kernel>(std::make_unique<ClusterKernel>(c));
    };
    return d;
  }();
  return *def;
}

}  // namespace tensorbraid
