#include "train/replicas/host_routes.h"

#include <chrono>
#include <cstdint>
#include <utility>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"

namespace tensorbraid {
namespace {

// After the first worker of the host could not be used, this worker tries again to join it.
constexpr std::chrono::seconds kJoinAgain{1};
// How long this worker waits for the first worker of the host at the start, before it uses the parameter servers.
constexpr std::chrono::seconds kFirstJoin{10};
constexpr std::chrono::seconds kClosingTimeout{5};

class Routes {
 public:
  Routes(const HostRouteOps& ops, Session& session, Coordinator& coordinator)
      : ops_(ops), session_(session), coordinator_(coordinator) {}

  // Called when a stop was requested. The routes go on until the session is closed, because other workers may need
  // this one.
  void OnStop() {
    MutexLock lock(mu_);
    stopping_ = true;
    changed_.NotifyAll();
  }

  Status Pull() {
    AwaitFirstJoin(/*switched=*/true);
    while (true) {
      const std::shared_ptr<Session> host = UsedHost();
      const Status pulled =
          host != nullptr ? host->Run({ops_.host.pull}).status() : session_.Run({ops_.servers.pull}).status();
      if (pulled.ok()) {
        if (ops_.once && host == nullptr && !AwaitHost()) return OkStatus();
        continue;
      }
      if (absl::IsOutOfRange(pulled)) return session_.Run({ops_.end}).status();
      if (host == nullptr || !Leaves(pulled)) return ErrorOf(pulled);
    }
  }

  Status Push() {
    AwaitFirstJoin(/*switched=*/false);
    while (true) {
      const std::shared_ptr<Session> host = SwitchForPush();
      const HostRoute& route = host != nullptr ? ops_.host : ops_.servers;
      const auto pushed = (host != nullptr ? *host : session_).Run({route.push, route.pushed});
      if (pushed.ok()) {
        MutexLock lock(mu_);
        pushed_ = (*pushed)[1].scalar<int64_t>();
        continue;
      }
      if (absl::IsOutOfRange(pushed.status())) return OkStatus();  // the sums were closed
      if (host == nullptr || !Leaves(pushed.status())) return ErrorOf(pushed.status());
    }
  }

  // Joins the first worker of the host, which may be this one.
  Status Join() {
    if (!ops_.host.pull.valid()) {
      // Ends with the session, or when this worker leaves.
      session_.Run({ops_.join}, {{ops_.joined_after, Tensor::Scalar<int64_t>(-1)}}).status().IgnoreError();
      return OkStatus();
    }
    while (true) {
      JoinOnce().IgnoreError();
      {
        MutexLock lock(mu_);
        first_join_failed_ = true;
        changed_.NotifyAll();
        if (closed_) return OkStatus();
      }
      // If the first worker is started again, this session cannot use its new life.
      EndHostSession();
      if (coordinator_.WaitForStop(kJoinAgain)) return OkStatus();
    }
  }

  // Ends the runs with the first worker when the session is closed.
  Status Stay() {
    if (!ops_.stay.valid()) return OkStatus();
    session_.Run({ops_.stay}).status().IgnoreError();
    {
      MutexLock lock(mu_);
      closed_ = true;
    }
    EndHostSession();
    return OkStatus();
  }

