#include "cluster/worker/worker.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cluster/trace/step_stats.h"
#include "cluster/worker/dead_accelerators.h"
#include "core/errors/error_rank.h"
#include "core/text/strings.h"
#include "executor/clusters/program_nodes.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "runtime/kernel/step_tracer.h"

namespace tensorbraid {

Worker::Worker(std::vector<DeviceName> devices, WorkerEnv* env, Exchange* exchange, std::weak_ptr<void> owner)
    : devices_(std::move(devices)), env_(env), pool_(&env->pool()), exchange_(exchange), owner_(std::move(owner)) {}

Worker::~Worker() {
  // A session and its graphs hold each other.
  absl::flat_hash_map<SessionId, std::shared_ptr<Session>> open;
  {
    MutexLock lock(mu_);
    open.swap(sessions_);
  }
  for (const auto& [id, session] : open) session->graphs.clear();
}

size_t Worker::num_sessions() const {
  MutexLock lock(mu_);
  return sessions_.size();
}

std::shared_ptr<Worker::Session> Worker::Open(SessionId id, bool isolated_state) {
  MutexLock lock(mu_);
  auto& session = sessions_[id];
  if (session == nullptr) session = std::make_shared<Session>();
  if (isolated_state && session->own_resources == nullptr) session->own_resources = std::make_unique<ResourceManager>();
  return session;
}

Status Worker::CheckOpen(SessionId id, const std::shared_ptr<Session>& session) {
  MutexLock lock(mu_);
  const auto it = sessions_.find(id);
  return it == sessions_.end() || it->second != session ? Cancelled("the session is closed") : OkStatus();
}

StatusOr<std::shared_ptr<RegisteredPartition>> Worker::Register(SessionId session, uint64_t handle,
                                                                std::unique_ptr<Graph> partition, bool isolated_state,
                                                                bool limited_files) {
  return AddGraph(session, Open(session, isolated_state), handle, std::move(partition), limited_files);
}

// Writes into each _Send and _Recv the number of the other task (attribute peer_number).
Status Worker::NumberPeers(Graph* partition) {
  for (const auto& node : ImplOf(*partition).nodes()) {
    if (node->type() != "_Send" && node->type() != "_Recv") continue;
    const std::string& peer = node->attr<std::string>("peer");
    if (peer.empty()) continue;  // the client of a partial run
    TF_ASSIGN_OR_RETURN(const uint32_t number, exchange_->links().NumberOf(peer));
    ImplOf(*partition).SetAttr(node.get(), "peer_number", int64_t{number});
  }
  return OkStatus();
}

StatusOr<std::shared_ptr<RegisteredPartition>> Worker::AddGraph(SessionId id, const std::shared_ptr<Session>& session,
                                                                uint64_t handle, std::unique_ptr<Graph> partition,
                                                                bool limited_files) {
  for (const auto& node : ImplOf(*partition).nodes()) {
    TF_ASSIGN_OR_RETURN(const DeviceName device, DeviceName::Parse(node->device()));
    if (std::find(devices_.begin(), devices_.end(), device) == devices_.end()) {
      std::vector<std::string> names;
      for (const DeviceName& d : devices_) names.push_back(d.ToString());
      return InvalidArgument(node->Describe(), " requests device ", node->device(),
                             ", which does not exist; this task has ", StrJoin(names, ", "));
    }
  }
  TF_RETURN_IF_ERROR(StartAccelerators(*partition));
  TF_RETURN_IF_ERROR(NumberPeers(partition.get()));
  auto changing = RunPrograms(env_->devices()) ? std::make_shared<ChangingValues>() : nullptr;
  RegisteredPartition::MakeExecutor make =
      [this, id, session, graph = std::shared_ptr<const Graph>(std::move(partition)), changing = std::move(changing),
       limited_files] { return MakeExecutor(id, session, graph, changing, limited_files); };
  TF_ASSIGN_OR_RETURN(auto executor, make());
  auto registered = std::make_shared<RegisteredPartition>(std::move(executor), std::move(make));
  MutexLock lock(mu_);
  // A graph holds its session, and Close drops the graphs of a session. A graph that was added after Close would never
  // be freed.
  const auto it = sessions_.find(id);
  if (it == sessions_.end() || it->second != session) return Cancelled("the session is closed");
  session->graphs[handle] = registered;
  return registered;
}

StatusOr<std::shared_ptr<Executor>> Worker::MakeExecutor(SessionId id, const std::shared_ptr<Session>& session,
                                                         std::shared_ptr<const Graph> partition,
                                                         std::shared_ptr<ChangingValues> changing, bool limited_files) {
  const ScopedFileAccess scope(FileLimit(limited_files));  // the executor that is made here keeps this limit
  ResourceManager* const resources =
      session->own_resources != nullptr ? session->own_resources.get() : &env_->resources();
  TF_ASSIGN_OR_RETURN(auto plan, Plan::Create(
                                     std::move(partition), resources, &session->kernels, &env_->devices(),
                                     [&] { return CheckOpen(id, session); }, std::move(changing)));
  // The session may own the plan's kernels (in its cache) and their resources. So `held` keeps the session alive, and
  // destroys the plan first.
  std::shared_ptr<const Plan> held(plan.get(), [plan, s = session](const Plan*) mutable {
    plan.reset();
    s.reset();
  });
  return std::make_shared<Executor>(std::move(held), pool_, resources, env_->work());
}

std::shared_ptr<Executor> Worker::ExecutorOf(const std::shared_ptr<RegisteredPartition>& partition) {
  auto executor = partition->executor();
  if (executor->plan().is_outdated() && partition->BeginReplanning()) {
    // Planning takes milliseconds, and this may be the transport's thread.
    pool_->Schedule([partition, held = owner_.lock()] { partition->Replan(); });
  }
  return executor;
}

void Worker::Deregister(SessionId session, uint64_t handle) {
  std::shared_ptr<RegisteredPartition> dropped;
  MutexLock lock(mu_);
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) return;
  auto graph = it->second->graphs.find(handle);
  if (graph == it->second->graphs.end()) return;
  dropped = std::move(graph->second);
  it->second->graphs.erase(graph);
}

