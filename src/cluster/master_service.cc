#include "cluster/master_service.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <utility>
#include <vector>

#include "cluster/client_errors.h"
#include "cluster/master_service.pb.h"
#include "cluster/master_step.h"
#include "cluster/partial_run.h"
#include "cluster/proto_io.h"
#include "cluster/session_options.h"
#include "cluster/step_stats.h"
#include "cluster/tensor_message.h"
#include "core/logging.h"
#include "core/strings.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;
using Deadline = MasterSession::Deadline;

constexpr std::string_view kService = "/tensorflow.MasterService/";

Deadline DeadlineAfter(int64_t ms, std::chrono::milliseconds otherwise) {
  if (ms <= 0) ms = otherwise.count();
  if (ms <= 0 || ms > int64_t{1} << 40) return Deadline::max();
  return Clock::now() + std::chrono::milliseconds(ms);
}

// Fails the call when its request cannot be read.
template <typename M>
bool Read(const std::shared_ptr<Call>& call, M* request) {
  if (ParseMessage(call->request(), request)) return true;
  call->Fail(InvalidArgument("the request of ", call->method(), " cannot be read"));
  return false;
}

// The same of a request whose fields of this number carry tensors, which stay where they are.
template <typename M>
bool ReadWithFeeds(const std::shared_ptr<Call>& call, int field, M* request, std::vector<Payload>* feeds) {
  std::string rest;
  auto found = TakeFields(call->request(), field, &rest);
  if (!found.ok() || !request->ParseFromString(rest)) {
    call->Fail(InvalidArgument("the request of ", call->method(), " cannot be read"));
    return false;
  }
  *feeds = *std::move(found);
  return true;
}

void Answer(const std::shared_ptr<Call>& call, const google::protobuf::MessageLite& answer) {
  call->Answer(SerializeMessage(answer));
}

// TensorFlow takes "x" for "x:0", and what can be no tensor's name for one that there is not.
StatusOr<Output> FindTensor(const Graph& graph, const std::string& name) {
  const size_t colon = name.find_last_not_of("0123456789");
  const bool has_index = colon != std::string::npos && name[colon] == ':' && colon + 1 < name.size();
  if (!has_index && name.find(':') != std::string::npos) return NotFound("there is no tensor '", name, "'");
  return graph.FindOutput(has_index ? name : name + ":0");
}

template <typename Names>
Status FindTensors(const Graph& graph, const Names& names, std::vector<Output>* out) {
  for (const auto& name : names) {
    TF_ASSIGN_OR_RETURN(const Output output, FindTensor(graph, name));
    out->push_back(output);
  }
  return OkStatus();
}

// In a call of a partial run, what does not exist was not set up.
Status NotSetUpIf(bool is_part, const char* what, const Status& found) {
  if (found.ok() || !is_part) return found;
  return InvalidArgument(found.message(), ": the ", what, " was not specified in partial_run_setup.");
}

template <typename Names>
Status FindTargets(const Graph& graph, const Names& names, std::vector<Operation>* out) {
  for (const std::string& name : names) {
    // "x:0" and "^x" are taken as well.
    std::string_view op = name;
    if (op.starts_with('^')) op.remove_prefix(1);
    TF_ASSIGN_OR_RETURN(const Operation target, graph.FindOperation(op.substr(0, op.find(':'))));
    out->push_back(target);
  }
  return OkStatus();
}

// REQUIRES: the signature has its fetches.
template <typename Connections>
Status FindConnections(const Graph& graph, const Connections& connections, RunSignature* signature) {
  for (const auto& connection : connections) {
    const auto from = FindTensor(graph, connection.from_tensor());
    if (!from.ok()) return InvalidArgument("a connection of tensors: ", from.status().message());
    TF_ASSIGN_OR_RETURN(const Output to, FindTensor(graph, connection.to_tensor()));
    if (std::find(signature->fetches.begin(), signature->fetches.end(), to) != signature->fetches.end()) {
      return InvalidArgument("'", to.name(), "' is both connected and fetched");
    }
    signature->connections.emplace_back(*from, to);
  }
  return OkStatus();
}

}  // namespace

struct MasterService::ClientSession {
  struct Callable {
    RunSignature signature;
    proto::RunOptions options;
  };

