#include "cluster/client_service/master_service.h"

#include <utility>
#include <vector>

#include "cluster/client_service/client_errors.h"
#include "cluster/client_service/client_session.h"
#include "cluster/client_service/session_options.h"
#include "cluster/protobuf/master_service.pb.h"
#include "cluster/protobuf/proto_io.h"
#include "core/system/env.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "pjrt/accelerator.h"
#include "pjrt/find_plugins.h"

namespace tensorbraid {
namespace {

constexpr std::string_view kService = "/tensorflow.MasterService/";

}  // namespace

MasterService::MasterService(std::shared_ptr<SessionHost> home, OpenCluster open_cluster, Timer* timer,
                             ThreadPool* pool, std::string default_config, const ServerLimits& limits)
    : home_(std::move(home)),
      open_cluster_(std::move(open_cluster)),
      timer_(timer),
      pool_(pool),
      default_config_(std::move(default_config)),
      limits_(limits) {}

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
  if (handler == Handlers().end()) return call->Fail(Unimplemented("method '", method, "' does not exist"));
  {
    MutexLock lock(mu_);
    if (stopping_) return call->Fail(Unavailable("the server is stopping"));
  }
  (this->*handler->second)(call);
}

StatusOr<std::shared_ptr<MasterService::ClientSession>> MasterService::FindSession(const std::string& handle) {
  MutexLock lock(mu_);
  const auto it = sessions_.find(handle);
  if (it == sessions_.end()) return UnknownSession(handle);
  it->second->last_used = ++uses_;
  return it->second;
}

Status MasterService::UnknownSession(const std::string& handle) const {
  // The message begins with the texts of TensorFlow's master and of its workers, because programs search for them.
  return Aborted("Session ", handle,
                 " is not found. Session handle is not found: ", ShortTaskName(home_->master().task()),
                 " has been restarted, or has closed the session; make a new session");
}

void MasterService::ForgetIdleSessions() {
  std::vector<std::shared_ptr<ClientSession>> forgotten;
  {
    MutexLock lock(mu_);
    while (sessions_.size() > static_cast<size_t>(limits_.max_sessions)) {
      auto idle = sessions_.end();
      for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
        // A request in progress holds a reference to its session, and can get one only under mu_.
        if (it->second.use_count() > 1) continue;
        if (idle == sessions_.end() || it->second->last_used < idle->second->last_used) idle = it;
      }
      if (idle == sessions_.end()) break;
      forgotten.push_back(std::move(idle->second));
      sessions_.erase(idle);
    }
  }
  for (const auto& session : forgotten) {
    TB_LOG(Warning, "cluster") << "closing session " << session->handle << ": there are more than "
                               << limits_.max_sessions
                               << " sessions (--max_sessions), and this one has been idle for longest";
    session->Close();
  }
}

Status MasterService::CheckRoom() {
  if (sessions_.size() < static_cast<size_t>(limits_.max_sessions)) return OkStatus();
  for (const auto& [handle, session] : sessions_) {
    if (session.use_count() == 1) return OkStatus();  // idle: see ForgetIdleSessions
  }
  return ResourceExhausted(ShortTaskName(home_->master().task()), " has ", sessions_.size(),
                           " sessions, all with requests in progress; its --max_sessions allows no more");
}

Status MasterService::CheckGraphSize(size_t bytes) const {
  if (static_cast<int64_t>(bytes) <= limits_.max_graph_bytes) return OkStatus();
  return ResourceExhausted("the graph of the session has ", bytes, " bytes; the --max_graph_bytes of ",
                           ShortTaskName(home_->master().task()), " allows ", limits_.max_graph_bytes,
                           ": store large constants in variables or feed them");
}

void MasterService::CreateSession(const std::shared_ptr<Call>& call) {
  blocking_.Run([this, call] {
    proto::CreateSessionRequest request;
    if (!ReadRequest(call, &request)) return;
    if (request.config().cluster_def().job_size() > 0) {
      const Status allowed = CheckIsTask(call->caller(), "a session that brings its own cluster");
      if (!allowed.ok()) return call->Fail(allowed);
    }
    if (const Status fits = CheckGraphSize(request.graph_def().size()); !fits.ok()) return call->Fail(fits);
    {
      MutexLock lock(mu_);
      if (const Status room = CheckRoom(); !room.ok()) return call->Fail(room);
    }
    auto session = std::make_shared<ClientSession>();
    {
      MutexLock lock(session->mu);
      session->graph_bytes = request.graph_def().size();
    }
    if (const Status status = session->graph.ImportGraphDef(request.graph_def()); !status.ok()) {
      return call->Fail(ToClientError(status));
    }
    proto::ConfigProto config;
    config.ParseFromString(default_config_);
    config.clear_cluster_def();
    config.MergeFrom(request.config());
    auto options = SessionOptionsFrom(config);
    if (!options.ok()) return call->Fail(options.status());
    options->limited_files = !call->caller().is_local;
    session->host = home_;
    if (config.cluster_def().job_size() > 0) {
      const auto cluster = ClusterSpec::FromClusterDef(config.cluster_def().SerializeAsString());
      auto host = cluster.ok() ? open_cluster_(*cluster, request.target()) : cluster.status();
      if (!host.ok()) return call->Fail(host.status());
      session->host = *std::move(host);
      session->has_own_cluster = true;
    }
    session->session = session->host->master().NewSession(&session->graph, *options);
    if (const Status status = session->session->CheckDevices(session->graph, 0); !status.ok()) {
      session->Close();
      return call->Fail(ToClientError(status));
    }
    // Tells the client which task its master is.
    session->handle =
        absl::StrCat(ShortTaskName(home_->master().task()), "#", absl::Hex(RandomSeed(), absl::kZeroPad16));
    Status refused;
    {
      MutexLock lock(mu_);
      refused = stopping_ ? Unavailable("the server is stopping") : CheckRoom();
      session->last_used = ++uses_;
      if (refused.ok()) sessions_[session->handle] = session;
    }
    if (!refused.ok()) {
      session->Close();
      return call->Fail(refused);
    }
    ForgetIdleSessions();
    proto::CreateSessionResponse response;
    response.set_session_handle(session->handle);
    AnswerCall(call, response);
  });
}