void Worker::Close(SessionId session) {
  std::map<uint64_t, std::shared_ptr<RegisteredPartition>> dropped;  // destroyed after the lock is released
  MutexLock lock(mu_);
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) return;
  dropped.swap(it->second->graphs);
  sessions_.erase(it);
}

void Worker::ForgetMaster(uint64_t master, const Status& why) {
  std::vector<SessionId> sessions;
  {
    MutexLock lock(mu_);
    for (const auto& [id, session] : sessions_) {
      if (id.master == master) sessions.push_back(id);
    }
  }
  exchange_->EndAllOf(master, why);
  for (SessionId id : sessions) Close(id);
}

std::shared_ptr<RegisteredPartition> Worker::FindGraph(SessionId session, uint64_t handle) {
  MutexLock lock(mu_);
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) return nullptr;
  const auto graph = it->second->graphs.find(handle);
  return graph == it->second->graphs.end() ? nullptr : graph->second;
}

std::vector<std::shared_ptr<ResourceManager>> Worker::SessionResources() {
  std::vector<std::shared_ptr<ResourceManager>> all;
  bool has_shared = false;
  MutexLock lock(mu_);
  for (const auto& [id, session] : sessions_) {
    if (session->own_resources != nullptr) {
      all.emplace_back(session, session->own_resources.get());
    } else {
      has_shared = true;
    }
  }
  if (has_shared) all.emplace_back(std::shared_ptr<void>(), &env_->resources());
  return all;
}

std::vector<Executor::StepWaits> Worker::Waits() {
  std::vector<std::shared_ptr<Executor>> executors;
  {
    MutexLock lock(mu_);
    for (const auto& [id, session] : sessions_) {
      for (const auto& [handle, partition] : session->graphs) partition->AppendExecutors(&executors);
    }
  }
  std::vector<Executor::StepWaits> all;
  for (const auto& executor : executors) {
    std::vector<Executor::StepWaits> waits = executor->Waits();
    std::move(waits.begin(), waits.end(), std::back_inserter(all));
  }
  return all;
}

void Worker::CountPart(int64_t before) {
  const int64_t overtaken = parts_ended_.fetch_add(1, std::memory_order_relaxed) - before;
  overtaken_.fetch_add(overtaken, std::memory_order_relaxed);
  int64_t max = overtaken_max_.load(std::memory_order_relaxed);
  while (overtaken > max && !overtaken_max_.compare_exchange_weak(max, overtaken)) {
  }
}

