#include "train/replicas/host_routes.h"

#include <chrono>
#include <cstdint>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"

namespace tensorbraid {
namespace {

// After the first worker of the host could not be used, this worker tries again to join it.
constexpr std::chrono::seconds kJoinAgain{1};
// How long this worker waits for the first worker of the host at the start, before it uses the parameter servers.
constexpr std::chrono::seconds kFirstJoin{10};

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
      const bool by_host = Uses();
      const Status pulled = session_.Run({by_host ? ops_.host.pull : ops_.servers.pull}).status();
      if (pulled.ok()) {
        if (ops_.once && !by_host && !AwaitHost()) return OkStatus();
        continue;
      }
      if (absl::IsOutOfRange(pulled)) return session_.Run({ops_.end}).status();
      if (!by_host || !Leaves(pulled)) return pulled;
    }
  }

  Status Push() {
    AwaitFirstJoin(/*switched=*/false);
    while (true) {
      const bool by_host = SwitchForPush();
      const HostRoute& route = by_host ? ops_.host : ops_.servers;
      const auto pushed = session_.Run({route.push, route.pushed});
      if (pushed.ok()) {
        MutexLock lock(mu_);
        pushed_ = (*pushed)[1].scalar<int64_t>();
        continue;
      }
      if (absl::IsOutOfRange(pushed.status())) return OkStatus();  // the sums were closed
      if (!by_host || !Leaves(pushed.status())) return pushed.status();
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
      const Status joined = JoinOnce();
      {
        MutexLock lock(mu_);
        first_join_failed_ = true;
        changed_.NotifyAll();
      }
      if (absl::IsCancelled(joined) || absl::IsAborted(joined)) return OkStatus();
      if (coordinator_.WaitForStop(kJoinAgain)) return OkStatus();
    }
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
  bool Uses() {
    MutexLock lock(mu_);
    return uses_host_;
  }
  // Only Push begins to use the host, between two pushes. So the stamp of the last push to the parameter servers is
  // known, and the first worker does not wait for a gradient that went there.
  bool SwitchForPush() {
    MutexLock lock(mu_);
    if (wants_host_ && !uses_host_) {
      uses_host_ = true;
      changed_.NotifyAll();
    }
    return uses_host_;
  }
  // If the error means that the first worker of the host is lost, uses the parameter servers from now on.
  bool Leaves(const Status& why) {
    if (!absl::IsUnavailable(why) && !absl::IsAborted(why)) return false;
    {
      MutexLock lock(mu_);
      if (!uses_host_) return true;
      wants_host_ = uses_host_ = false;
    }
    TB_LOG(Info, "train") << "from now on this worker sends its gradients to the parameter servers by itself: "
                          << ToString(why);
    return true;
  }
  Status JoinOnce() {
    // A wait for a task that was never started would delay the preparation of other runs.
    TF_ASSIGN_OR_RETURN(const auto epochs,
                        session_.Run({ops_.epoch_of_host, ops_.epoch_of_servers}, {}, {.timeout = kFirstJoin}));
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
    const Status lost = session_.Run({ops_.join}, {{ops_.joined_after, Tensor::Scalar(after)}}).status();
    (void)Leaves(lost);
    return lost;
  }

  const HostRouteOps ops_;
  Session& session_;
  Coordinator& coordinator_;
  Mutex mu_;
  CondVar changed_;
  bool wants_host_ TB_GUARDED_BY(mu_) = false;
  bool uses_host_ TB_GUARDED_BY(mu_) = false;
  bool first_join_failed_ TB_GUARDED_BY(mu_) = false;
  bool stopping_ TB_GUARDED_BY(mu_) = false;
  int64_t pushed_ TB_GUARDED_BY(mu_) = -1;  // the stamp of the last push
};

}  // namespace

void StartHostRoutes(const HostRouteOps& ops, Session& session, Coordinator& coordinator) {
  const auto routes = std::make_shared<Routes>(ops, session, coordinator);
  coordinator.OnStop([routes] { routes->OnStop(); });
  coordinator.StartThread([routes] { return routes->Pull(); });
  coordinator.StartThread([routes] { return routes->Push(); });
  coordinator.StartThread([routes] { return routes->Join(); });
}

}  // namespace tensorbraid