  // Frees what is left of the session. A large graph leaves its memory in pieces, which the system gets back.
  ~ClientSession() {
    constexpr size_t kLarge = 1 << 16;
    const bool was_large = graph.impl().nodes().size() > kLarge;
    session.reset();
    graph = Graph();
    if (was_large) malloc_trim(0);
  }
  // Ends the session's steps, and the cluster if it has brought one. Blocks until that has ended.
  void Close() {
    session->Close();
    if (has_own_cluster) member->Stop(OkStatus());
  }

  std::string handle;
  uint64_t last_used = 0;          // a count of uses; guarded by the service's mutex
  Graph graph;                     // guarded by session->graph_mutex()
  std::shared_ptr<Member> member;  // whose master it is that holds the session
  bool has_own_cluster = false;
  std::shared_ptr<MasterSession> session;
  Mutex mu;
  int64_t version TB_GUARDED_BY(mu) = 0;
  int64_t next_callable TB_GUARDED_BY(mu) = 0;
  std::map<int64_t, Callable> callables TB_GUARDED_BY(mu);
  int64_t next_partial_run TB_GUARDED_BY(mu) = 0;
  std::map<std::string, std::shared_ptr<PartialRun>> partial_runs TB_GUARDED_BY(mu);
};

// One step of a client, from its request to its answer.
struct MasterService::Running {
  std::shared_ptr<Call> call;
  std::shared_ptr<ClientSession> session;
  RunSignature signature;
  std::vector<Tensor> feeds;
  Deadline deadline = Deadline::max();
  bool trace = false;
  bool partition_graphs = false;
  std::string metadata;  // a RunMetadata; written before Finish
  std::function<MessageParts(const std::vector<Tensor>&)> write;
  bool errors_in_body = false;
  std::atomic<bool> answered{false};
  Timer::Id timer = 0;

  void Follow(const proto::RunOptions& options) {
    deadline = DeadlineAfter(options.timeout_in_ms(), session->session->options().operation_timeout);
    trace = options.trace_level() != proto::RunOptions::NO_TRACE;
    partition_graphs = options.output_partition_graphs();
  }
  void Finish(const StatusOr<std::vector<Tensor>>& result) {
    if (answered.exchange(true)) return;
    if (result.ok()) {
      MessageParts answer = write(*result);
      // The same field of a RunCallableResponse.
      if (!metadata.empty()) {
        AppendMessage(proto::RunStepResponse::kMetadataFieldNumber, std::move(metadata), &answer);
      }
      return call->Answer(std::move(answer));
    }
    const Status error = ToClientError(result.status());
    if (!errors_in_body) return call->Fail(error);
    proto::RunStepResponse response;
    response.set_status_code(static_cast<int32_t>(error.code()));
    response.set_status_error_message(std::string(error.message()));
    Answer(call, response);
  }
};

MasterService::MasterService(std::shared_ptr<Member> home, OpenCluster open_cluster, Timer* timer, ThreadPool* pool,
                             std::string default_config)
    : home_(std::move(home)),
      open_cluster_(std::move(open_cluster)),
      timer_(timer),
      pool_(pool),
      default_config_(std::move(default_config)) {}

MasterService::~MasterService() { Shutdown(); }

void MasterService::Shutdown() {
  decltype(sessions_) sessions;
  {
    MutexLock lock(mu_);
    stopping_ = true;
    sessions.swap(sessions_);
  }
  for (const auto& [handle, session] : sessions) session->Close();
}

const std::map<std::string, MasterService::Handler, std::less<>>& MasterService::Handlers() {
  static const auto& handlers = *new std::map<std::string, Handler, std::less<>>{
      {"CreateSession", &MasterService::CreateSession},
      {"ExtendSession", &MasterService::ExtendSession},
      {"CloseSession", &MasterService::CloseSession},
      {"ListDevices", &MasterService::ListDevices},
      {"Reset", &MasterService::Reset},
      {"RunStep", &MasterService::RunStep},
      {"PartialRunSetup", &MasterService::PartialRunSetup},
      {"MakeCallable", &MasterService::MakeCallable},
      {"RunCallable", &MasterService::RunCallable},
      {"ReleaseCallable", &MasterService::ReleaseCallable},
  };
  return handlers;
}

