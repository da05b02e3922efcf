#include <algorithm>
#include <set>

#include "cluster/client_edges.h"
#include "cluster/master.h"
#include "cluster/master_step.h"
#include "core/clock.h"
#include "core/logging.h"
#include "core/strings.h"
#include "executor/optimize.h"
#include "graph/expand_functions.h"
#include "graph/function.h"
#include "graph/node_status.h"
#include "graph/subgraph.h"
#include "placement/partition.h"
#include "placement/placer.h"
#include "transport/codec.h"

namespace tensorbraid {
namespace {

using Clock = MonotonicClock;

// Compiled signatures that a session keeps. A program usually has only a few.
constexpr size_t kMaxCached = 128;

std::vector<uint64_t> KeyOf(const RunSignature& s) {
  std::vector<uint64_t> key;
  key.reserve(3 + 2 * (s.feeds.size() + s.fetches.size()) + s.targets.size());
  const auto add = [&key](const Output& o) {
    key.push_back(reinterpret_cast<uintptr_t>(o.node()));
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
  for (const Operation& op : s.targets) key.push_back(reinterpret_cast<uintptr_t>(op.node()));
  return key;
}

}  // namespace

Status CheckFeed(const Output& output, const Tensor& value) {
  if (!value.is_valid()) return InvalidArgument("the value fed to '", output.name(), "' is not a valid tensor");
  if (value.dtype() != output.dtype()) {
    return InvalidArgument("'", output.name(), "' (", output.node()->location(), ") is ", output.dtype(),
                           " and cannot be fed ", value.dtype(), value.shape());
  }
  if (!output.shape().IsCompatibleWith(value.shape())) {
    return InvalidArgument("'", output.name(), "' (", output.node()->location(), ") has shape ", output.shape(),
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
  return OkStatus();
}

MasterSession::MasterSession(Master* master, const Graph* graph, SessionId id, MasterSessionOptions options)
    : master_(master), graph_(graph), id_(id), options_(options) {}

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
  MutexLock compiling(compile_mu_);
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
  const StillWanted still_open = [this] { return CheckOpen(); };
  std::unique_ptr<Graph> graph;
  {
    MutexLock lock(graph_mu_);
    TF_ASSIGN_OR_RETURN(graph, ExtractSubgraph(*graph_, s.feeds, s.fetches, s.targets, s.connections));
  }
  TF_ASSIGN_OR_RETURN(auto expanded, ExpandFunctions(*graph, still_open));
  if (expanded != nullptr) graph = std::move(expanded);
  const std::string home = master_->worker_->devices().front().ToString();
  for (const auto& node : graph->impl().nodes()) {
    // The client exchanges feeds and fetches with the master, so they belong on the master's task.
    if (node->type() == "_Arg" || node->type() == "_Retval") node->set_device(home);
  }
  TF_RETURN_IF_ERROR(ConnectTasksOf(*graph, deadline));
  TF_RETURN_IF_ERROR(PlaceNodes(graph.get(), {.devices = master_->DeviceNames(options_.device_filters),
                                              .allow_soft_placement = options_.allow_soft_placement,
                                              .log_placement = options_.log_device_placement}));
  TF_RETURN_IF_ERROR(Optimize(graph.get(), options_.optimize, still_open));
  TF_RETURN_IF_ERROR(CheckOpen());
  TF_ASSIGN_OR_RETURN(auto parts, PartitionByTask(*graph));
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
  }
  auto own = std::make_unique<Graph>();
  for (auto& [task, part] : parts) {
    if (task == master_->task_) {
      own = std::move(part);
      continue;
    }
    // Sends along the functions that kernels of the partition run.
    part->impl().set_functions(
        std::make_shared<FunctionLibrary>(part->impl().functions()->ReachableFrom(part->impl())));
    TF_ASSIGN_OR_RETURN(std::string def, part->ToGraphDef());
    compiled->remote.push_back({.task = task, .graph_def = std::move(def), .link = nullptr});
  }
  if (s.by_client_edges) {
    TF_ASSIGN_OR_RETURN(own, WithClientEdges(*own));
  }
  for (auto& part : compiled->remote) TF_RETURN_IF_ERROR(RegisterPart(&part, compiled->handle, deadline));
  compiled->is_local_only = compiled->remote.empty();
  auto local = master_->worker_->Register(id_, compiled->handle, std::move(own), options_.isolated_state);
  if (const Status open = CheckOpen(); !open.ok()) {
    master_->worker_->Close(id_);  // Close may have come before Register
    return open;
  }
  TF_ASSIGN_OR_RETURN(compiled->local, std::move(local));
  return compiled;
}

Status MasterSession::ConnectTasksOf(const Graph& graph, Deadline deadline) {
  if (master_->links_ == nullptr) return OkStatus();
  std::set<std::string> asked;  // device names as the nodes have them
  std::set<std::string> tasks;
  for (const auto& node : graph.impl().nodes()) {
    if (node->device().empty() || !asked.insert(node->device()).second) continue;
    const auto device = DeviceName::Parse(node->device());
    if (device.ok() && device->job.has_value() && device->task.has_value()) {
      tasks.insert(FullTaskName(*device->job, *device->task));
    }
  }
  std::set<std::string> missing;
  for (const Master::Device& device : master_->Devices(options_.device_filters)) {
    const std::string task = device.name.TaskString();
    if (device.incarnation == 0 && tasks.contains(task)) missing.insert(task);
  }
  for (const std::string& task : missing) {
    // Does not wait for a task that this session has used and lost: RegisterPart will report it.
    MutexLock lock(mu_);
    if (used_links_.contains(task)) return OkStatus();
  }
  for (const std::string& task : missing) {
    TF_RETURN_IF_ERROR(master_->links_->WaitFor(task, deadline, [this] { return CheckOpen(); }).status());
  }
  return OkStatus();
}

Status MasterSession::CheckDevices(const Graph& graph, size_t first) const {
  if (!options_.check_all_devices) return OkStatus();
  const auto& nodes = graph.impl().nodes();
  const auto devices = master_->Devices(options_.device_filters);
  std::set<std::string_view> seen;
  for (size_t i = first; i < nodes.size(); ++i) {
    if (nodes[i]->device().empty() || !seen.insert(nodes[i]->device()).second) continue;
    const auto wanted = DeviceName::Parse(nodes[i]->device());
    if (!wanted.ok()) return AboutNode(wanted.status(), *nodes[i]);
    DeviceName any = *wanted;
    any.id.reset();
    const bool may_exist = std::any_of(devices.begin(), devices.end(), [&](const Master::Device& d) {
      const bool is_assumed = d.incarnation == 0 && !d.is_local;  // its task may have more devices of this type
      return wanted->Matches(d.name) || (is_assumed && any.Matches(d.name));
    });
    if (!may_exist) return NoSuchDevice(*nodes[i], *wanted, master_->DeviceNames(options_.device_filters));
  }
  return OkStatus();
}

Status MasterSession::RegisterPart(CompiledGraph::Part* part, uint64_t handle, Deadline deadline) {
  if (master_->links_ == nullptr)
    return Internal("the graph has a part for ", part->task, ", but this session has no network");
  // Checked here, so that only this session fails. Sending a message over the limit would break the link.
  constexpr size_t kRoomForOtherFields = 1024;
  if (part->graph_def.size() > kMaxHeaderBytes - kRoomForOtherFields) {
    return InvalidArgument("the part of the graph for ", ShortTaskName(part->task), " has ", part->graph_def.size(),
                           " bytes, more than the ", kMaxHeaderBytes,
                           " that can be sent: store large constants in variables");
  }
  std::shared_ptr<Link> known;
  {
    MutexLock lock(mu_);
    const auto it = used_links_.find(part->task);
    if (it != used_links_.end()) known = it->second;
  }
  // Waits for a task that this session has not used yet, but not for one that it has used and lost.
  std::shared_ptr<Link> link;
  if (known == nullptr) {
    TF_ASSIGN_OR_RETURN(link, master_->links_->WaitFor(part->task, deadline, [this] { return CheckOpen(); }));
  } else {
    TF_ASSIGN_OR_RETURN(link, master_->ConnectedTo(known->peer()));
  }
  const Status registered =
      master_->CallAndWait(link,
                           RegisterGraph{.request = 0,
                                         .session = id_,
                                         .handle = handle,
                                         .partition = part->graph_def,
                                         .isolated_state = options_.isolated_state},
                           "to prepare its part of the graph", deadline, [this] { return CheckOpen(); });
  {
    MutexLock lock(mu_);
    if (!closed_) {
      told_[part->task] = link;
      if (registered.ok()) used_links_[part->task] = link;
    }
  }
  // Close did not know that this task has a part of the session.
  if (const Status open = CheckOpen(); !open.ok()) {
    link->Send(CloseSession{.session = id_});
    return open;
  }
  TF_RETURN_IF_ERROR(registered);
  part->link = std::move(link);
  return OkStatus();
}

StatusOr<std::vector<std::shared_ptr<Link>>> MasterSession::CurrentLinks(CompiledGraph* graph, Deadline deadline) {
  std::vector<std::shared_ptr<Link>> links;
  for (auto& part : graph->remote) {
    std::shared_ptr<Link> registered;
    {
      MutexLock lock(mu_);
      registered = part.link;
    }
    TF_ASSIGN_OR_RETURN(auto link, master_->ConnectedTo(registered->peer()));
    if (link != registered) {
      // A new link to the same incarnation. When the old link broke, the task dropped our partitions, but it has kept
      // its variables.
      MutexLock compiling(compile_mu_);
      CompiledGraph::Part again = part;
      TF_RETURN_IF_ERROR(RegisterPart(&again, graph->handle, deadline));
      link = again.link;
      MutexLock lock(mu_);
      part.link = link;
    }
    links.push_back(std::move(link));
  }
  return links;
}

bool MasterSession::CanStart(const CompiledGraph& graph) {
  for (const auto& part : graph.remote) {
    MutexLock lock(mu_);
    if (master_->links_->Find(part.link->peer().task) != part.link) return false;
  }
  return true;
}

StatusOr<std::shared_ptr<MasterSession::Step>> MasterSession::Start(const std::shared_ptr<CompiledGraph>& graph,
                                                                    std::vector<Tensor> feeds, Deadline deadline,
                                                                    StepOptions step_options) {
  std::vector<std::shared_ptr<Link>> links;
  if (!graph->is_local_only) {
    TF_ASSIGN_OR_RETURN(links, CurrentLinks(graph.get(), deadline));
  }
  const StepId id{master_->incarnation_, master_->next_id_++};
  auto step = std::make_shared<Step>(master_, id, id_, std::move(links), std::move(step_options));
  step->local = graph->local;
  {
    MutexLock lock(master_->mu_);
    if (master_->stopping_) return Cancelled("the server has been stopped");
    master_->steps_[id.counter] = step;
  }
  {
    // The step is recorded above before closed_ is read. So either this sees that the session is closed, or Close sees
    // the step.
    MutexLock lock(mu_);
    if (closed_) step->Abort(Cancelled("the step was cancelled by Session::Close()"));
  }
  const auto done = [step](const Status& status, std::vector<Tensor> values) {
    step->OnLocalDone(status, std::move(values));
  };
  if (step->is_local()) {
    if (step->client != nullptr) step->client->Begin(nullptr, &step->cancellation);
    graph->local->Run(std::move(feeds), step->client.get(), &step->cancellation, done, step->tracer.get());
    return step;
  }
  // Begins the step here before any other task hears of it, because another task's error may arrive before the master's
  // own part runs.
  master_->exchange_->Begin(id);
  for (const auto& link : step->links) {
    link->Send(RunGraph{.step = id, .session = id_, .handle = graph->handle, .trace = step->tracer != nullptr});
    // If the link broke before the step was recorded, OnLinkDown has not seen the step.
    if (master_->links_->Find(link->peer().task) != link) {
      step->OnLinkDown(link, Unavailable(ShortTaskName(link->peer().task), " is gone"));
    }
  }
  master_->worker_->RunStep(id, graph->local, std::move(feeds), done, step->tracer.get(), step->client.get());
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
  TF_ASSIGN_OR_RETURN(std::string own, graph.local->plan().graph().ToGraphDef());
  graphs.push_back(std::move(own));
  for (const auto& part : graph.remote) graphs.push_back(part.graph_def);
  return graphs;
}

void MasterSession::Drop(const CompiledGraph& graph) {
  {
    MutexLock lock(mu_);
    if (closed_) return;
  }
  master_->worker_->Deregister(id_, graph.handle);
  for (const auto& part : graph.remote) {
    if (part.link != nullptr) part.link->Send(DeregisterGraph{.session = id_, .handle = graph.handle});
  }
}

Status MasterSession::CheckOpen() {
  MutexLock lock(mu_);
  if (closed_) return Cancelled("the session is closed");
  return master_->stopping_ ? Cancelled("the server has been stopped") : OkStatus();
}

void MasterSession::Close() {
  std::map<std::string, std::shared_ptr<Link>> links;
  absl::flat_hash_map<Key, Cached> cache;
  {
    MutexLock lock(mu_);
    if (closed_) return;
    closed_ = true;
    links.swap(told_);
    cache.swap(cache_);
  }
  // TensorFlow's clients look for "Session::Close()" in the message.
  const Status why = Cancelled("the step was cancelled by Session::Close()");
  std::vector<std::shared_ptr<Step>> steps;
  {
    MutexLock lock(master_->mu_);
    for (const auto& [counter, step] : master_->steps_) {
      if (step->session == id_) steps.push_back(step);
    }
  }
  for (const auto& step : steps) step->Abort(why);
  for (const auto& [task, link] : links) link->Send(CloseSession{.session = id_});
  master_->worker_->Close(id_);
}

}  // namespace tensorbraid
