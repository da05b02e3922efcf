#include "executor/frame_step.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "core/errors/error_rank.h"
#include "core/system/denormals.h"
#include "core/system/file_access.h"
#include "core/text/strings.h"
#include "executor/device_copies.h"
#include "executor/scheduling.h"
#include "graph/model/node_status.h"
#include "runtime/kernel/step_tracer.h"

namespace tensorbraid {
namespace {

// After this many nodes, a thread hands the rest of its ready nodes to the pool. So a long loop holds up neither a
// client with a deadline, nor other work of the pool, nor the messages of a transport thread.
constexpr int kSlice = 2048;
constexpr int kTransportSlice = 128;

// Hashes a pair with the finalizer of SplitMix64. Frame ids are made with it, so they are equal on every task.
uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9E3779B97F4A7C15u + b + 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

class FrameStep {
 public:
  using Done = std::function<void(const Status& status, std::vector<Tensor> retvals)>;
  FrameStep(std::shared_ptr<const Plan> plan, const StepEnvironment& env, const FrameStepOptions& options, Done done);
  // Starts the step. The object deletes itself when the step ends.
  void Start(std::vector<Tensor> args);

 private:
  struct FrameRun;
  // What a node still waits for, in one iteration.
  struct NodeState {
    int pending = 0;     // missing inputs and control edges; for a Merge, missing control edges
    int dead = 0;        // dead inputs and control edges; for a Merge, dead inputs
    bool live = false;   // a live input has arrived; used for a Merge
    bool fired = false;  // for a Merge: it has been made ready
  };
  struct Iteration {
    FrameRun* frame = nullptr;
    uint64_t number = 0;
    std::vector<Entry> slots;
    std::vector<NodeState> states;
    int outstanding = 0;  // nodes that are ready or running
    int children = 0;     // inner frames that have not ended
  };
  struct Invariant {
    int node;  // a constant Enter
    Entry value;
    bool dead;
  };
  struct FrameRun {
    int frame = 0;                                      // index into the frames of the plan's flow
    uint64_t id = 0;                                    // equal on every task
    Iteration* parent = nullptr;                        // null outside of all loops
    std::deque<std::unique_ptr<Iteration>> iterations;  // in flight, in order
    uint64_t next_number = 0;
    int waiting_enters = 0;  // Enters that have not run yet
    std::vector<Invariant> invariants;
    std::vector<std::pair<int, Entry>> deferred;  // NextIterations that wait for an iteration to end
    std::vector<int> exited;                      // Exits that had a live input
  };
  struct Ready {
    int node;
    Iteration* iteration;
    bool dead;
  };
  using ReadyList = std::vector<Ready>;
  struct AsyncRun;
  // Shared with the cancellation callback, which may still be running when the step ends.
  struct Cancelled {
    std::atomic<bool> flag{false};
    Mutex mu;
    Status why TB_GUARDED_BY(mu);
  };

  const Plan::PlanNode& node(int i) const { return plan_->nodes()[i]; }
  const Plan::FlowNode& flow(int i) const { return plan_->flow()->nodes[i]; }
  const Plan::FlowFrame& flow_frame(const FrameRun& f) const { return plan_->flow()->frames[f.frame]; }
  std::span<Entry> InputsOf(const Ready& r) const {
    return {r.iteration->slots.data() + flow(r.node).first_slot, static_cast<size_t>(node(r.node).num_inputs)};
  }
  bool stopped() const {
    return failed_.load(std::memory_order_relaxed) || cancelled_->flag.load(std::memory_order_relaxed);
  }

  // Runs the ready nodes, and the nodes that they make ready. The step may be deleted when this returns.
  void Process(ReadyList ready);
  void RunNode(const Ready& r, ReadyList* ready);
  void StartAsync(const Ready& r, ReadyList* ready);
  // Finishes the node of an asynchronous kernel that has called back. Deletes `run`.
  void FinishAsync(AsyncRun* run, ReadyList* ready);
  // Passes on the outputs of a node that has run or is dead. If no node was made ready, the step may be deleted when
  // this returns.
  void Finish(const Ready& r, std::span<Entry> outputs, const Status& status, ReadyList* ready);
  void Fail(const Plan::PlanNode& p, const Status& status);
  void NodesDone(int count);
  void End();