void MasterService::ExtendSession(const std::shared_ptr<Call>& call) {
  blocking_.Run([this, call] {
    proto::ExtendSessionRequest request;
    if (!ReadRequest(call, &request)) return;
    auto session = FindSession(request.session_handle());
    if (!session.ok()) return call->Fail(session.status());
    MutexLock lock((*session)->mu);
    if (request.current_graph_version() != (*session)->version) {
      return call->Fail(Aborted("the graph of the session is at version ", (*session)->version,
                                ", but the request extends version ", request.current_graph_version()));
    }
    const size_t graph_bytes = (*session)->graph_bytes + request.graph_def().size();
    if (const Status fits = CheckGraphSize(graph_bytes); !fits.ok()) return call->Fail(fits);
    {
      MutexLock graph_lock((*session)->session->graph_mutex());
      if (const Status status = (*session)->Extend(request.graph_def()); !status.ok()) {
        return call->Fail(ToClientError(status));
      }
    }
    (*session)->graph_bytes = graph_bytes;
    proto::ExtendSessionResponse response;
    response.set_new_graph_version(++(*session)->version);
    AnswerCall(call, response);
  });
}

void MasterService::CloseSession(const std::shared_ptr<Call>& call) {
  proto::CloseSessionRequest request;
  if (!ReadRequest(call, &request)) return;
  std::shared_ptr<ClientSession> session;
  {
    MutexLock lock(mu_);
    const auto it = sessions_.find(request.session_handle());
    if (it == sessions_.end()) return call->Fail(UnknownSession(request.session_handle()));
    session = std::move(it->second);
    sessions_.erase(it);
  }
  blocking_.Run([call, session = std::move(session)]() mutable {
    session->Close();
    session.reset();
    AnswerCall(call, proto::CloseSessionResponse());
  });
}

void MasterService::ListDevices(const std::shared_ptr<Call>& call) {
  blocking_.Run([this, call] {
    proto::ListDevicesRequest request;
    if (!ReadRequest(call, &request)) return;
    std::shared_ptr<SessionHost> host = home_;
    std::vector<DeviceName> filters;
    // A request without a session lists the devices of the server's own cluster.
    if (!request.session_handle().empty()) {
      auto session = FindSession(request.session_handle());
      if (!session.ok()) {
        return call->Fail(
            InvalidArgument("Session ", request.session_handle(), " is not found. Has this master been restarted?"));
      }
      host = (*session)->host;
      filters = (*session)->session->options().device_filters;
    }
    proto::ListDevicesResponse response;
    for (const ClusterDevice& device : host->master().ListDevices(filters)) {
      auto* out = device.is_local ? response.add_local_device() : response.add_remote_device();
      out->set_name(ToUtf8(device.name.ToString()));
      out->set_device_type(ToUtf8(device.name.type.value_or("CPU")));
      out->set_memory_limit(device.memory_limit);
      if (device.is_local && pjrt::IsAcceleratorType(out->device_type())) {
        const auto there = pjrt::DescribeAccelerator(out->device_type(), device.name.id.value_or(0), /*start=*/false);
        out->set_memory_limit(there.memory_limit);
        out->set_physical_device_desc(ToUtf8(there.physical));
      }
      out->set_incarnation(device.incarnation);
    }
    AnswerCall(call, response);
  });
}

void MasterService::Reset(const std::shared_ptr<Call>& call) {
  blocking_.Run([this, call] {
    proto::ResetRequest request;
    if (!ReadRequest(call, &request)) return;
    if (const Status allowed = CheckIsTask(call->caller(), "Reset"); !allowed.ok()) return call->Fail(allowed);
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
    AnswerCall(call, proto::ResetResponse());
  });
}

}  // namespace tensorbraid
