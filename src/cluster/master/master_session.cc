#include "cluster/master/master_session.h"

#include <algorithm>
#include <set>

#include "cluster/exchange/client_edges.h"
#include "cluster/master/await_call.h"
#include "cluster/master/own_accelerators.h"
#include "cluster/worker/dead_accelerators.h"
#include "core/system/clock.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "executor/optimize.h"
#include "executor/step_watch.h"
#include "graph/functions/expand_functions.h"
#include "graph/functions/function.h"
#include "graph/model/fed_variables.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node_status.h"
#include "graph/model/subgraph.h"
#include "partition/partition.h"
#include "placement/placer.h"

namespace tensorbraid {
namespace {

using Clock = MonotonicClock;

// The most compiled signatures that a session keeps. A program usually has only a few.
constexpr size_t kMaxCached = 128;

std::vector<uint64_t> KeyOf(const RunSignature& s) {
  std::vector<uint64_t> key;
  key.reserve(3 + 2 * (s.feeds.size() + s.fetches.size()) + s.targets.size());
  const auto add = [&key](const Output& o) {
    key.push_back(reinterpret_cast<uintptr_t>(NodeOf(o)));
    key.push_back(static_cast<uint64_t>(o.index()));
  };
  for (const auto* list : {&s.feeds, &s.fetches}) {
    key.push_back(list->size());
    for (const Output& o : *list) add(o);
  }
  key.push_back(2 * s.connections.size() + (s.by_client_edges ? 1 : 0));
  for (const auto& [from, to] : s.connections) {
    add(from);
    add(to);
  }
  for (const Operation& op : s.targets) key.push_back(reinterpret_cast<uintptr_t>(NodeOf(op)));
  return key;
}

// TensorFlow's clients look for "Session::Close()" in the message.
Status ClosedSession() { return Cancelled("the step was cancelled by Session::Close()"); }

Status CancelledRun() { return Cancelled("the step was cancelled by Session::CancelRuns()"); }

}  // namespace

Status CheckFeed(const Output& output, const Tensor& value) {
  if (!value.is_valid()) return InvalidArgument("the value fed to '", output.name(), "' is not a valid tensor");
  const TensorSpec spec = FedSpecOf(output);
  if (value.dtype() != spec.dtype) {
    return InvalidArgument("'", output.name(), "' (", NodeOf(output)->location(), ") is ", spec.dtype,
                           " and cannot be fed ", value.dtype(), value.shape());
  }
  if (!spec.shape.IsCompatibleWith(value.shape())) {
    return InvalidArgument("'", output.name(), "' (", NodeOf(output)->location(), ") has shape ", spec.shape,
                           " and cannot be fed a tensor of shape ", value.shape());
  }
  return OkStatus();
}

Status CheckFeeds(const RunSignature& signature, const std::vector<Tensor>& values) {
  for (size_t i = 0; i < signature.feeds.size(); ++i) {
    const Output& output = signature.feeds[i];
    if (i < values.size()) TF_RETURN_IF_ERROR(CheckFeed(output, values[i]));
    if (std::find(signature.feeds.begin(), signature.feeds.begin() + static_cast<int64_t>(i), output) !=
        signature.feeds.begin() + static_cast<int64_t>(i)) {
      return InvalidArgument("'", output.name(), "' is fed twice");
    }
  }
  for (const auto& [from, to] : signature.connections) {
    if (std::ranges::find(signature.fetches, to) != signature.fetches.end()) {
      return InvalidArgument("'", to.name(), "' is both connected and fetched");
    }
  }
  return OkStatus();
}

MasterSession::MasterSession(MasterEnv* env, const Graph* graph, SessionId id, MasterSessionOptions options)
    : env_(env), graph_(*graph), id_(id), options_(options) {}

MasterSession::~MasterSession() { Close(); }

std::shared_ptr<CompiledGraph> MasterSession::FindPrepared(const RunSignature& signature) {
  return FindCached(KeyOf(signature));
}

std::shared_ptr<CompiledGraph> MasterSession::FindCached(const Key& key) {
  MutexLock lock(mu_);
  const auto it = cache_.find(key);
  if (it == cache_.end()) return nullptr;
  it->second.last_used = ++uses_;
  return it->second.graph;
}

StatusOr<std::shared_ptr<CompiledGraph>> MasterSession::Prepare(const RunSignature& signature, Deadline deadline) {
  Key key = KeyOf(signature);
  if (auto found = FindCached(key)) return found;
  const uint64_t cancellations = cancellations_;
  MutexLock compiling(compile_mu_);
  cancellations_before_ = cancellations;
  if (auto found = FindCached(key)) return found;
  TF_ASSIGN_OR_RETURN(auto compiled, Compile(signature, deadline));
  std::shared_ptr<CompiledGraph> dropped;
  {
    MutexLock lock(mu_);
    if (closed_) return Cancelled("the session is closed");
    if (cache_.size() >= kMaxCached) {
      const auto oldest = std::min_element(cache_.begin(), cache_.end(), [](const auto& a, const auto& b) {
        return a.second.last_used < b.second.last_used;
      });
      dropped = oldest->second.graph;
      cache_.erase(oldest);
    }
    cache_[std::move(key)] = {compiled, ++uses_};
  }
  return compiled;
}

StatusOr<std::shared_ptr<CompiledGraph>> MasterSession::Compile(const RunSignature& s, Deadline deadline) {
  while (true) {
    auto compiled = CompileOnce(s, deadline);
    if (compiled.ok()) return compiled;
    if (!options_.allow_soft_placement) return AdviseSoftPlacement(compiled.status());
    if (!NoteDeadAccelerators(compiled.status())) return compiled;
  }
}

bool MasterSession::NoteDeadAccelerators(const Status& status) {
  const auto dead = DeadAcceleratorsOf(status);
  if (!dead.has_value() || std::ranges::find(dead_accelerators_, *dead) != dead_accelerators_.end()) return false;
  TB_LOG(Warning, "placement") << "the CPU computes what is placed on " << dead->ToString()
                               << ", since these devices cannot be used: " << status;
  dead_accelerators_.push_back(*dead);
  return true;
}

StatusOr<std::shared_ptr<CompiledGraph>> MasterSession::CompileOnce(const RunSignature& s, Deadline deadline) {
  const ScopedFileAccess scope(env_->worker->FileLimit(options_.limited_files));  // for the folding of constants
  const StillWanted still_wanted = [this]() TB_NO_THREAD_SAFETY_ANALYSIS { return CheckWanted(); };
  std::unique_ptr<Graph> graph;
  {
    MutexLock lock(graph_mu_);
    const GraphUse use = graph_.Use();
    TF_RETURN_IF_ERROR(use.CheckExists("a step"));
    TF_ASSIGN_OR_RETURN(graph,
                        ExtractSubgraph(*use, s.feeds, s.fetches, s.targets, s.connections, FetchedVariables::kRead));
  }
  TF_ASSIGN_OR_RETURN(auto expanded, ExpandFunctions(*graph, still_wanted));
  if (expanded != nullptr) graph = std::move(expanded);
  TF_ASSIGN_OR_RETURN(auto with_values, ReplaceFedVariables(*graph));
  if (with_values != nullptr) graph = std::move(with_values);
  const std::string home = env_->worker->devices().front().ToString();
  for (const auto& node : ImplOf(*graph).nodes()) {
    // The client exchanges feeds and fetches with the master, so they belong on the master's task.
    if (node->type() == "_Arg" || node->type() == "_Retval") node->set_device(home);
  }
  TF_RETURN_IF_ERROR(ConnectTasksOf(*graph, deadline));
  const auto view = env_->membership->view();
  std::vector<DeviceName> devices = DeviceNamesOf(*view, options_.device_filters);
  if (options_.allow_soft_placement) RemoveDeadAccelerators(*graph, view->self, &devices);
  std::erase_if(devices, [this](const DeviceName& d) TB_NO_THREAD_SAFETY_ANALYSIS {
    return std::ranges::any_of(dead_accelerators_, [&](const DeviceName& dead) { return dead.Matches(d); });
  });
  TF_RETURN_IF_ERROR(PlaceNodes(
      graph.get(), {.devices = devices,
                    .allow_soft_placement = options_.allow_soft_placement,
                    .log_placement = options_.log_device_placement,
                    .why_missing = [&](const DeviceName& d) { return WhyNoAccelerator(d, view->self, devices); },
                    .can_be_used = [&](const DeviceName& d) { return CanPreferGpu(d, *view); }}));
  TF_RETURN_IF_ERROR(Optimize(graph.get(), options_.optimize, still_wanted));
  TF_RETURN_IF_ERROR(CheckWanted());
  const bool lasts_with_session =
      std::ranges::any_of(ImplOf(*graph).nodes(), [](const auto& node) { return LastsWithSession(*node); });
  TF_ASSIGN_OR_RETURN(auto parts,
                      PartitionByTask(*graph, env_->wire, s.by_client_edges ? Feeding::kInParts : Feeding::kAtOnce));
  // The tasks keep the graph until its last reference is released: a prepared or running signature may have been
  // evicted from the cache.
  const std::shared_ptr<CompiledGraph> compiled(new CompiledGraph, [weak = weak_from_this()](CompiledGraph* dropped) {
    if (const auto session = weak.lock()) session->Drop(*dropped);
    delete dropped;
  });
  {
    MutexLock lock(mu_);
    if (closed_) return Cancelled("the session is closed");
    compiled->handle = next_handle_++;
    compiled->lasts_with_session = lasts_with_session;
  }
  auto own = std::make_unique<Graph>();
  for (auto& [task, part] : parts) {
    if (task == env_->task) {
      own = std::move(part);
      continue;
    }
    // Sends along the functions that kernels of the partition run.
    ImplOf(*part).set_functions(
        std::make_shared<FunctionLibrary>(ImplOf(*part).functions()->ReachableFrom(ImplOf(*part))));
    auto def = part->ToGraphDef();
    if (!def.ok()) return Annotate(def.status(), StrCat("the part of the graph for ", ShortTaskName(task)));
    compiled->remote.push_back({.task = task, .graph_def = *std::move(def), .worker = nullptr});
  }
  if (s.by_client_edges) {
    TF_ASSIGN_OR_RETURN(own, WithClientEdges(*own));
  }
  for (auto& part : compiled->remote) TF_RETURN_IF_ERROR(RegisterPart(&part, compiled->handle, deadline));
  compiled->is_local_only = compiled->remote.empty();
  auto local =
      env_->worker->Register(id_, compiled->handle, std::move(own), options_.isolated_state, options_.limited_files);
  if (const Status open = CheckOpen(); !open.ok()) {
    env_->worker->Close(id_);  // Close may have come before Register
    return open;
  }
  TF_ASSIGN_OR_RETURN(compiled->local, std::move(local));
  return compiled;
}

Status MasterSession::ConnectTasksOf(const Graph& graph, Deadline deadline) {
  const std::vector<ClusterDevice> devices = DevicesOf(*env_->membership->view(), options_.device_filters);
  std::set<std::string> asked;  // device names as the nodes have them
  std::set<std::string> tasks;
  for (const auto& node : ImplOf(graph).nodes()) {
    if (node->device().empty() || !asked.insert(node->device()).second) continue;
    const auto device = DeviceName::Parse(node->device());
    if (!device.ok() || !device->job.has_value()) continue;
    if (device->task.has_value()) {
      tasks.insert(FullTaskName(*device->job, *device->task));
      continue;
    }
    // A node that names a job goes to its first task, and prefers a GPU if this task has one.
    const auto first = std::ranges::find_if(devices, [&](const ClusterDevice& d) { return device->Matches(d.name); });
    if (first == devices.end() || first->is_local) continue;
    const std::string task = first->name.TaskString();
    const bool may_have_gpu = std::ranges::any_of(
        devices, [&](const ClusterDevice& d) { return d.name.type == "GPU" && d.name.TaskString() == task; });
    if (may_have_gpu) tasks.insert(task);
  }
  std::set<std::string> missing;
  for (const ClusterDevice& device : devices) {
    const std::string task = device.name.TaskString();
    if (!device.is_local && device.incarnation == 0 && tasks.contains(task)) missing.insert(task);
  }
  for (const std::string& task : missing) {
    // Does not wait for a task that this session has used and lost, because RegisterPart reports that loss.
    MutexLock lock(mu_);
    if (used_.contains(task)) return OkStatus();
  }
  const StillWanted still_wanted = [this]() TB_NO_THREAD_SAFETY_ANALYSIS { return CheckWanted(); };
  for (const std::string& task : missing) {
    TF_RETURN_IF_ERROR(env_->membership->connections().WaitFor(task, deadline, still_wanted).status());
  }
  return OkStatus();
}

Status MasterSession::CheckDevices(const Graph& graph, size_t first) const {
  if (!options_.check_all_devices) return OkStatus();
  const auto& nodes = ImplOf(graph).nodes();
  const auto view = env_->membership->view();
  const auto devices = DevicesOf(*view, options_.device_filters);
  std::set<std::string_view> seen;
  for (size_t i = first; i < nodes.size(); ++i) {
    if (nodes[i]->device().empty() || !seen.insert(nodes[i]->device()).second) continue;
    const auto wanted = DeviceName::Parse(nodes[i]->device());
    if (!wanted.ok()) return AboutNode(wanted.status(), *nodes[i]);
    DeviceName any = *wanted;
    any.id.reset();
    const bool may_exist = std::any_of(devices.begin(), devices.end(), [&](const ClusterDevice& d) {
      const bool is_assumed = d.incarnation == 0 && !d.is_local;  // its task may have more devices of this type
      return wanted->Matches(d.name) || (is_assumed && any.Matches(d.name));
    });
    if (!may_exist) {
      const std::vector<DeviceName> names = DeviceNamesOf(*view, options_.device_filters);
      return NoSuchDevice(*nodes[i], *wanted, names, WhyNoAccelerator(*wanted, view->self, names));
    }
  }
  return OkStatus();
}

Status MasterSession::RegisterPart(CompiledGraph::Part* part, uint64_t handle, Deadline deadline) {
  const StillWanted still_wanted = [this]() TB_NO_THREAD_SAFETY_ANALYSIS { return CheckWanted(); };
  std::shared_ptr<RemoteWorker> known;
  {
    MutexLock lock(mu_);
    const auto it = used_.find(part->task);
    if (it != used_.end()) known = it->second;
  }
  // Waits for a task that this session has not used yet, but not for a task that it has used and lost.
  std::shared_ptr<RemoteWorker> worker;
  if (known == nullptr) {
    TF_ASSIGN_OR_RETURN(worker, env_->remote_workers->WaitFor(part->task, deadline, still_wanted));
  } else {
    TF_ASSIGN_OR_RETURN(worker, env_->remote_workers->Current(known));
  }
  const Status registered = AwaitCall(*worker, "to prepare its part of the graph", deadline, env_->slow_wait,
                                      still_wanted, [&](RemoteWorker::Done done) {
                                        worker->RegisterGraph(id_, handle, part->graph_def, options_.isolated_state,
                                                              options_.limited_files, std::move(done));
                                      });
  {
    MutexLock lock(mu_);
    if (!closed_) {
      told_[part->task] = worker;
      if (registered.ok()) used_[part->task] = worker;
    }
  }
  // If the session was closed meanwhile, Close did not know yet that this task has a part, so the task is told now.
  if (const Status open = CheckOpen(); !open.ok()) {
    worker->CloseSession(id_);
    return open;
  }
  TF_RETURN_IF_ERROR(registered);
  part->worker = std::move(worker);
  return OkStatus();
}

StatusOr<std::vector<std::shared_ptr<RemoteWorker>>> MasterSession::CurrentWorkers(CompiledGraph* graph,
                                                                                   Deadline deadline) {
  const uint64_t cancellations = cancellations_;
  std::vector<std::shared_ptr<RemoteWorker>> workers;
  for (auto& part : graph->remote) {
    std::shared_ptr<RemoteWorker> registered;
    {
      MutexLock lock(mu_);
      registered = part.worker;
    }
    TF_ASSIGN_OR_RETURN(auto worker, env_->remote_workers->Current(registered));
    if (worker != registered) {
      // A new connection to the same incarnation. When the old one broke, the task dropped our partitions, but it has
      // kept its variables.
      MutexLock compiling(compile_mu_);
      cancellations_before_ = cancellations;
      CompiledGraph::Part again = part;
      TF_RETURN_IF_ERROR(RegisterPart(&again, graph->handle, deadline));
      worker = again.worker;
      MutexLock lock(mu_);
      part.worker = worker;
    }
    workers.push_back(std::move(worker));
  }
  return workers;
}

bool MasterSession::CanStart(const CompiledGraph& graph) {
  for (const auto& part : graph.remote) {
    std::shared_ptr<RemoteWorker> worker;
    {
      MutexLock lock(mu_);
      worker = part.worker;
    }
    if (!worker->state().ok()) return false;
  }
  return true;
}

StatusOr<std::shared_ptr<MasterStep>> MasterSession::Start(const std::shared_ptr<CompiledGraph>& graph,
                                                           std::vector<Tensor> feeds, Deadline deadline,
                                                           StepOptions step_options) {
  std::vector<std::shared_ptr<RemoteWorker>> workers;
  if (!graph->is_local_only) {
    TF_ASSIGN_OR_RETURN(workers, CurrentWorkers(graph.get(), deadline));
  }
  step_options.lasts_with_session = graph->lasts_with_session;
  auto step = std::make_shared<MasterStep>(env_, id_, env_->worker->ExecutorOf(graph->local), std::move(workers),
                                           std::move(step_options));
  TF_RETURN_IF_ERROR(env_->steps.Add(step));
  // The step has been added before closed_ is read. So either Start sees that the session is closed, or Close sees the
  // step.
  bool closed;
  {
    MutexLock lock(mu_);
    closed = closed_;
  }
  if (closed) step->Abort(ClosedSession());
  step->Run(graph->handle, std::move(feeds));
  return step;
}

StatusOr<std::vector<Tensor>> MasterSession::Run(const std::shared_ptr<CompiledGraph>& graph, std::vector<Tensor> feeds,
                                                 Deadline deadline, std::vector<std::string>* traces) {
  TF_ASSIGN_OR_RETURN(auto step, Start(graph, std::move(feeds), deadline, {.trace = traces != nullptr}));
  if (!step->WaitUntil(deadline)) {
    step->Abort(LateStep());
    step->WaitUntil(Clock::now() + kStepGrace);
    return step->LateStatus();
  }
  if (traces != nullptr) *traces = step->TakeTraces();
  return step->TakeResult();
}

StatusOr<std::vector<std::string>> MasterSession::PartitionGraphs(const CompiledGraph& graph) {
  std::vector<std::string> graphs;
  TF_ASSIGN_OR_RETURN(std::string own, graph.local->executor()->plan().graph().ToGraphDef());
  graphs.push_back(std::move(own));
  for (const auto& part : graph.remote) graphs.push_back(part.graph_def);
  return graphs;
}

void MasterSession::Drop(const CompiledGraph& graph) {
  {
    MutexLock lock(mu_);
    if (closed_) return;
  }
  env_->worker->Deregister(id_, graph.handle);
  for (const auto& part : graph.remote) {
    if (part.worker != nullptr) part.worker->DeregisterGraph(id_, graph.handle);
  }
}

Status MasterSession::CheckOpen() {
  MutexLock lock(mu_);
  if (closed_) return Cancelled("the session is closed");
  return env_->steps.CheckRunning();
}

Status MasterSession::CheckWanted() {
  TF_RETURN_IF_ERROR(CheckOpen());
  return cancellations_ == cancellations_before_ ? OkStatus() : CancelledRun();
}

void MasterSession::CancelRuns() {
  ++cancellations_;
  env_->steps.Abort(id_, CancelledRun());
}

void MasterSession::Close() {
  std::map<std::string, std::shared_ptr<RemoteWorker>> told;
  absl::flat_hash_map<Key, Cached> cache;
  {
    MutexLock lock(mu_);
    if (closed_) return;
    closed_ = true;
    told.swap(told_);
    cache.swap(cache_);
  }
  env_->steps.Abort(id_, ClosedSession());
  for (const auto& [task, worker] : told) worker->CloseSession(id_);
  env_->worker->Close(id_);
}

}  // namespace tensorbraid