  void Propagate(const Ready& r, std::span<Entry> outputs, ReadyList* ready) TB_REQUIRES(mu_);
  // Delivers all outputs of a node to its consumers in iteration `to`. If `last`, moves the values instead of copying.
  void DeliverAll(int from, std::span<Entry> outputs, bool dead, bool last, Iteration* to, ReadyList* ready)
      TB_REQUIRES(mu_);
  void Deliver(const Plan::DataEdge& edge, Entry value, bool dead, Iteration* to, ReadyList* ready) TB_REQUIRES(mu_);
  void DeliverControl(int to_node, bool dead, Iteration* to, ReadyList* ready) TB_REQUIRES(mu_);
  void MakeReadyIfComplete(int to_node, NodeState* state, Iteration* to, ReadyList* ready) TB_REQUIRES(mu_);
  void MakeReady(int to_node, bool dead, Iteration* to, ReadyList* ready) TB_REQUIRES(mu_);
  FrameRun* FindOrMakeFrame(Iteration* parent, int frame) TB_REQUIRES(mu_);
  Iteration* BeginIteration(FrameRun* f, ReadyList* ready) TB_REQUIRES(mu_);
  // Ends the iterations and frames that are complete, from `f` outwards.
  void CleanUp(FrameRun* f, ReadyList* ready) TB_REQUIRES(mu_);

  const std::shared_ptr<const Plan> plan_;
  const FileAccess* const files_;  // the files that kernels may use; null if they may use all
  StepEnvironment env_;
  const FrameStepOptions options_;
  StepResources step_resources_;
  Done done_;
  const std::shared_ptr<Cancelled> cancelled_ = std::make_shared<Cancelled>();
  CancellationManager::Token token_ = 0;
  bool registered_ = false;
  std::vector<Tensor> retvals_;
  std::atomic<int> running_{1};  // nodes that are ready or running, plus 1 while Start runs
  std::atomic<bool> failed_{false};

