// The service that clients call: TensorFlow's MasterService, used by TensorFlow's clients and by our own sessions.
#ifndef TENSORBRAID_CLUSTER_CLIENT_SERVICE_MASTER_SERVICE_H_
#define TENSORBRAID_CLUSTER_CLIENT_SERVICE_MASTER_SERVICE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cluster/client_service/session_host.h"
#include "core/system/timer.h"
#include "core/threads/blocking_calls.h"
#include "tensorbraid/transport/server_limits.h"
#include "transport/calls.h"

namespace tensorbraid {

// Answers CreateSession, ExtendSession, RunStep, PartialRunSetup, CloseSession, ListDevices, Reset, MakeCallable,
// RunCallable and ReleaseCallable. Short kernels of a step run on the thread that delivered the request. Work that may
// block (creating sessions, preparing signatures) runs on separate threads. Thread-safe.
class MasterService final : public CallHandler {
 public:
  // Opens the cluster that a session brings, for a client that connected to `target`; see SessionClusters::Open.
  using OpenCluster =
      std::function<StatusOr<std::shared_ptr<SessionHost>>(const ClusterSpec& cluster, const std::string& target)>;
  // Sessions run in the cluster of `home` unless they bring their own. `timer` and `pool` must outlive the service.
  // `default_config` is a serialized ConfigProto, or empty; a session's own config overrides its fields.
  MasterService(std::shared_ptr<SessionHost> home, OpenCluster open_cluster, Timer* timer, ThreadPool* pool,
                std::string default_config, const ServerLimits& limits = {});
  // REQUIRES: no more calls arrive.
  ~MasterService() override;

  void OnCall(std::shared_ptr<Call> call) override;
  // Closes all sessions. Later calls fail with Unavailable.
  void Shutdown();
  // Blocks until all threads of the service are idle. REQUIRES: no more calls arrive.
  void WaitForCalls() {
    preparing_.WaitUntilIdle();
    blocking_.WaitUntilIdle();
  }

 private:
  struct ClientSession;
  struct Running;
  using Handler = void (MasterService::*)(const std::shared_ptr<Call>&);
  static const std::map<std::string, Handler, std::less<>>& Handlers();

  void CreateSession(const std::shared_ptr<Call>& call);
  void ExtendSession(const std::shared_ptr<Call>& call);
  void CloseSession(const std::shared_ptr<Call>& call);
  void ListDevices(const std::shared_ptr<Call>& call);
  void Reset(const std::shared_ptr<Call>& call);
  void RunStep(const std::shared_ptr<Call>& call);
  void PartialRunSetup(const std::shared_ptr<Call>& call);
  void MakeCallable(const std::shared_ptr<Call>& call);
  void RunCallable(const std::shared_ptr<Call>& call);
  void ReleaseCallable(const std::shared_ptr<Call>& call);

  // The error for a session that does not exist here.
  Status UnknownSession(const std::string& handle) const;
  // Aborted if the session does not exist, which makes clients create a new one.
  StatusOr<std::shared_ptr<ClientSession>> FindSession(const std::string& handle);
  // Clients that are killed never close their sessions. While there are more than max_sessions, closes the session that
  // has been unused for longest and has no request in progress. If its client still exists, the client's next call gets
  // Aborted, and the client creates a new session.
  void ForgetIdleSessions();
  // ResourceExhausted if there are max_sessions, all with requests in progress.
  Status CheckRoom() TB_REQUIRES(mu_);
  // ResourceExhausted if a graph of `bytes` bytes is too large.
  Status CheckGraphSize(size_t bytes) const;
  // Prepares and starts a step. The call is answered when the step has ended.
  void Run(const std::shared_ptr<Running>& run);
  void Launch(const std::shared_ptr<Running>& run, const std::shared_ptr<CompiledGraph>& graph);
  // Runs one call of a partial run.
  void RunPart(const std::shared_ptr<Running>& run, const std::string& handle);
  // Aborts the step when its deadline passes or the client disconnects.
  void Watch(const std::shared_ptr<Running>& run, const std::shared_ptr<MasterStep>& step);

  const std::shared_ptr<SessionHost> home_;
  const OpenCluster open_cluster_;
  Timer* const timer_;
  ThreadPool* const pool_;
  const std::string default_config_;
  const ServerLimits limits_;
  Mutex mu_;
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  std::map<std::string, std::shared_ptr<ClientSession>, std::less<>> sessions_ TB_GUARDED_BY(mu_);
  uint64_t uses_ TB_GUARDED_BY(mu_) = 0;
  BlockingCalls blocking_{64};
  // Separate from `blocking_`: preparing a signature may wait long for tasks that are not up, and must not delay the
  // creation and closing of sessions.
  BlockingCalls preparing_{64};
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_CLIENT_SERVICE_MASTER_SERVICE_H_