void MasterService::OnCall(std::shared_ptr<Call> call) {
  const std::string_view method = call->method();
  const auto handler =
      method.starts_with(kService) ? Handlers().find(method.substr(kService.size())) : Handlers().end();
  if (handler == Handlers().end()) return call->Fail(Unimplemented("there is no method ", method));
  {
    MutexLock lock(mu_);
    if (stopping_) return call->Fail(Unavailable("the server is stopping"));
  }
  (this->*handler->second)(call);
}

StatusOr<std::shared_ptr<MasterService::ClientSession>> MasterService::FindSession(const std::string& handle) {
  MutexLock lock(mu_);
  const auto it = sessions_.find(handle);
  if (it == sessions_.end()) return Aborted("Session ", handle, " is not found.");
  it->second->last_used = ++uses_;
  return it->second;
}

void MasterService::ForgetIdleSessions() {
  std::vector<std::shared_ptr<ClientSession>> forgotten;
  {
    MutexLock lock(mu_);
    while (sessions_.size() > kMaxSessions) {
      auto idle = sessions_.end();
      for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
        // What works for a session holds it, and gets it under the lock.
        if (it->second.use_count() > 1) continue;
        if (idle == sessions_.end() || it->second->last_used < idle->second->last_used) idle = it;
      }
      if (idle == sessions_.end()) break;
      forgotten.push_back(std::move(idle->second));
      sessions_.erase(idle);
    }
  }
  for (const auto& session : forgotten) {
    TB_LOG(Warning, "cluster") << "session " << session->handle << " is forgotten: there are more than " << kMaxSessions
                               << ", and nobody has used it for longest";
    session->Close();
  }
}

void MasterService::CreateSession(const std::shared_ptr<Call>& call) {
  blocking_.Run([this, call] {
    proto::CreateSessionRequest request;
    if (!Read(call, &request)) return;
    auto session = std::make_shared<ClientSession>();
    if (const Status status = session->graph.ImportGraphDef(request.graph_def()); !status.ok()) {
      return call->Fail(status);
    }
    proto::ConfigProto config;
    config.ParseFromString(default_config_);
    config.clear_cluster_def();
    config.MergeFrom(request.config());
    const auto options = SessionOptionsFrom(config);
    if (!options.ok()) return call->Fail(options.status());
    session->member = home_;
    if (config.cluster_def().job_size() > 0) {
      const auto cluster = ClusterSpec::FromClusterDef(config.cluster_def().SerializeAsString());
      auto member = cluster.ok() ? open_cluster_(*cluster, request.target()) : cluster.status();
      if (!member.ok()) return call->Fail(member.status());
      session->member = *std::move(member);
      session->has_own_cluster = true;
    }
    session->session = session->member->master().NewSession(&session->graph, *options);
    std::random_device random;
    session->handle = absl::StrCat(absl::Hex(random(), absl::kZeroPad8), absl::Hex(random(), absl::kZeroPad8));
    bool too_late;
    {
      MutexLock lock(mu_);
      too_late = stopping_;
      session->last_used = ++uses_;
      if (!too_late) sessions_[session->handle] = session;
    }
    if (too_late) {
      session->Close();
      return call->Fail(Unavailable("the server is stopping"));
    }
    ForgetIdleSessions();
    proto::CreateSessionResponse response;
    response.set_session_handle(session->handle);
    Answer(call, response);
  });
}

void MasterService::ExtendSession(const std::shared_ptr<Call>& call) {
  blocking_.Run([this, call] {
    proto::ExtendSessionRequest request;
    if (!Read(call, &request)) return;
    auto session = FindSession(request.session_handle());
    if (!session.ok()) return call->Fail(session.status());
    MutexLock lock((*session)->mu);
    if (request.current_graph_version() != (*session)->version) {
      return call->Fail(Aborted("Current version is ", (*session)->version, " but caller expected ",
                                request.current_graph_version(), "."));
    }
    {
      MutexLock graph_lock((*session)->session->graph_mutex());
      if (const Status status = (*session)->graph.ImportGraphDef(request.graph_def()); !status.ok()) {
        return call->Fail(status);
      }
    }
    proto::ExtendSessionResponse response;
    response.set_new_graph_version(++(*session)->version);
    Answer(call, response);
  });
}