 private:
  // Waits until Join has found the first worker and, with `switched`, Push has begun to use it. Without this wait, the
  // first steps would go to the parameter servers although all tasks start at the same time.
  void AwaitFirstJoin(bool switched) {
    if (!ops_.host.pull.valid()) return;
    MutexLock lock(mu_);
    changed_.WaitFor(mu_, kFirstJoin, [&]() TB_REQUIRES(mu_) {
      return (switched ? uses_host_ : wants_host_) || first_join_failed_ || stopping_;
    });
  }
  // Waits until this worker uses the first worker of the host. Returns false if it will not any more.
  bool AwaitHost() {
    if (!ops_.host.pull.valid()) return false;
    MutexLock lock(mu_);
    changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return uses_host_ || stopping_; });
    return uses_host_;
  }
  // The session for runs with the first worker of the host; null if this worker uses the parameter servers.
  std::shared_ptr<Session> UsedHost() {
    MutexLock lock(mu_);
    return uses_host_ ? host_session_ : nullptr;
  }
  // Only Push begins to use the host, between two pushes. So the stamp of the last push to the parameter servers is
  // known, and the first worker does not wait for a gradient that went there.
  std::shared_ptr<Session> SwitchForPush() {
    MutexLock lock(mu_);
    if (wants_host_ && !uses_host_) {
      uses_host_ = true;
      changed_.NotifyAll();
    }
    return uses_host_ ? host_session_ : nullptr;
  }
  // Runs that fail when the session has been closed are no error.
  Status ErrorOf(const Status& why) {
    MutexLock lock(mu_);
    return closed_ ? OkStatus() : why;
  }
  // If the error of a run with the first worker of the host means that this worker is lost, uses the parameter servers
  // from now on. Cancelled means that the session for such runs was replaced.
  bool Leaves(const Status& why) {
    if (!absl::IsUnavailable(why) && !absl::IsAborted(why) && !absl::IsCancelled(why)) return false;
    {
      MutexLock lock(mu_);
      if (closed_) return false;
      if (!uses_host_) return true;
      wants_host_ = uses_host_ = false;
    }
    TB_LOG(Info, "train") << "from now on this worker sends its gradients to the parameter servers by itself: "
                          << ToString(why);
    return true;
  }
  StatusOr<std::shared_ptr<Session>> HostSession() {
    {
      MutexLock lock(mu_);
      if (host_session_ != nullptr) return host_session_;
    }
    TF_ASSIGN_OR_RETURN(std::shared_ptr<Session> made, session_.CreateAnother());
    MutexLock lock(mu_);
    if (closed_) return Cancelled("the session is closed");
    host_session_ = made;
    return made;
  }
  void EndHostSession() {
    std::shared_ptr<Session> ended;
    {
      MutexLock lock(mu_);
      ended = std::exchange(host_session_, nullptr);
      wants_host_ = uses_host_ = false;
    }
    if (ended != nullptr) ended->Close().IgnoreError();
  }
  Status JoinOnce() {
    TF_ASSIGN_OR_RETURN(const std::shared_ptr<Session> host, HostSession());
    TF_ASSIGN_OR_RETURN(const auto epochs,
                        host->Run({ops_.epoch_of_host, ops_.epoch_of_servers}, {}, {.timeout = kFirstJoin}));
    // If the parameter servers were started again, the first worker may not know it yet.
    if (epochs[0].scalar<int64_t>() != epochs[1].scalar<int64_t>()) return Unavailable("other parameter servers");
    int64_t after;
    {
      MutexLock lock(mu_);
      wants_host_ = true;
      changed_.NotifyAll();
      changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return uses_host_ || stopping_; });
      if (!uses_host_) return Cancelled("the training stops");
      after = pushed_;
    }
    const Status lost = host->Run({ops_.join}, {{ops_.joined_after, Tensor::Scalar(after)}}).status();
    (void)Leaves(lost);
    return lost;
  }

  const HostRouteOps ops_;
  Session& session_;
  Coordinator& coordinator_;
  Mutex mu_;
  CondVar changed_;
  std::shared_ptr<Session> host_session_ TB_GUARDED_BY(mu_);
  bool wants_host_ TB_GUARDED_BY(mu_) = false;
  bool uses_host_ TB_GUARDED_BY(mu_) = false;  // then host_session_ is not null
  bool first_join_failed_ TB_GUARDED_BY(mu_) = false;
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  bool closed_ TB_GUARDED_BY(mu_) = false;
  int64_t pushed_ TB_GUARDED_BY(mu_) = -1;  // the stamp of the last push
};

}  // namespace

Status StartHostRoutes(const HostRouteOps& ops, Session& session, Coordinator& coordinator) {
  TF_RETURN_IF_ERROR(session.Run({ops.reset}).status());
  const auto routes = std::make_shared<Routes>(ops, session, coordinator);
  coordinator.OnStop([routes] { routes->OnStop(); });
  coordinator.StartThread([routes] { return routes->Pull(); });
  coordinator.StartThread([routes] { return routes->Push(); });
  coordinator.StartThread([routes] { return routes->Join(); });
  coordinator.StartThread([routes] { return routes->Stay(); });
  return OkStatus();
}

void EndHostRoutes(const HostRouteOps& ops, Session& session) {
  if (!ops.leave.valid()) return;
  (void)session.Run({ops.leave}, {}, {.timeout = kClosingTimeout});
}

}  // namespace tensorbraid
