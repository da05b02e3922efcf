#include "cluster/master_service.h"

#include <atomic>
#include <random>
#include <utility>
#include <vector>

#include "cluster/master_service.pb.h"
#include "cluster/master_step.h"
#include "cluster/proto_io.h"
#include "cluster/session_options.h"
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

void Answer(const std::shared_ptr<Call>& call, const google::protobuf::MessageLite& answer) {
  call->Answer(SerializeMessage(answer));
}

// TensorFlow takes "x" for "x:0".
StatusOr<Output> FindTensor(const Graph& graph, const std::string& name) {
  return graph.FindOutput(name.find(':') == std::string::npos ? name + ":0" : name);
}

template <typename Names>
Status FindTensors(const Graph& graph, const Names& names, std::vector<Output>* out) {
  for (const auto& name : names) {
    TF_ASSIGN_OR_RETURN(const Output output, FindTensor(graph, name));
    out->push_back(output);
  }
  return OkStatus();
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

}  // namespace

struct MasterService::ClientSession {
  struct Callable {
    RunSignature signature;
    int64_t timeout_ms = 0;
  };

  // Ends the session's steps, and the cluster if it has brought one. Blocks until that has ended.
  void Close() {
    session->Close();
    if (has_own_cluster) member->Stop(OkStatus());
  }

  std::string handle;
  Graph graph;                     // guarded by session->graph_mutex()
  std::shared_ptr<Member> member;  // whose master it is that holds the session
  bool has_own_cluster = false;
  std::shared_ptr<MasterSession> session;
  Mutex mu;
  int64_t version TB_GUARDED_BY(mu) = 0;
  int64_t next_callable TB_GUARDED_BY(mu) = 0;
  std::map<int64_t, Callable> callables TB_GUARDED_BY(mu);
};

// One step of a client, from its request to its answer.
struct MasterService::Running {
  std::shared_ptr<Call> call;
  std::shared_ptr<ClientSession> session;
  RunSignature signature;
  std::vector<Tensor> feeds;
  Deadline deadline = Deadline::max();
  std::function<MessageParts(const std::vector<Tensor>&)> write;
  bool errors_in_body = false;
  std::atomic<bool> answered{false};
  Timer::Id timer = 0;

  void Finish(const StatusOr<std::vector<Tensor>>& result) {
    if (answered.exchange(true)) return;
    if (result.ok()) return call->Answer(write(*result));
    if (!errors_in_body) return call->Fail(result.status());
    proto::RunStepResponse response;
    response.set_status_code(static_cast<int32_t>(result.status().code()));
    response.set_status_error_message(ToUtf8(std::string(result.status().message())));
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
  return it->second;
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
      if (!too_late) sessions_[session->handle] = session;
    }
    if (too_late) {
      session->Close();
      return call->Fail(Unavailable("the server is stopping"));
    }
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
  if (!Read(call, &request)) return;
  auto run = std::make_shared<Running>();
  run->call = call;
  run->errors_in_body = request.store_errors_in_response_body();
  const Status prepared = [&]() -> Status {
    TF_ASSIGN_OR_RETURN(run->session, FindSession(request.session_handle()));
    std::vector<std::string> feeds;
    for (const auto& feed : request.feed()) feeds.push_back(feed.name());
    {
      MutexLock lock(run->session->session->graph_mutex());
      const Graph& graph = run->session->graph;
      TF_RETURN_IF_ERROR(FindTensors(graph, feeds, &run->signature.feeds));
      TF_RETURN_IF_ERROR(FindTensors(graph, request.fetch(), &run->signature.fetches));
      TF_RETURN_IF_ERROR(FindTargets(graph, request.target(), &run->signature.targets));
    }
    for (const auto& feed : request.feed()) {
      auto value = FromProto(feed.tensor());
      if (!value.ok()) return Annotate(value.status(), StrCat("the feed of '", feed.name(), "'"));
      run->feeds.push_back(*std::move(value));
    }
    return OkStatus();
  }();
  if (!prepared.ok()) return run->Finish(prepared);
  run->deadline = DeadlineAfter(request.options().timeout_in_ms(), run->session->session->options().operation_timeout);
  run->write = [names = std::vector<std::string>(request.fetch().begin(), request.fetch().end())](
                   const std::vector<Tensor>& values) {
    MessageParts answer;
    for (size_t i = 0; i < names.size(); ++i) AppendNamedTensor(1, names[i], values[i], &answer);
    return answer;
  };
  Run(run);
}

void MasterService::PartialRunSetup(const std::shared_ptr<Call>& call) {
  call->Fail(Unimplemented("partial runs are not there yet"));
}

void MasterService::MakeCallable(const std::shared_ptr<Call>& call) {
  proto::MakeCallableRequest request;
  if (!Read(call, &request)) return;
  auto session = FindSession(request.session_handle());
  if (!session.ok()) return call->Fail(session.status());
  if (request.options().tensor_connection_size() > 0) {
    return call->Fail(Unimplemented("callables whose fetches are connected to feeds of the same step"));
  }
  ClientSession::Callable callable;
  callable.timeout_ms = request.options().run_options().timeout_in_ms();
  {
    MutexLock lock((*session)->session->graph_mutex());
    const Graph& graph = (*session)->graph;
    Status found = FindTensors(graph, request.options().feed(), &callable.signature.feeds);
    if (found.ok()) found = FindTensors(graph, request.options().fetch(), &callable.signature.fetches);
    if (found.ok()) found = FindTargets(graph, request.options().target(), &callable.signature.targets);
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
  if (!Read(call, &request)) return;
  auto run = std::make_shared<Running>();
  run->call = call;
  const Status prepared = [&]() -> Status {
    TF_ASSIGN_OR_RETURN(run->session, FindSession(request.session_handle()));
    int64_t timeout_ms = 0;
    {
      MutexLock lock(run->session->mu);
      const auto it = run->session->callables.find(request.handle());
      if (it == run->session->callables.end()) {
        return InvalidArgument("No such callable handle: ", request.handle());
      }
      run->signature = it->second.signature;
      timeout_ms = it->second.timeout_ms;
    }
    if (static_cast<size_t>(request.feed_size()) != run->signature.feeds.size()) {
      return InvalidArgument("the callable takes ", run->signature.feeds.size(), " feeds, got ", request.feed_size());
    }
    for (const auto& feed : request.feed()) {
      TF_ASSIGN_OR_RETURN(Tensor value, FromProto(feed));
      run->feeds.push_back(std::move(value));
    }
    run->deadline = DeadlineAfter(timeout_ms, run->session->session->options().operation_timeout);
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
  blocking_.Run([this, run] {
    const auto prepared = run->session->session->Prepare(run->signature, run->deadline);
    if (!prepared.ok()) return run->Finish(prepared.status());
    Launch(run, *prepared);
  });
}

void MasterService::Launch(const std::shared_ptr<Running>& run, const std::shared_ptr<CompiledGraph>& graph) {
  auto started = run->session->session->Start(graph, std::move(run->feeds), run->deadline);
  if (!started.ok()) return run->Finish(started.status());
  const auto step = *std::move(started);
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
  step->WhenEnded([this, run, step] {
    if (run->timer != 0) timer_->Cancel(run->timer);
    run->Finish(step->TakeResult());
  });
}

}  // namespace tensorbraid