void MasterService::CloseSession(const std::shared_ptr<Call>& call) {
  proto::CloseSessionRequest request;
  if (!Read(call, &request)) return;
  std::shared_ptr<ClientSession> session;
  {
    MutexLock lock(mu_);
    const auto it = sessions_.find(request.session_handle());
    if (it == sessions_.end()) return call->Fail(Aborted("Session ", request.session_handle(), " is not found."));
    session = std::move(it->second);
    sessions_.erase(it);
  }
  blocking_.Run([call, session = std::move(session)]() mutable {
    session->Close();
    session.reset();
    Answer(call, proto::CloseSessionResponse());
  });
}

void MasterService::ListDevices(const std::shared_ptr<Call>& call) {
  blocking_.Run([this, call] {
    proto::ListDevicesRequest request;
    if (!Read(call, &request)) return;
    std::shared_ptr<Member> member = home_;
    std::vector<DeviceName> filters;
    // Without a session: what the server has.
    if (!request.session_handle().empty()) {
      auto session = FindSession(request.session_handle());
      if (!session.ok()) {
        return call->Fail(
            InvalidArgument("Session ", request.session_handle(), " is not found. Has this master been restarted?"));
      }
      member = (*session)->member;
      filters = (*session)->session->options().device_filters;
    }
    proto::ListDevicesResponse response;
    for (const Master::Device& device : member->master().ListDevices(filters)) {
      auto* out = device.is_local ? response.add_local_device() : response.add_remote_device();
      out->set_name(ToUtf8(device.name.ToString()));
      out->set_device_type(ToUtf8(device.name.type.value_or("CPU")));
      out->set_memory_limit(device.memory_limit);
      out->set_incarnation(device.incarnation);
    }
    Answer(call, response);
  });
}

void MasterService::Reset(const std::shared_ptr<Call>& call) {
  blocking_.Run([this, call] {
    proto::ResetRequest request;
    if (!Read(call, &request)) return;
    decltype(sessions_) sessions;
    {
      MutexLock lock(mu_);
      sessions.swap(sessions_);
    }
    for (const auto& [handle, session] : sessions) session->Close();
    const Status status =
        home_->master().ResetContainers({request.container().begin(), request.container().end()},
                                        {request.device_filters().begin(), request.device_filters().end()});
    if (!status.ok()) return call->Fail(status);
    Answer(call, proto::ResetResponse());
  });
}

void MasterService::RunStep(const std::shared_ptr<Call>& call) {
  proto::RunStepRequest request;
  std::vector<Payload> tensors;
  if (!ReadWithFeeds(call, proto::RunStepRequest::kFeedFieldNumber, &request, &tensors)) return;
  auto run = std::make_shared<Running>();
  run->call = call;
  run->errors_in_body = request.store_errors_in_response_body();
  const Status prepared = [&]() -> Status {
    TF_ASSIGN_OR_RETURN(run->session, FindSession(request.session_handle()));
    std::vector<std::string> feeds(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      TF_ASSIGN_OR_RETURN(Tensor value, ReadNamedTensor(tensors[i], &feeds[i]));
      run->feeds.push_back(std::move(value));
    }
    {
      MutexLock lock(run->session->session->graph_mutex());
      const Graph& graph = run->session->graph;
      const bool is_part = !request.partial_run_handle().empty();
      TF_RETURN_IF_ERROR(NotSetUpIf(is_part, "feed", FindTensors(graph, feeds, &run->signature.feeds)));
      TF_RETURN_IF_ERROR(NotSetUpIf(is_part, "fetch", FindTensors(graph, request.fetch(), &run->signature.fetches)));
      TF_RETURN_IF_ERROR(FindTargets(graph, request.target(), &run->signature.targets));
    }
    return OkStatus();
  }();
  if (!prepared.ok()) return run->Finish(prepared);
  run->Follow(request.options());
  run->write = [names = std::vector<std::string>(request.fetch().begin(), request.fetch().end())](
                   const std::vector<Tensor>& values) {
    MessageParts answer;
    for (size_t i = 0; i < names.size(); ++i) AppendNamedTensor(1, names[i], values[i], &answer);
    return answer;
  };
  if (!request.partial_run_handle().empty()) return RunPart(run, request.partial_run_handle());
  Run(run);
}

