#include "executor/executor.h"

#include <algorithm>
#include <atomic>

#include "absl/container/inlined_vector.h"
#include "core/errors/error_rank.h"
#include "core/system/denormals.h"
#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "executor/clusters/make.h"
#include "executor/device_copies.h"
#include "executor/frame_step.h"
#include "executor/function_runtime.h"
#include "executor/scheduling.h"
#include "graph/model/node_status.h"
#include "pjrt/compile_log.h"
#include "runtime/kernel/step_tracer.h"

namespace tensorbraid {

namespace {

// Waits names at most this many operations of each running step.
constexpr size_t kMostWaits = 4;

// Orders a heap so that the node with the lowest rank is at its front.
struct HigherRank {
  const std::vector<int>& ranks;
  bool operator()(int a, int b) const { return ranks[a] > ranks[b]; }
};

void PushHeap(std::vector<int>* heap, int node, HigherRank order) {
  heap->push_back(node);
  std::push_heap(heap->begin(), heap->end(), order);
}

int PopHeap(std::vector<int>* heap, HigherRank order) {
  std::pop_heap(heap->begin(), heap->end(), order);
  const int node = heap->back();
  heap->pop_back();
  return node;
}

}  // namespace

WaitingOperation DescribeWait(const Node& node) {
  WaitingOperation wait;
  wait.op = node.type();
  wait.node = node.name();
  wait.text = node.Describe();
  if (node.type() == "_Recv") {
    const AttrValue* tensor = node.FindAttr("_tensor");
    const std::string* name = tensor == nullptr ? nullptr : tensor->get<std::string>();
    wait.tensor = name == nullptr ? "?" : *name;
    wait.peer = node.attr<std::string>("peer");
    wait.text = StrCat("tensor '", wait.tensor, "' from ", wait.peer.empty() ? "the client" : ShortTaskName(wait.peer));
  } else if (node.type() == "_Cluster") {
    const std::string program = NameOfProgram(node);
    wait.text = program + CompileLog::Global().DescribeWait(program);
  } else if (!node.inputs().empty()) {
    const DType first = node.declared_input_type(0);
    const bool is_handle = first == DType::kResource || (IsRef(first) && BaseType(first) == kString);
    if (is_handle) {
      wait.resource = NodeOf(node.inputs()[0])->name();
      wait.text += StrCat(" on '", wait.resource, "'");
    }
  }
  return wait;
}

ScopedTransportThread::ScopedTransportThread() { ++transport_depth; }
ScopedTransportThread::~ScopedTransportThread() { --transport_depth; }

// The state of a step, reused for later steps. A finished step leaves `slots` empty; NewStep sets `pending` again.
struct Executor::Step : Executor::Running {
  Step(const Plan& plan, ResourceManager* resources)
      : Running(plan),
        slots(plan.num_slots()),
        pending(plan.nodes().size()),
        retvals(plan.num_retvals()),
        step_resources(resources) {}

  std::span<Entry> inputs(const Plan::PlanNode& p) {
    return {slots.data() + p.first_input, static_cast<size_t>(p.num_inputs)};
  }

