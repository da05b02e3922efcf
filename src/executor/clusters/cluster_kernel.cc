#include "executor/clusters/cluster_kernel.h"

#include <algorithm>
#include <atomic>
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
#include "core/threads/mutex.h"
#include "core/values/new_tensor.h"
#include "executor/clusters/compile_log.h"
#include "executor/clusters/compute_on_host.h"
#include "executor/clusters/host_substitute.h"
#include "executor/clusters/make.h"
#include "executor/clusters/program_cache.h"
#include "executor/clusters/signature_limit.h"
#include "graph/model/graph_impl.h"
#include "pjrt/client.h"
#include "pjrt/device.h"
#include "pjrt/device_buffer.h"
#include "pjrt/emitter.h"
#include "pjrt/loss.h"
#include "pjrt/program.h"
#include "runtime/kernel/cancellable_wait.h"
#include "runtime/kernel/kernel_state.h"
#include "runtime/kernel/random_stream.h"
#include "runtime/variables/locked_variables.h"
#include "runtime/variables/variable_access.h"

namespace tensorbraid {
namespace {

using Kind = ClusterBody::Kind;

// The size of a matrix in a signature.
constexpr size_t kUsualSignature = 2 * sizeof(int) + sizeof(DType) + 2 * sizeof(int64_t);

template <typename T>
void Append(const T& value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// What is known of a program when it is made, in memory of the device. The tensors are copied once, for all runs.
struct KnownTensors {
  std::vector<Tensor> constants;  // those of the text
  std::vector<Tensor> results;    // by result; not valid: the program computes it
  // A copy has failed, so the tensors must be made again.
  std::atomic<bool> copy_failed{false};
};

// A program for one signature.
struct Executable {
  pjrt::ProgramText text;
  std::shared_ptr<pjrt::Program> program;
};

// A run whose program is enqueued and that waits for the program's error word.
struct ErrorWait {
  Tensor on_device, on_host;
  // The new values of variables that had no value of this dtype and shape. They get them if there is no error.
  std::vector<std::pair<int, Tensor>> values;  // with the number of the variable
};

// One run of a cluster. It may wait for the compiler, and for an error word; only then can the cancellation of its step
// end it.
class ClusterRun {
 public:
  ClusterRun(KernelContext& c, AsyncKernel::Done done) : ctx(c), done_(std::move(done)) {}

  KernelContext& ctx;  // until the run ends
  // The variables of the cluster, each once, and for each argument its number among them; -1: not a variable.
  std::vector<RefPtr<VariableResource>> variables;
  std::vector<int> variable_of;

  // Ends the run. REQUIRES: it does not wait.
  void End(const Status& status) {
    variables.clear();  // the caller may hold the run longer than its session exists
    done_(status);
  }
  // The run of this program waits from now on for something that the messages of slow steps name.
  void Tell(const std::string& program, CompileLog::WaitFor what) {
    MutexLock lock(mu_);
    waiting_ = CompileLog::Waiting(program, what);
  }
  // Begins to wait. Returns false if the step has been cancelled: the run has then ended.
  bool Wait(const std::shared_ptr<ClusterRun>& self, const std::string& program, CompileLog::WaitFor what) {
    bool registered = false;
    Tell(program, what);
    {
      MutexLock lock(mu_);
      waits_ = true;
      registered = wait_.emplace().Begin(ctx.env().cancellation, [self](const Status&) {
        if (self->StopWaiting()) self->done_(Cancelled(kCancelledInWait));
      });
    }
    if (!registered && StopWaiting()) done_(Cancelled(kCancelledBeforeWait));
    return registered;
  }
  // Goes on after a wait. Returns false if the run has ended meanwhile.
  bool Resume() {
    if (!StopWaiting()) return false;
    wait_->End();
    return true;
  }

 private:
  bool StopWaiting() {
    MutexLock lock(mu_);
    waiting_ = CompileLog::Waiting();
    return std::exchange(waits_, false);
  }

  const AsyncKernel::Done done_;
  std::optional<CancellableWait> wait_;
  Mutex mu_;
  bool waits_ TB_GUARDED_BY(mu_) = false;
  CompileLog::Waiting waiting_ TB_GUARDED_BY(mu_);
};

// The programs of a cluster. The compiler may still hold it when the kernel is gone.
class Cluster : public std::enable_shared_from_this<Cluster> {
 public:
  Cluster(std::shared_ptr<const ClusterBody> body, pjrt::PjrtDevice& device)
      : body_(std::move(body)),
        device_(device),
        name_(NameOf(*body_)),
        substitute_use_(HostSubstituteFromEnvironment()) {}

  // Finds the kernels of the nodes that draw random numbers. Called before the first Start.
  void UseStates(KernelStates& states) {
    for (const Node* node : body_->nodes) {
      const auto emitter = pjrt::EmitterRegistry::Global().Find(*node);
      if (emitter.ok() && (*emitter)->draws) drawing_.insert_or_assign(node, states.KernelOnHost(*node));
    }
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
      if (body_->arguments[i].kind != Kind::kVariable) {
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
      signature = SignatureOf(*run, locked);
      executable = Find(signature);
      if (executable != nullptr) {
        enqueued = Execute(*run, executable, locked);
      } else {
        arguments = ArgumentsOf(*run, locked);
      }
    }
    if (executable != nullptr) {
      if (!enqueued.ok() || !enqueued->has_value()) return run->End(enqueued.status());
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
    if (Substitute() == nullptr) return Way::kWait;
    if (substitute_use_ == HostSubstituteUse::kAlways) return Way::kOnHost;
    MutexLock lock(mu_);
    const bool was_reached = !limit_.reason().empty();
    if (!limit_.Allows(signature, arguments)) {
      if (!was_reached) {
        TB_LOG(Warning, "accelerators") << "the host computes further inputs of " << name_
                                        << " from now on, which is slow. " << limit_.reason();
      }
      return Way::kOnHost;
    }
    return being_made_.insert(signature).second ? Way::kMakeMeanwhile : Way::kOnHost;
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
      run->End(self->Substitute()->Run(run->ctx, run->variables, run->variable_of));
    });
  }

  // The value of argument `i`; not valid if it is a variable without a value.
  const Tensor& ValueOf(size_t i, const ClusterRun& run, const LockedVariables& locked) const {
    return run.variable_of[i] >= 0 ? locked.value(run.variable_of[i]) : run.ctx.input(static_cast<int>(i));
  }

  // False for a variable that is not initialized or whose value is lost.
  bool HasValue(size_t i, const ClusterRun& run, const LockedVariables& locked) const {
    const Tensor& value = ValueOf(i, run, locked);
    return value.is_valid() && (run.variable_of[i] < 0 || pjrt::WhyLost(value).ok());
  }

  // Bytes that are equal for runs that can use the same program. Made in each step, so it is not text.
  std::string SignatureOf(const ClusterRun& run, const LockedVariables& locked) const {
    std::string bytes;
    bytes.reserve(body_->arguments.size() * kUsualSignature);
    for (size_t i = 0; i < body_->arguments.size(); ++i) {
      const Tensor& value = ValueOf(i, run, locked);
      const bool has_value = HasValue(i, run, locked);
      Append(run.variable_of[i], bytes);
      Append(has_value ? value.dtype() : DType::kInvalid, bytes);
      if (!has_value) continue;
      Append(value.shape().rank(), bytes);
      for (const int64_t dim : value.shape().dims()) Append(dim, bytes);
      if (body_->arguments[i].kind == Kind::kStatic) {
        bytes.append(static_cast<const char*>(value.raw_data()), value.num_bytes());
      }
    }
    return bytes;
  }

  // One argument for each argument of the body. Arguments that are the same variable are all within the first of them.
  std::vector<pjrt::ProgramArgument> ArgumentsOf(const ClusterRun& run, const LockedVariables& locked) const {
    std::vector<pjrt::ProgramArgument> arguments(body_->arguments.size());
    std::map<int, size_t> first;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const int variable = run.variable_of[i];
      const size_t at = variable < 0 ? i : first.try_emplace(variable, i).first->second;
      pjrt::ProgramArgument& argument = arguments[at];
      argument.tensors.push_back(body_->arguments[i].tensor);
      if (at != i) continue;
      const Tensor& value = ValueOf(i, run, locked);
      argument.is_variable = variable >= 0;
      argument.has_value = HasValue(i, run, locked);
      if (value.is_valid()) argument.loss = pjrt::WhyLost(value);
      argument.dtype = variable >= 0 ? run.variables[variable]->dtype() : value.dtype();
      if (argument.has_value) argument.shape = value.shape();
      if (body_->arguments[i].kind == Kind::kStatic) argument.constant = std::make_shared<const Tensor>(value);
    }
    return arguments;
  }

