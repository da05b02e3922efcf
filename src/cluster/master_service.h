// The door for clients: TensorFlow's MasterService, spoken by its clients and by our own sessions alike.
#ifndef TENSORBRAID_CLUSTER_MASTER_SERVICE_H_
#define TENSORBRAID_CLUSTER_MASTER_SERVICE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cluster/blocking_calls.h"
#include "cluster/member.h"
#include "core/timer.h"
#include "transport/calls.h"

namespace tensorbraid {

// Answers CreateSession, ExtendSession, RunStep, PartialRunSetup, CloseSession, ListDevices, Reset, MakeCallable,
// RunCallable and ReleaseCallable. A step runs on the thread that brought the request, as far as it is quick; what may
// have to wait (making sessions, preparing signatures) has threads of its own. Thread-safe.
class MasterService final : public CallHandler {
 public:
  // Opens the cluster that a session has brought, for a client who called `target`; see SessionClusters::Open.
  using OpenCluster =
      std::function<StatusOr<std::shared_ptr<Member>>(const ClusterSpec& cluster, const std::string& target)>;
  // Sessions run in the cluster of `home` unless they bring one. Timer and pool must outlive the service.
  // `default_config` (a ConfigProto, or nothing) is what sessions take where their own says nothing.
  MasterService(std::shared_ptr<Member> home, OpenCluster open_cluster, Timer* timer, ThreadPool* pool,
                std::string default_config);
  // REQUIRES: no more calls come.
  ~MasterService() override;

  void OnCall(std::shared_ptr<Call> call) override;
  // Closes all sessions; calls are answered with errors from now on.
  void Shutdown();
  // Blocks until no thread of the service is at work. REQUIRES: no more calls come.
  void WaitForCalls() {
    preparing_.WaitUntilIdle();
    blocking_.WaitUntilIdle();
  }

 private:
  struct ClientSession;
  struct Running;
  static constexpr size_t kMaxSessions = 256;
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

  // Aborted, which makes clients begin anew, when there is none (any more).
  StatusOr<std::shared_ptr<ClientSession>> FindSession(const std::string& handle);
  // Clients that go without a word leave their sessions behind: of more than kMaxSessions, those that nobody has used
  // for longest go, unless a step is under way. Their clients, should they be there after all, hear Aborted and begin
  // anew.
  void ForgetIdleSessions();
  // Prepares and starts; the answer follows when the step has ended.
  void Run(const std::shared_ptr<Running>& run);
  void Launch(const std::shared_ptr<Running>& run, const std::shared_ptr<CompiledGraph>& graph);
  // The same for one call of a partial run.
  void RunPart(const std::shared_ptr<Running>& run, const std::string& handle);
  // Aborts the step when the client's time is up or the client has gone.
  void Watch(const std::shared_ptr<Running>& run, const std::shared_ptr<MasterSession::Step>& step);

  const std::shared_ptr<Member> home_;
  const OpenCluster open_cluster_;
  Timer* const timer_;
  ThreadPool* const pool_;
  const std::string default_config_;
  Mutex mu_;
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  std::map<std::string, std::shared_ptr<ClientSession>, std::less<>> sessions_ TB_GUARDED_BY(mu_);
  uint64_t uses_ TB_GUARDED_BY(mu_) = 0;
  BlockingCalls blocking_{64};
  // Signatures may wait for tasks that are not there; making and closing sessions does not wait behind them.
  BlockingCalls preparing_{64};
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MASTER_SERVICE_H_