void MasterService::PartialRunSetup(const std::shared_ptr<Call>& call) {
  blocking_.Run([this, call] {
    proto::PartialRunSetupRequest request;
    if (!Read(call, &request)) return;
    RunSignature signature{.feeds = {}, .fetches = {}, .targets = {}, .by_client_edges = true};
    std::shared_ptr<ClientSession> session;
    const Status found = [&]() -> Status {
      TF_ASSIGN_OR_RETURN(session, FindSession(request.session_handle()));
      MutexLock lock(session->session->graph_mutex());
      TF_RETURN_IF_ERROR(FindTensors(session->graph, request.feed(), &signature.feeds));
      TF_RETURN_IF_ERROR(FindTensors(session->graph, request.fetch(), &signature.fetches));
      TF_RETURN_IF_ERROR(FindTargets(session->graph, request.target(), &signature.targets));
      return CheckFeeds(signature, {});
    }();
    if (!found.ok()) return call->Fail(found);
    auto compiled =
        session->session->Prepare(signature, DeadlineAfter(0, session->session->options().operation_timeout));
    auto partial = std::make_shared<PartialRun>(session->session, std::move(signature), std::move(compiled));
    proto::PartialRunSetupResponse response;
    {
      MutexLock lock(session->mu);
      response.set_partial_run_handle(StrCat("partial_run_", session->next_partial_run++));
      session->partial_runs[response.partial_run_handle()] = std::move(partial);
    }
    Answer(call, response);
  });
}

void MasterService::RunPart(const std::shared_ptr<Running>& run, const std::string& handle) {
  std::shared_ptr<PartialRun> partial;
  {
    MutexLock lock(run->session->mu);
    const auto it = run->session->partial_runs.find(handle);
    if (it != run->session->partial_runs.end()) partial = it->second;
  }
  if (partial == nullptr) {
    return run->Finish(InvalidArgument("Must run PartialRunSetup before performing partial runs: there is no run '",
                                       handle, "' (any more)"));
  }
  PartialRun::Part part{
      .feeds = run->signature.feeds, .values = std::move(run->feeds), .fetches = run->signature.fetches};
  if (const Status accepted = partial->Accept(part); !accepted.ok()) return run->Finish(accepted);
  const auto finish = [this, run, partial, handle](const StatusOr<std::vector<Tensor>>& result) {
    if (run->timer != 0) timer_->Cancel(run->timer);
    if (!result.ok() || partial->is_over()) {
      MutexLock lock(run->session->mu);
      run->session->partial_runs.erase(handle);
    }
    run->Finish(result);
  };
  auto go = [this, run, partial, finish, part = std::move(part)]() mutable {
    const auto step = partial->Begin(run->deadline);
    if (!step.ok()) return finish(step.status());
    Watch(run, *step);
    partial->Continue(std::move(part), finish);
  };
  if (!partial->CanBegin()) return blocking_.Run(go);
  const ScopedTransportThread transport_thread;
  go();
}

void MasterService::MakeCallable(const std::shared_ptr<Call>& call) {
  proto::MakeCallableRequest request;
  if (!Read(call, &request)) return;
  auto session = FindSession(request.session_handle());
  if (!session.ok()) return call->Fail(session.status());
  ClientSession::Callable callable;
  callable.options = request.options().run_options();
  {
    MutexLock lock((*session)->session->graph_mutex());
    const Graph& graph = (*session)->graph;
    Status found = FindTensors(graph, request.options().feed(), &callable.signature.feeds);
    if (found.ok()) found = FindTensors(graph, request.options().fetch(), &callable.signature.fetches);
    if (found.ok()) found = FindTargets(graph, request.options().target(), &callable.signature.targets);
    if (found.ok()) {
      found = FindConnections(graph, request.options().tensor_connection(), &callable.signature);
    }
    if (!found.ok()) return call->Fail(found);
  }
  proto::MakeCallableResponse response;
  {
    MutexLock lock((*session)->mu);
    response.set_handle((*session)->next_callable++);
    (*session)->callables[response.handle()] = std::move(callable);
  }
  Answer(call, response);
}