  // What the compiler needs for the program of a signature.
  struct Source {
    pjrt::Client* client;
    std::string text;
    pjrt::CompileOptions options;
    pjrt::ProgramText program;  // without its text
  };
  StatusOr<Source> SourceFor(const std::vector<pjrt::ProgramArgument>& arguments) const {
    Source source{
        .client = nullptr, .text = "", .options = {.name = name_, .arguments = {}, .donated = {}}, .program = {}};
    TF_ASSIGN_OR_RETURN(source.client, device_.client());
    TF_ASSIGN_OR_RETURN(source.program, pjrt::EmitProgram(body_->nodes, arguments, body_->results, ComputeOnHost));
    const pjrt::ProgramText& program = source.program;
    for (const int argument : program.parameters) {
      source.options.arguments.push_back({arguments[argument].dtype, arguments[argument].shape});
    }
    for (const auto& constant : program.constants) {
      source.options.arguments.push_back({constant->dtype(), constant->shape()});
    }
    if (!program.streams.empty()) {
      source.options.arguments.push_back({program.StreamsType().dtype, program.StreamsType().shape});
    }
    for (const auto& update : program.updates) {
      if (update.aliased >= 0) source.options.donated.push_back(update.aliased);
    }
    std::sort(source.options.donated.begin(), source.options.donated.end());
    source.text = std::exchange(source.program.text, "");
    return source;
  }