void Worker::RunStep(StepId id, const std::shared_ptr<Executor>& executor, std::vector<Tensor> args,
                     Executor::Done done, StepTracer* tracer, ClientEdges* client) {
  auto step = exchange_->Begin(id);
  StepExchange* raw = step.get();
  Rendezvous* rendezvous = raw;
  if (client != nullptr) {
    client->Begin(raw, &raw->cancellation());
    rendezvous = client;
  }
  executor->Run(
      std::move(args), rendezvous, &raw->cancellation(),
      [step = std::move(step), done = std::move(done), held = owner_.lock()](const Status& status,
                                                                             std::vector<Tensor> retvals) {
        // If the loss of a task cancelled the step, the kernels report only the cancellation.
        Status cause = status;
        KeepCause(step->status(), &cause);
        done(cause, std::move(retvals));
      },
      tracer);
}

void Worker::OnAbortStep(const AbortStep& m) {
  if (auto step = exchange_->Find(m.step)) {
    // Cancelling calls callbacks of kernels, which must not run on the transport's thread.
    pool_->Schedule([step, reason = m.reason, held = owner_.lock()] { step->Fail(reason); });
  }
}

void Worker::OnEndStep(const EndStep& m) { exchange_->End(m.step); }

void Worker::OnResetContainers(Link& link, const tensorbraid::ResetContainers& m) {
  ResetContainers(m.containers);
  link.Send(Reply{.request = m.request, .status = OkStatus(), .body = ""});
}

void Worker::ResetContainers(const std::vector<std::string>& containers) {
  if (containers.empty()) env_->resources().ClearContainer("");
  for (const std::string& container : containers) env_->resources().ClearContainer(container);
}

namespace {

// The state of a master is freed when the link to it breaks. A request in the name of another master could create state
// that is never freed, so it is refused.
Status IsFrom(uint64_t master, const Link& link) {
  if (master == link.peer().incarnation) return OkStatus();
  return InvalidArgument(link.peer().task, " has sent a request in the name of another master");
}

}  // namespace

void Worker::OnRegisterGraph(const std::shared_ptr<Link>& link, RegisterGraph m) {
  if (const Status status = IsFrom(m.session.master, *link); !status.ok()) {
    link->Send(Reply{.request = m.request, .status = status, .body = ""});
    return;
  }
  // Opens the session here, so that a CloseSession that follows finds it.
  auto session = Open(m.session, m.isolated_state);
  pool_->Schedule([this, link, m = std::move(m), session = std::move(session), held = owner_.lock()] {
    auto partition = std::make_unique<Graph>();
    Status status = partition->ImportGraphDef(m.partition);
    if (status.ok()) status = AddGraph(m.session, session, m.handle, std::move(partition), m.limited_files).status();
    link->Send(Reply{.request = m.request, .status = status, .body = ""});
  });
}

void Worker::OnRunGraph(const std::shared_ptr<Link>& link, const RunGraph& m) {
  if (const Status status = IsFrom(m.step.master, *link); !status.ok()) {
    link->Send(StepDone{.step = m.step, .status = status});
    return;
  }
  const auto partition = FindGraph(m.session, m.handle);
  if (partition == nullptr) {
    link->Send(
        StepDone{.step = m.step, .status = Aborted("the partition is not, or no longer, registered on this task")});
    return;
  }
  const ScopedTransportThread transport_thread;
  const auto tracer = m.trace ? std::make_shared<StepTracer>() : nullptr;
  const auto done = [this, link, tracer, id = m.step, before = parts_ended_.load(std::memory_order_relaxed)](
                        const Status& status, const std::vector<Tensor>&) {
    CountPart(before);
    StepDone answer{.step = id, .status = status};
    if (tracer != nullptr) answer.stats = EncodeStepStats(tracer->TakeRecords());
    link->Send(std::move(answer));
    if (!status.ok()) return;
    // Until the master ends the step, a link may break and lose tensors that were sent.
    if (auto step = exchange_->Find(id)) {
      step->set_on_late_failure([link, id](const Status& why) { link->Send(StepDone{.step = id, .status = why}); });
    }
  };
  RunStep(m.step, ExecutorOf(partition), {}, done, tracer.get());
}

}  // namespace tensorbraid