void MasterService::RunCallable(const std::shared_ptr<Call>& call) {
  proto::RunCallableRequest request;
  std::vector<Payload> tensors;
  if (!ReadWithFeeds(call, proto::RunCallableRequest::kFeedFieldNumber, &request, &tensors)) return;
  auto run = std::make_shared<Running>();
  run->call = call;
  const Status prepared = [&]() -> Status {
    TF_ASSIGN_OR_RETURN(run->session, FindSession(request.session_handle()));
    proto::RunOptions options;
    {
      MutexLock lock(run->session->mu);
      const auto it = run->session->callables.find(request.handle());
      if (it == run->session->callables.end()) {
        return InvalidArgument("No such callable handle: ", request.handle());
      }
      run->signature = it->second.signature;
      options = it->second.options;
    }
    if (tensors.size() != run->signature.feeds.size()) {
      return InvalidArgument("the callable takes ", run->signature.feeds.size(), " feeds, got ", tensors.size());
    }
    for (const Payload& feed : tensors) {
      TF_ASSIGN_OR_RETURN(Tensor value, ReadTensor(feed));
      run->feeds.push_back(std::move(value));
    }
    run->Follow(options);
    return OkStatus();
  }();
  if (!prepared.ok()) return run->Finish(prepared);
  run->write = [](const std::vector<Tensor>& values) {
    MessageParts answer;
    for (const Tensor& value : values) AppendTensor(1, value, &answer);
    return answer;
  };
  Run(run);
}

void MasterService::ReleaseCallable(const std::shared_ptr<Call>& call) {
  proto::ReleaseCallableRequest request;
  if (!Read(call, &request)) return;
  auto session = FindSession(request.session_handle());
  if (!session.ok()) return call->Fail(session.status());
  {
    MutexLock lock((*session)->mu);
    if ((*session)->callables.erase(request.handle()) == 0) {
      return call->Fail(InvalidArgument("No such callable handle: ", request.handle()));
    }
  }
  Answer(call, proto::ReleaseCallableResponse());
}

void MasterService::Run(const std::shared_ptr<Running>& run) {
  if (const Status status = CheckFeeds(run->signature, run->feeds); !status.ok()) return run->Finish(status);
  const auto graph = run->session->session->FindPrepared(run->signature);
  if (graph != nullptr && run->session->session->CanStart(*graph)) {
    const ScopedTransportThread transport_thread;
    return Launch(run, graph);
  }
  preparing_.Run([this, run] {
    const auto prepared = run->session->session->Prepare(run->signature, run->deadline);
    if (!prepared.ok()) return run->Finish(prepared.status());
    Launch(run, *prepared);
  });
}

void MasterService::Launch(const std::shared_ptr<Running>& run, const std::shared_ptr<CompiledGraph>& graph) {
  auto started = run->session->session->Start(graph, std::move(run->feeds), run->deadline, {.trace = run->trace});
  if (!started.ok()) return run->Finish(started.status());
  const auto step = *std::move(started);
  Watch(run, step);
  step->WhenEnded([this, run, step, graph = run->partition_graphs ? graph : nullptr] {
    if (run->timer != 0) timer_->Cancel(run->timer);
    if (run->trace || graph != nullptr) {
      StatusOr<std::vector<std::string>> graphs(absl::in_place);
      if (graph != nullptr) graphs = MasterSession::PartitionGraphs(*graph);
      if (!graphs.ok()) return run->Finish(graphs.status());
      run->metadata = EncodeRunMetadata(step->TakeTraces(), *graphs);
    }
    run->Finish(step->TakeResult());
  });
}

void MasterService::Watch(const std::shared_ptr<Running>& run, const std::shared_ptr<MasterSession::Step>& step) {
  // Stopping a step runs what its kernels want to be told; that is for the pool.
  const auto abort = [this, step](const Status& why) { pool_->Schedule([step, why] { step->Abort(why); }); };
  if (run->deadline != Deadline::max()) {
    run->timer = timer_->RunAfter(run->deadline - Clock::now(), [this, run, abort] {
      abort(LateStep());
      // A task that does not answer is not waited for.
      timer_->RunAfter(kStepGrace, [this, run] { pool_->Schedule([run] { run->Finish(LateStep()); }); });
    });
  }
  run->call->OnCancelled([abort] { abort(Cancelled("the client has gone, or has given up")); });
}

}  // namespace tensorbraid