  std::vector<Entry> slots;
  std::vector<std::atomic<int>> pending;  // inputs and control inputs that are not ready
  std::atomic<int> outstanding{0};        // nodes that are ready or running, plus 1 while Run starts the step
  std::atomic<bool> failed{false};
  std::vector<Tensor> retvals;
  StepEnvironment env;
  StepResources step_resources;
  Done done;
  std::shared_ptr<Executor> executor;  // a running step keeps its executor alive
  Mutex mu;
  Status status TB_GUARDED_BY(mu);
  // If the plan ranks its nodes: a heap of the nodes that wait for a thread of the pool. The pool has one closure for
  // each of them; a closure runs the node that is then first in the heap.
  std::vector<int> waiting TB_GUARDED_BY(mu);
};

// The outputs and context of an asynchronous kernel until it calls back.
struct Executor::AsyncRun {
  AsyncRun(Step* step, int node, const Plan::PlanNode& p)
      : step(step),
        node(node),
        start_ns(step->env.tracer == nullptr ? 0 : StepTracer::Now()),
        outputs(p.num_outputs),
        context(*p.node, step->inputs(p), {outputs.data(), outputs.size()}, step->env, *p.memory) {}
  Step* const step;
  const int node;
  const int64_t start_ns;  // 0 if the step is not traced
  absl::InlinedVector<Entry, 1> outputs;
  KernelContext context;
};

Executor::Executor(std::shared_ptr<const Plan> plan, ThreadPool* pool, ResourceManager* resources, WorkTime* work)
    : plan_(std::move(plan)), files_(CurrentFileAccess()), pool_(pool), resources_(resources), work_(work) {}
Executor::~Executor() = default;

std::unique_ptr<Executor::Step> Executor::NewStep(const CancellationManager* cancellation) {
  std::unique_ptr<Step> step;
  {
    MutexLock lock(mu_);
    if (free_steps_.empty()) {
      step = std::make_unique<Step>(*plan_, resources_);
    } else {
      step = std::move(free_steps_.back());
      free_steps_.pop_back();
    }
    step->cancellation = cancellation;
    running_steps_.push_back(step.get());
  }
  const auto& nodes = plan_->nodes();
  for (size_t i = 0; i < nodes.size(); ++i) step->pending[i].store(nodes[i].pending, std::memory_order_relaxed);
  step->retvals.resize(plan_->num_retvals());
  return step;
}

void Executor::Run(std::vector<Tensor> args, Rendezvous* rendezvous, CancellationManager* cancellation, Done done,
                   StepTracer* tracer) {
  const ScopedFileAccess scope(files_);
  if (plan_->flow() != nullptr) {
    const StepEnvironment env{.resources = resources_,
                              .pool = pool_,
                              .cancellation = cancellation,
                              .functions = &FunctionRuntimeOfPlans(),
                              .rendezvous = rendezvous,
                              .tracer = tracer};
    return RunFrames(env, std::move(args), std::move(done));
  }
  Step* step = NewStep(cancellation).release();
  step->env = {.resources = resources_,
               .pool = pool_,
               .cancellation = cancellation,
               .functions = &FunctionRuntimeOfPlans(),
               .rendezvous = rendezvous,
               .step_resources = &step->step_resources,
               .tracer = tracer};
  step->done = std::move(done);
  step->executor = shared_from_this();
  // The extra 1 keeps the step from ending before everything has been started.
  step->outstanding.store(1, std::memory_order_relaxed);
  // Process takes nodes from the back, so _Recv nodes run first.
  ReadyList ready(plan_->roots().rbegin(), plan_->roots().rend());
  step->outstanding.fetch_add(static_cast<int>(ready.size()), std::memory_order_relaxed);
  ReadyList from_args;
  for (size_t i = 0; i < plan_->args().size(); ++i) {
    Entry entry{.value = i < args.size() ? std::move(args[i]) : Tensor(), .ref = nullptr};
    const auto& edges = plan_->args()[i];
    Deliver(step, edges.data(), edges.data() + edges.size(), &entry, &from_args);
    for (int node : plan_->arg_controls(static_cast<int>(i))) Release(step, node, &from_args);
  }
  step->outstanding.fetch_add(static_cast<int>(from_args.size()), std::memory_order_relaxed);
  ready.insert(ready.begin(), from_args.begin(), from_args.end());
  Process(step, std::move(ready));
  NodesDone(step, 1);
}

void Executor::RunFrames(const StepEnvironment& env, std::vector<Tensor> args, Done done) {
  auto running = std::make_shared<Running>(*plan_);
  running->cancellation = env.cancellation;
  {
    MutexLock lock(mu_);
    running_steps_.push_back(running.get());
  }
  const FrameStepOptions options{.waits = &running->waits, .work = env.rendezvous == nullptr ? nullptr : work_};
  RunWithFrames(
      plan_, env, std::move(args), options,
      [self = shared_from_this(), running, done = std::move(done)](const Status& status, std::vector<Tensor> retvals) {
        {
          MutexLock lock(self->mu_);
          std::erase(self->running_steps_, running.get());
        }
        done(status, std::move(retvals));
      });
}

std::vector<Executor::StepWaits> Executor::Waits() {
  std::vector<StepWaits> all;
  MutexLock lock(mu_);
  for (const Running* step : running_steps_) {
    StepWaits& waits = all.emplace_back();
    waits.cancellation = step->cancellation;
    step->waits.AppendTo(kMostWaits, &waits.operations);
  }
  return all;
}

std::vector<WaitingOperation> Executor::WaitsOf(const CancellationManager* cancellation) {
  std::vector<WaitingOperation> waits;
  MutexLock lock(mu_);
  for (const Running* step : running_steps_) {
    if (step->cancellation == cancellation) step->waits.AppendTo(kMostWaits, &waits);
  }
  return waits;
}

void Executor::Process(Step* step, ReadyList ready) {
  const ScopedFlushDenormals flush;
  const ScopedFileAccess scope(files_);  // the calling thread may belong to another step, which woke this step
  const BusyScope busy(step->env.rendezvous == nullptr ? nullptr : work_);
  const bool ranked = !plan_->ranks().empty();
  const HigherRank order{plan_->ranks()};
  // `outstanding` includes every node in `ready`. Finished nodes are subtracted together, at the end.
  int finished = 0;
  size_t heap_size = 0;  // if the plan ranks its nodes: how many nodes at the front of `ready` are in heap order
  while (!ready.empty()) {
    if (ranked) {
      while (heap_size < ready.size()) std::push_heap(ready.begin(), ready.begin() + ++heap_size, order);
      std::pop_heap(ready.begin(), ready.begin() + heap_size--, order);
    }
    int node = ready.back();
    ready.pop_back();
    if (step->failed.load(std::memory_order_relaxed)) {
      ++finished;
      continue;
    }
    const bool others = !ready.empty() || transport_depth > 0;  // whether this thread has other work
    if (const Plan::PlanNode& p = plan_->nodes()[node]; (others || ranked) && IsHeavy(p, step->inputs(p))) {
      if (others) {
        HandOver(step, node);
        continue;
      }
      node = ExchangeForLowerRank(step, node);
    }
    const Plan::PlanNode& p = plan_->nodes()[node];
    const size_t before = ready.size();
    if (p.kind == Plan::Kind::kAsync) {
      StartAsync(step, node, &ready);
      continue;
    }
    RunNode(step, node, &ready);
    step->outstanding.fetch_add(static_cast<int>(ready.size() - before), std::memory_order_relaxed);
    ++finished;
  }
  if (finished > 0) NodesDone(step, finished);
}

void Executor::HandOver(Step* step, int node) {
  const bool ranked = !plan_->ranks().empty();
  if (ranked) {
    MutexLock lock(step->mu);
    PushHeap(&step->waiting, node, {plan_->ranks()});
  }
  pool_->Schedule([this, step, node, ranked] {
    const BusyScope busy(step->env.rendezvous == nullptr ? nullptr : work_);
    int next = node;
    if (ranked) {
      MutexLock lock(step->mu);
      next = PopHeap(&step->waiting, {plan_->ranks()});
    }
    ReadyList made_ready;
    RunNode(step, next, &made_ready);
    step->outstanding.fetch_add(static_cast<int>(made_ready.size()), std::memory_order_relaxed);
    Process(step, std::move(made_ready));
    NodesDone(step, 1);
  });
}

int Executor::ExchangeForLowerRank(Step* step, int node) {
  MutexLock lock(step->mu);
  // `node` goes in and one node comes out, so the pool still has a closure for each waiting node.
  PushHeap(&step->waiting, node, {plan_->ranks()});
  return PopHeap(&step->waiting, {plan_->ranks()});
}

void Executor::RunNode(Step* step, int node, ReadyList* ready) {
  const Plan::PlanNode& p = plan_->nodes()[node];
  StepTracer* const tracer = step->env.tracer;
  const int64_t start_ns = tracer == nullptr ? 0 : StepTracer::Now();
  Status status = PrepareInputs(p, step->inputs(p));
  absl::InlinedVector<Entry, 2> outputs(p.num_outputs);
  if (status.ok()) {
    if (p.kind == Plan::Kind::kRetval) {
      step->retvals[p.retval] = std::move(step->slots[p.first_input].value);
    } else {
      KernelContext context(*p.node, step->inputs(p), {outputs.data(), outputs.size()}, step->env, *p.memory);
      status = Compute(*p.kernel, context);
    }
  }
  for (int i = 0; i < p.num_inputs; ++i) step->slots[p.first_input + i] = Entry();
  if (tracer != nullptr) [[unlikely]]
    tracer->Record(*p.node, start_ns, outputs);
  if (!status.ok()) return Fail(step, p, status);
  Propagate(step, p, outputs.data(), ready);
}

void Executor::StartAsync(Step* step, int node, ReadyList* ready) {
  const Plan::PlanNode& p = plan_->nodes()[node];
  if (const Status status = PrepareInputs(p, step->inputs(p)); !status.ok()) {
    Fail(step, p, status);
    return NodesDone(step, 1);
  }
  auto* run = new AsyncRun(step, node, p);
  step->waits.Begin(p);
  p.async->ComputeAsync(run->context, [this, run](const Status& status) {
    std::unique_ptr<AsyncRun> owned(run);
    Step* step = run->step;
    const Plan::PlanNode& p = plan_->nodes()[run->node];
    step->waits.End(p);
    for (int i = 0; i < p.num_inputs; ++i) step->slots[p.first_input + i] = Entry();
    if (step->env.tracer != nullptr) [[unlikely]]
      step->env.tracer->Record(*p.node, run->start_ns, run->outputs);
    ReadyList made_ready;
    if (status.ok()) {
      Propagate(step, p, run->outputs.data(), &made_ready);
    } else {
      Fail(step, p, status);
    }
    owned.reset();
    step->outstanding.fetch_add(static_cast<int>(made_ready.size()), std::memory_order_relaxed);
    Process(step, std::move(made_ready));
    NodesDone(step, 1);
  });
}

void Executor::Deliver(Step* step, const Plan::DataEdge* begin, const Plan::DataEdge* end, Entry* outputs,
                       ReadyList* ready) {
  for (const Plan::DataEdge* e = begin; e != end; ++e) {
    Entry& from = outputs[e->output];
    // The last edge of an output moves the value, so that a single consumer can reuse the buffer.
    const bool last = e + 1 == end || e[1].output != e->output;
    if (last) {
      step->slots[e->slot] = std::move(from);
    } else {
      step->slots[e->slot] = from;
    }
    Release(step, e->node, ready);
  }
}

void Executor::Release(Step* step, int node, ReadyList* ready) {
  if (step->pending[node].fetch_sub(1, std::memory_order_acq_rel) == 1) ready->push_back(node);
}

void Executor::Propagate(Step* step, const Plan::PlanNode& p, Entry* outputs, ReadyList* ready) {
  const Plan::DataEdge* data = plan_->data_edges().data();
  // The caller lets other threads run ready nodes only after this returns. So all values are in place before a thread
  // runs a node that they made ready.
  Deliver(step, data + p.data_begin, data + p.data_end, outputs, ready);
  const int* control = plan_->control_edges().data();
  for (int i = p.control_begin; i < p.control_end; ++i) Release(step, control[i], ready);
}

void Executor::Fail(Step* step, const Plan::PlanNode& p, const Status& status) {
  const Status named = AtNode(status, *p.node);
  bool first = false;
  {
    MutexLock lock(step->mu);
    KeepCause(named, &step->status);
    first = !step->failed.exchange(true);
  }
  if (first && step->env.cancellation != nullptr) step->env.cancellation->Cancel(status);
}

void Executor::NodesDone(Step* step, int count) {
  if (step->outstanding.fetch_sub(count, std::memory_order_acq_rel) != count) return;
  // From here on, no other thread uses the step.
  const std::shared_ptr<Executor> keep = std::move(step->executor);
  Done done = std::move(step->done);
  std::vector<Tensor> retvals = std::move(step->retvals);
  Status status;
  {
    MutexLock lock(step->mu);
    std::swap(status, step->status);
  }
  if (step->failed.exchange(false)) {
    for (Entry& e : step->slots) e = Entry();  // drop values whose consumers did not run
  }
  const CancellationManager* const identity = step->env.cancellation;
  step->env = {};
  step->step_resources.Clear();
  step->retvals.clear();
  {
    MutexLock lock(mu_);
    std::erase(running_steps_, step);
    constexpr size_t kKeptSteps = 4;
    if (free_steps_.size() < kKeptSteps) {
      free_steps_.push_back(std::unique_ptr<Step>(step));
      step = nullptr;
    }
  }
  delete step;
  if (plan_->streams().empty()) [[likely]]
    return done(status, std::move(retvals));
  WhenIdle(plan_->streams(), identity, pool_,
           [keep, done = std::move(done), status, retvals = std::move(retvals)](const Status& device) mutable {
             done(status.ok() ? device : status, std::move(retvals));
           });
}

}  // namespace tensorbraid