  // Has the program for a signature made. Calls `ready`, which must return soon, when it can be found, or with the
  // error of the compiler.
  void Make(const std::string& signature, Source source, std::function<void(const Status&)> ready) {
    ProgramCache::Of(*source.client)
        .Get(std::move(source.text), std::move(source.options),
             [self = shared_from_this(), signature, text = std::move(source.program),
              ready = std::move(ready)](const StatusOr<std::shared_ptr<pjrt::Program>>& program) {
               self->NoteMade(signature, text, program);
               ready(program.status());
             });
  }

  // Has the program made, then lets the run try again. After an error the run has not ended.
  Status MakeAndWait(const RunPtr& run, const std::string& signature,
                     const std::vector<pjrt::ProgramArgument>& arguments) {
    TF_ASSIGN_OR_RETURN(Source source, SourceFor(arguments));
    ThreadPool& pool = run->ctx.pool();
    const auto self = shared_from_this();  // while the run waits, it may end, and with it the kernel
    if (!run->Wait(run, name_, CompileLog::WaitFor::kCompiler)) return OkStatus();
    Make(signature, std::move(source), [self, run, &pool](const Status& made) {
      if (!run->Resume()) return;
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
    StatusOr<Source> source = SourceFor(arguments);
    if (!source.ok()) {
      MutexLock lock(mu_);
      being_made_.erase(signature);
      return source.status();
    }
    Make(signature, *std::move(source), [name = name_](const Status& made) {
      if (made.ok()) return;
      TB_LOG(Warning, "accelerators") << name << " could not be compiled. The next step that needs it waits for the "
                                      << "compiler, and fails if it cannot be compiled then: " << made;
    });
    return OkStatus();
  }

  // The program of a signature has been made, or could not be compiled.
  void NoteMade(const std::string& signature, const pjrt::ProgramText& text,
                const StatusOr<std::shared_ptr<pjrt::Program>>& program) {
    MutexLock lock(mu_);
    being_made_.erase(signature);
    if (!program.ok()) {
      if (failed_.size() >= SignatureLimit::kMostSignatures) failed_.clear();
      failed_.insert(signature);
      return;
    }
    failed_.erase(signature);
    // Without a substitute, nothing limits the signatures, and the programs should not fill the memory. They stay in
    // the cache of the client for a while.
    if (executables_.size() >= SignatureLimit::kMostSignatures) {
      executables_.clear();
      MutexLock known_lock(known_mu_);
      known_.clear();
    }
    executables_.insert_or_assign(signature, std::make_shared<const Executable>(text, *program));
  }

  // What is known of the program, on the device. Null if nothing is. Programs of this cluster share constants that are
  // the same tensor.
  StatusOr<std::shared_ptr<const KnownTensors>> KnownOf(const std::shared_ptr<const Executable>& executable) {
    const pjrt::ProgramText& text = executable->text;
    if (text.constants.empty() &&
        std::ranges::none_of(text.results, [](const auto& r) { return r.constant != nullptr; }))
      return nullptr;
    MutexLock lock(known_mu_);
    std::shared_ptr<KnownTensors>& known = known_[executable];
    if (known != nullptr && !known->copy_failed) return known;
    auto made = std::make_shared<KnownTensors>();
    const auto copy = [&](const Tensor& tensor) {
      return ToDevice(tensor, [made](const Status& copied) {
        if (!copied.ok()) made->copy_failed = true;
      });
    };
    for (const auto& constant : text.constants) {
      Tensor on_device = FindConstant(*constant);
      if (!on_device.is_valid()) {
        TF_ASSIGN_OR_RETURN(on_device, copy(*constant));
      }
      made->constants.push_back(std::move(on_device));
    }
    for (const auto& result : text.results) {
      Tensor& on_device = made->results.emplace_back();
      if (result.constant == nullptr) continue;
      TF_ASSIGN_OR_RETURN(on_device, copy(*result.constant));
    }
    return known = std::move(made);
  }

  // Not valid if no program has it.
  Tensor FindConstant(const Tensor& constant) const TB_REQUIRES(known_mu_) {
    for (const auto& [executable, known] : known_) {
      if (known == nullptr || known->copy_failed) continue;
      for (size_t i = 0; i < known->constants.size(); ++i) {
        const Tensor& other = *executable->text.constants[i];
        const bool is_same_type = other.dtype() == constant.dtype() && other.shape() == constant.shape();
        if (is_same_type && other.raw_data() == constant.raw_data()) return known->constants[i];
      }
    }
    return Tensor();
  }

  // Enqueues a copy of a tensor in host memory, and returns its place on the device. Calls `done` when it is copied.
  StatusOr<Tensor> ToDevice(const Tensor& tensor, std::function<void(const Status&)> done) const {
    TF_ASSIGN_OR_RETURN(pjrt::Client* const client, device_.client());
    TF_ASSIGN_OR_RETURN(Tensor on_device, NewTensor(tensor.dtype(), tensor.shape(), device_.allocator()));
    pjrt::Event copied;
    TF_ASSIGN_OR_RETURN(RefPtr<pjrt::Array> array, client->ToDevice(tensor, device_.index(), &copied));
    TF_RETURN_IF_ERROR(Put(std::move(array), nullptr, on_device));
    copied.OnReady([tensor, done = std::move(done)](const Status& status) { done(status); });
    return on_device;
  }

  // Enqueues the program, sets the outputs and gives the variables their new values. The run has then ended, unless the
  // program has an error word.
  StatusOr<std::optional<ErrorWait>> Execute(ClusterRun& run, const std::shared_ptr<const Executable>& executable,
                                             LockedVariables& locked) {
    const pjrt::ProgramText& text = executable->text;
    TF_ASSIGN_OR_RETURN(const std::shared_ptr<const KnownTensors> known, KnownOf(executable));
    std::vector<const Tensor*> inputs;
    for (const int argument : text.parameters) inputs.push_back(&ValueOf(argument, run, locked));
    if (known != nullptr) {
      for (const Tensor& constant : known->constants) inputs.push_back(&constant);
    }
    Tensor streams;
    if (!text.streams.empty()) {
      TF_ASSIGN_OR_RETURN(streams, TakeStreams(text));
      inputs.push_back(&streams);
    }
    std::vector<int> kept;
    for (const auto& update : text.updates) {
      if (update.aliased >= 0 && !inputs[update.aliased]->IsWritable()) kept.push_back(update.aliased);
    }
    std::sort(kept.begin(), kept.end());
    auto enqueued = executable->program->Run(inputs, kept, device_.index());
    if (!enqueued.ok()) return LoseConsumed(run, text, locked, enqueued.status());
    pjrt::Program::Results results = *std::move(enqueued);
    std::shared_ptr<pjrt::Loss> loss;
    if (!text.updates.empty()) loss = std::make_shared<pjrt::Loss>(LossOfUpdated(run, text));
    device_.Follow(std::move(results.done), loss);
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
    ThreadPool& pool = run->ctx.pool();
    if (!run->Wait(run, name_, CompileLog::WaitFor::kDevice)) return;
    const Tensor on_device = wait.on_device, on_host = wait.on_host;
    auto end = [self = shared_from_this(), run, executable = std::move(executable),
                wait = std::move(wait)](const Status& copied) {
      const Status status = copied.ok() ? executable->text.checks.ErrorOf(wait.on_host.data<int64_t>()) : copied;
      if (status.ok()) self->Assign(*run, wait.values);
      run->End(status);
    };
    device_.Copy(on_device, on_host, [run, &pool, end = std::move(end)](const Status& copied) {
      // The pool exists as long as a run of a step.
      if (run->Resume()) pool.Schedule([end, copied] { end(copied); });
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

  // Reserves the random numbers of one run. Returns the program's last argument.
  StatusOr<Tensor> TakeStreams(const pjrt::ProgramText& text) const {
    const auto [dtype, shape] = text.StreamsType();
    Tensor places(dtype, shape);
    auto to = places.mutable_data<uint64_t>().begin();
    for (const auto& stream : text.streams) {
      TF_ASSIGN_OR_RETURN(const std::shared_ptr<Kernel> kernel, KernelThatDraws(*stream.node));
      auto* const stateful = dynamic_cast<StatefulKernel*>(kernel.get());
      auto* const random = stateful == nullptr ? nullptr : dynamic_cast<RandomStream*>(stateful->state());
      if (random == nullptr) return Internal(stream.node->Describe(), " has no stream of random numbers");
      const RandomStream::Place place = random->TakeElements(stream.elements);
      for (const uint64_t word : {place.key, place.low, place.high}) *to++ = word;
    }
    return ToDevice(places, [](const Status&) {});
  }

  static Status Put(RefPtr<pjrt::Array> array, std::shared_ptr<const pjrt::Loss> loss, const Tensor& tensor) {
    TF_ASSIGN_OR_RETURN(pjrt::DeviceBuffer * buffer, pjrt::DeviceBuffer::Of(tensor));
    buffer->Set(std::move(array), std::move(loss));
    return OkStatus();
  }

  // The program has failed before it was enqueued. Marks the variables whose values the plugin has consumed all the
  // same, and returns the error of the run.
  Status LoseConsumed(const ClusterRun& run, const pjrt::ProgramText& text, const LockedVariables& locked,
                      const Status& error) const {
    std::vector<int> lost;
    std::vector<pjrt::DeviceBuffer*> buffers;
    for (const auto& update : text.updates) {
      if (update.aliased < 0) continue;
      TF_ASSIGN_OR_RETURN(auto* const buffer, pjrt::DeviceBuffer::Of(ValueOf(update.argument, run, locked)));
      if (buffer->array()) continue;
      lost.push_back(run.variable_of[update.argument]);
      buffers.push_back(buffer);
    }
    if (lost.empty()) return error;
    const auto loss = std::make_shared<pjrt::Loss>(std::make_shared<const std::string>(LossOf(run, lost)));
    const Status aborted = loss->Happen(error);
    for (pjrt::DeviceBuffer* buffer : buffers) buffer->Lose(loss);
    return aborted;
  }

  // "the variables 'w' and 'b' on /device:XLA_CPU:0 have lost their values".
  std::string LossOf(const ClusterRun& run, const std::vector<int>& numbers) const {
    std::string names = numbers.size() == 1 ? "the variable " : "the variables ";
    for (size_t i = 0; i < numbers.size(); ++i) {
      names += StrCat(i == 0                    ? ""
                      : i + 1 == numbers.size() ? " and "
                                                : ", ",
                      "'", run.variables[numbers[i]]->name(), "'");
    }
    return StrCat(names, " on ", body_->nodes.back()->device(),
                  numbers.size() == 1 ? " has lost its value" : " have lost their values");
  }

  // LossOf all variables that a program updates. Runs mostly have the same variables, so the text is kept.
  std::shared_ptr<const std::string> LossOfUpdated(const ClusterRun& run, const pjrt::ProgramText& text) {
    std::vector<int> numbers;
    std::vector<const VariableResource*> updated;
    for (const auto& update : text.updates) {
      numbers.push_back(run.variable_of[update.argument]);
      updated.push_back(run.variables[numbers.back()].get());
    }
    MutexLock lock(mu_);
    if (loss_of_updated_ == nullptr || updated != updated_) {
      loss_of_updated_ = std::make_shared<const std::string>(LossOf(run, numbers));
      updated_ = std::move(updated);
    }
    return loss_of_updated_;
  }

  const std::shared_ptr<const ClusterBody> body_;
  pjrt::PjrtDevice& device_;
  const std::string name_;
  const HostSubstituteUse substitute_use_;
  std::map<const Node*, StatusOr<std::shared_ptr<Kernel>>> drawing_;  // the nodes that draw random numbers
  Mutex substitute_mu_;
  // Not set while no run has needed it; then an error if the host cannot run the nodes.
  std::optional<StatusOr<std::unique_ptr<HostSubstitute>>> substitute_ TB_GUARDED_BY(substitute_mu_);
  Mutex mu_;
  std::map<std::string, std::shared_ptr<const Executable>> executables_ TB_GUARDED_BY(mu_);  // keyed by signature
  // Signatures whose programs are made while no step waits for them, and those whose last compilation has failed.
  std::set<std::string> being_made_ TB_GUARDED_BY(mu_), failed_ TB_GUARDED_BY(mu_);
  Mutex known_mu_;  // taken after mu_
  std::map<std::shared_ptr<const Executable>, std::shared_ptr<KnownTensors>> known_ TB_GUARDED_BY(known_mu_);
  SignatureLimit limit_ TB_GUARDED_BY(mu_){body_->nodes};
  std::shared_ptr<const std::string> loss_of_updated_ TB_GUARDED_BY(mu_);  // of the variables `updated_`
  std::vector<const VariableResource*> updated_ TB_GUARDED_BY(mu_);
};

class ClusterKernel final : public AsyncKernel, public KernelStatesUser {
 public:
  explicit ClusterKernel(const KernelConstruction& c)
      : cluster_(
            std::make_shared<Cluster>(ImplOf(*c.node().graph()).extension<ClusterBodies>().at(c.attr<int64_t>("body")),
                                      static_cast<pjrt::PjrtDevice&>(c.local_device()))) {}
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