  Mutex mu_;
  Status status_ TB_GUARDED_BY(mu_);
  FrameRun root_ TB_GUARDED_BY(mu_);
  absl::flat_hash_map<std::pair<Iteration*, int>, std::unique_ptr<FrameRun>> frames_ TB_GUARDED_BY(mu_);
  // Ended iterations, kept for reuse, by frame of the plan.
  std::vector<std::vector<std::unique_ptr<Iteration>>> spare_ TB_GUARDED_BY(mu_);
};

struct FrameStep::AsyncRun {
  AsyncRun(FrameStep* step, const Ready& r)
      : ready(r),
        start_ns(step->env_.tracer == nullptr ? 0 : StepTracer::Now()),
        outputs(step->node(r.node).num_outputs),
        context(*step->node(r.node).node, step->InputsOf(r), {outputs.data(), outputs.size()}, step->env_,
                *step->node(r.node).memory, {r.iteration->frame->id, r.iteration->number}) {}
  const Ready ready;
  const int64_t start_ns;  // 0 if the step is not traced
  absl::InlinedVector<Entry, 1> outputs;
  KernelContext context;
  // Set by the first of two events: the kernel calls back, or ComputeAsync returns. The second event finishes the node.
  // So a kernel that calls back at once returns to the loop in Process, and a loop over such kernels does not recurse.
  std::atomic<bool> first_event_seen{false};
  Status status;  // written by the callback before it sets first_event_seen
};

FrameStep::FrameStep(std::shared_ptr<const Plan> plan, const StepEnvironment& env, const FrameStepOptions& options,
                     Done done)
    : plan_(std::move(plan)),
      files_(CurrentFileAccess()),
      env_(env),
      options_(options),
      step_resources_(env.resources),
      done_(std::move(done)),
      retvals_(plan_->num_retvals()) {
  env_.step_resources = &step_resources_;
  spare_.resize(plan_->flow()->frames.size());
}

void FrameStep::Start(std::vector<Tensor> args) {
  if (env_.cancellation != nullptr) {
    const auto on_cancel = [cancelled = cancelled_](const Status& why) {
      MutexLock lock(cancelled->mu);
      cancelled->why = why;
      cancelled->flag.store(true);
    };
    registered_ = env_.cancellation->Register(on_cancel, &token_);
    if (!registered_) on_cancel(env_.cancellation->status());
  }
  ReadyList ready;
  {
    MutexLock lock(mu_);
    Iteration* const it = BeginIteration(&root_, &ready);
    for (size_t i = 0; i < plan_->args().size(); ++i) {
      const Entry entry{.value = i < args.size() ? std::move(args[i]) : Tensor(), .ref = nullptr};
      for (const Plan::DataEdge& e : plan_->args()[i]) Deliver(e, entry, false, it, &ready);
      for (int to : plan_->arg_controls(static_cast<int>(i))) DeliverControl(to, false, it, &ready);
    }
    // Process takes nodes from the back, so _Recv nodes run first.
    const auto& roots = plan_->roots();
    for (auto root = roots.rbegin(); root != roots.rend(); ++root) MakeReady(*root, false, it, &ready);
    running_.fetch_add(static_cast<int>(ready.size()), std::memory_order_relaxed);
  }
  args.clear();
  Process(std::move(ready));
  NodesDone(1);
}

void FrameStep::Process(ReadyList ready) {
  const ScopedFlushDenormals flush;
  const ScopedFileAccess scope(files_);  // the calling thread may belong to another step, which woke this step
  const BusyScope busy(options_.work);
  int left = transport_depth > 0 ? kTransportSlice : kSlice;
  while (!ready.empty()) {
    if (stopped()) return NodesDone(static_cast<int>(ready.size()));
    if (left-- == 0) {
      return env_.pool->Schedule([this, rest = std::move(ready)]() mutable { Process(std::move(rest)); });
    }
    const Ready r = ready.back();
    ready.pop_back();
    const Plan::PlanNode& p = node(r.node);
    if (r.dead && !flow(r.node).is_transfer) {
      for (Entry& e : InputsOf(r)) e = Entry();
      absl::InlinedVector<Entry, 2> outputs(p.num_outputs);
      Finish(r, {outputs.data(), outputs.size()}, OkStatus(), &ready);
    } else if (p.kind == Plan::Kind::kAsync) {
      StartAsync(r, &ready);
    } else if ((!ready.empty() || transport_depth > 0) && IsHeavy(p, InputsOf(r))) {
      env_.pool->Schedule([this, r] {
        const BusyScope busy(options_.work);
        ReadyList made_ready;
        RunNode(r, &made_ready);
        if (!made_ready.empty()) Process(std::move(made_ready));
      });
    } else {
      RunNode(r, &ready);
    }
  }
}

void FrameStep::RunNode(const Ready& r, ReadyList* ready) {
  const Plan::PlanNode& p = node(r.node);
  const std::span<Entry> inputs = InputsOf(r);
  StepTracer* const tracer = env_.tracer;
  const int64_t start_ns = tracer == nullptr ? 0 : StepTracer::Now();
  if (r.dead) {  // a _Send; if only a control input is dead, its value has arrived, but must not be sent
    for (Entry& e : inputs) e = Entry();
  }
  Status status = PrepareInputs(p, inputs);
  absl::InlinedVector<Entry, 2> outputs(p.num_outputs);
  if (status.ok()) {
    if (p.kind == Plan::Kind::kRetval) {
      retvals_[p.retval] = std::move(inputs[0].value);
    } else {
      KernelContext context(*p.node, inputs, {outputs.data(), outputs.size()}, env_, *p.memory,
                            {r.iteration->frame->id, r.iteration->number});
      status = Compute(*p.kernel, context);
    }
  }
  for (Entry& e : inputs) e = Entry();
  if (tracer != nullptr) [[unlikely]]
    tracer->Record(*p.node, start_ns, outputs);
  Finish(r, {outputs.data(), outputs.size()}, status, ready);
}

void FrameStep::StartAsync(const Ready& r, ReadyList* ready) {
  const Plan::PlanNode& p = node(r.node);
  if (const Status status = PrepareInputs(p, InputsOf(r)); !status.ok()) {
    Fail(p, status);
    return NodesDone(1);
  }
  auto* run = new AsyncRun(this, r);
  if (options_.waits != nullptr) options_.waits->Begin(p);
  p.async->ComputeAsync(run->context, [this, run](Status status) {
    run->status = std::move(status);
    if (!run->first_event_seen.exchange(true)) return;
    ReadyList made_ready;
    FinishAsync(run, &made_ready);
    if (!made_ready.empty()) Process(std::move(made_ready));
  });
  if (run->first_event_seen.exchange(true)) FinishAsync(run, ready);
}

void FrameStep::FinishAsync(AsyncRun* run, ReadyList* ready) {
  const std::unique_ptr<AsyncRun> owned(run);
  if (options_.waits != nullptr) options_.waits->End(node(run->ready.node));
  for (Entry& e : InputsOf(run->ready)) e = Entry();
  if (env_.tracer != nullptr) env_.tracer->Record(*node(run->ready.node).node, run->start_ns, run->outputs);
  Finish(run->ready, {run->outputs.data(), run->outputs.size()}, run->status, ready);
}

void FrameStep::Finish(const Ready& r, std::span<Entry> outputs, const Status& status, ReadyList* ready) {
  if (!status.ok()) {
    Fail(node(r.node), status);
    return NodesDone(1);
  }
  if (stopped()) return NodesDone(1);
  const size_t before = ready->size();
  {
    MutexLock lock(mu_);
    Propagate(r, outputs, ready);
    --r.iteration->outstanding;
    CleanUp(r.iteration->frame, ready);
  }
  // Nodes that were made ready are counted before this node is subtracted, so that the step cannot end in between.
  const int made = static_cast<int>(ready->size() - before);
  if (made > 1) {
    running_.fetch_add(made - 1, std::memory_order_relaxed);
  } else if (made == 0) {
    NodesDone(1);
  }
}

void FrameStep::Propagate(const Ready& r, std::span<Entry> outputs, ReadyList* ready) {
  const Plan::FlowNode& n = flow(r.node);
  Iteration* const here = r.iteration;
  FrameRun* const frame = here->frame;
  bool dead = r.dead && n.kind != FlowKind::kControlTrigger;
  if (n.is_transfer) dead = outputs.empty() ? r.dead : !outputs[0].value.is_valid();
  switch (n.kind) {
    case FlowKind::kEnter: {
      FrameRun* const into = FindOrMakeFrame(here, n.child);
      --into->waiting_enters;
      if (n.is_constant) {
        for (const auto& it : into->iterations) DeliverAll(r.node, outputs, dead, false, it.get(), ready);
        into->invariants.push_back({r.node, std::move(outputs[0]), dead});
      } else {
        DeliverAll(r.node, outputs, dead, true, into->iterations.front().get(), ready);
      }
      return CleanUp(into, ready);
    }
    case FlowKind::kExit:
      // Whether an Exit is dead is known only when the loop has ended (see CleanUp). An Exit that is live in a second
      // iteration is an error in the graph; its later values are ignored.
      if (dead || std::find(frame->exited.begin(), frame->exited.end(), r.node) != frame->exited.end()) return;
      frame->exited.push_back(r.node);
      return DeliverAll(r.node, outputs, false, true, frame->parent, ready);
    case FlowKind::kNextIteration: {
      if (dead) return;
      const uint64_t next = here->number + 1;
      if (next < frame->next_number) {
        Iteration* const it = frame->iterations[next - frame->iterations.front()->number].get();
        return DeliverAll(r.node, outputs, false, true, it, ready);
      }
      if (static_cast<int>(frame->iterations.size()) >= flow_frame(*frame).parallel_iterations) {
        frame->deferred.emplace_back(r.node, std::move(outputs[0]));
        return;
      }
      return DeliverAll(r.node, outputs, false, true, BeginIteration(frame, ready), ready);
    }
    default:
      DeliverAll(r.node, outputs, dead, true, here, ready);
  }
}

void FrameStep::DeliverAll(int from, std::span<Entry> outputs, bool dead, bool last, Iteration* to, ReadyList* ready) {
  const Plan::PlanNode& p = node(from);
  const bool may_give_dead = flow(from).may_give_dead;
  const Plan::DataEdge* const edges = plan_->data_edges().data();
  for (int i = p.data_begin; i < p.data_end; ++i) {
    Entry& value = outputs[edges[i].output];
    const bool edge_dead = dead || (may_give_dead && !value.value.is_valid() && !value.ref);
    // The last edge of an output moves the value, so that a single consumer can reuse the buffer.
    const bool take = last && (i + 1 == p.data_end || edges[i + 1].output != edges[i].output);
    if (take) {
      Deliver(edges[i], std::move(value), edge_dead, to, ready);
    } else {
      Deliver(edges[i], value, edge_dead, to, ready);
    }
  }
  const int* const controls = plan_->control_edges().data();
  for (int i = p.control_begin; i < p.control_end; ++i) DeliverControl(controls[i], dead, to, ready);
}

void FrameStep::Deliver(const Plan::DataEdge& edge, Entry value, bool dead, Iteration* to, ReadyList* ready) {
  const Plan::FlowNode& n = flow(edge.node);
  NodeState& state = to->states[n.local];
  if (dead) {
    ++state.dead;
  } else if (n.kind != FlowKind::kMerge || !state.live) {
    to->slots[n.first_slot + (edge.slot - node(edge.node).first_input)] = std::move(value);
    state.live = true;
  }
  if (n.kind != FlowKind::kMerge) --state.pending;
  MakeReadyIfComplete(edge.node, &state, to, ready);
}

void FrameStep::DeliverControl(int to_node, bool dead, Iteration* to, ReadyList* ready) {
  const Plan::FlowNode& n = flow(to_node);
  NodeState& state = to->states[n.local];
  --state.pending;
  if (dead && n.kind != FlowKind::kMerge) ++state.dead;
  MakeReadyIfComplete(to_node, &state, to, ready);
}

void FrameStep::MakeReadyIfComplete(int to_node, NodeState* state, Iteration* to, ReadyList* ready) {
  if (state->pending > 0) return;
  const Plan::FlowNode& n = flow(to_node);
  if (n.kind != FlowKind::kMerge) return MakeReady(to_node, state->dead > 0, to, ready);
  if (state->fired) return;
  // The Merge of a loop gets its forward inputs only in the first iteration and its back edges only in later ones.
  const int num_back = node(to_node).num_inputs - n.num_forward;
  const int expected = to->number == 0 || num_back == 0 ? n.num_forward : num_back;
  if (!state->live && state->dead < expected) return;
  state->fired = true;
  MakeReady(to_node, !state->live, to, ready);
}

void FrameStep::MakeReady(int to_node, bool dead, Iteration* to, ReadyList* ready) {
  ++to->outstanding;
  ready->push_back({to_node, to, dead && flow(to_node).kind != FlowKind::kControlTrigger});
}

FrameStep::FrameRun* FrameStep::FindOrMakeFrame(Iteration* parent, int frame) {
  std::unique_ptr<FrameRun>& f = frames_[{parent, frame}];
  if (f == nullptr) {
    const Plan::FlowFrame& plan = plan_->flow()->frames[frame];
    f = std::make_unique<FrameRun>();
    f->frame = frame;
    f->id = Mix(Mix(parent->frame->id, parent->number), plan.name_hash) | 1;  // id 0 stands for no loop
    f->parent = parent;
    f->waiting_enters = plan.num_enters;
    ++parent->children;
    BeginIteration(f.get(), nullptr);
  }
  return f.get();
}

FrameStep::Iteration* FrameStep::BeginIteration(FrameRun* f, ReadyList* ready) {
  const Plan::FlowFrame& plan = flow_frame(*f);
  auto& spare = spare_[f->frame];
  std::unique_ptr<Iteration> it;
  if (spare.empty()) {
    it = std::make_unique<Iteration>();
    it->slots.resize(plan.num_slots);
    it->states.resize(plan.num_nodes);
  } else {
    it = std::move(spare.back());
    spare.pop_back();
  }
  for (int i = 0; i < plan.num_nodes; ++i) it->states[i] = {.pending = plan.pending[i]};
  it->frame = f;
  it->number = f->next_number++;
  Iteration* const raw = it.get();
  f->iterations.push_back(std::move(it));
  for (Invariant& v : f->invariants) DeliverAll(v.node, {&v.value, 1}, v.dead, false, raw, ready);
  return raw;
}

void FrameStep::CleanUp(FrameRun* f, ReadyList* ready) {
  constexpr size_t kSpareIterations = 4;
  while (true) {
    while (!f->iterations.empty()) {
      const Iteration& oldest = *f->iterations.front();
      if (oldest.outstanding > 0 || oldest.children > 0 || f->waiting_enters > 0) return;
      std::unique_ptr<Iteration> ended = std::move(f->iterations.front());
      f->iterations.pop_front();
      // A node empties its slots when it runs. Only nodes that never became complete still hold values.
      for (Entry& e : ended->slots) e = Entry();
      if (auto& spare = spare_[f->frame]; spare.size() < kSpareIterations) spare.push_back(std::move(ended));
      if (!f->deferred.empty()) {
        auto deferred = std::move(f->deferred);
        f->deferred.clear();
        Iteration* const it = BeginIteration(f, ready);
        for (auto& [from, value] : deferred) DeliverAll(from, {&value, 1}, false, true, it, ready);
      }
    }
    if (f->parent == nullptr) return;
    Iteration* const parent = f->parent;
    for (int exit : flow_frame(*f).exits) {
      if (std::find(f->exited.begin(), f->exited.end(), exit) != f->exited.end()) continue;
      Entry none;
      DeliverAll(exit, {&none, 1}, true, false, parent, ready);
    }
    --parent->children;
    frames_.erase({parent, f->frame});
    f = parent->frame;
  }
}

void FrameStep::Fail(const Plan::PlanNode& p, const Status& status) {
  const Status named = AtNode(status, *p.node);
  bool first = false;
  {
    MutexLock lock(mu_);
    KeepCause(named, &status_);
    first = !failed_.exchange(true);
  }
  if (first && env_.cancellation != nullptr) env_.cancellation->Cancel(status);
}

void FrameStep::NodesDone(int count) {
  if (running_.fetch_sub(count, std::memory_order_acq_rel) == count) End();
}

void FrameStep::End() {
  // No other thread uses the step now. The cancellation callback may still run, but uses only `cancelled_`, which it
  // shares.
  if (registered_) env_.cancellation->TryDeregister(token_);
  const std::unique_ptr<FrameStep> self(this);
  Status status;
  {
    MutexLock lock(mu_);
    status = status_;
    frames_.clear();
    root_.iterations.clear();
  }
  if (cancelled_->flag.load() && status.ok()) {
    MutexLock lock(cancelled_->mu);
    status = cancelled_->why;
  }
  for (size_t i = 0; i < retvals_.size() && status.ok(); ++i) {
    if (!retvals_[i].is_valid()) status = InvalidArgument("Retval[", i, "] does not have value");
  }
  step_resources_.Clear();
  if (plan_->streams().empty()) [[likely]]
    return done_(status, std::move(retvals_));
  WhenIdle(plan_->streams(), env_.cancellation, env_.pool,
           [plan = plan_, done = std::move(done_), status, retvals = std::move(retvals_)](
               const Status& device) mutable { done(status.ok() ? device : status, std::move(retvals)); });
}

}  // namespace

void RunWithFrames(std::shared_ptr<const Plan> plan, const StepEnvironment& env, std::vector<Tensor> args,
                   const FrameStepOptions& options,
                   std::function<void(const Status& status, std::vector<Tensor> retvals)> done) {
  (new FrameStep(std::move(plan), env, options, std::move(done)))->Start(std::move(args));
}

}  // namespace tensorbraid
