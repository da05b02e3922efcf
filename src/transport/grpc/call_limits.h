// Limits the calls that clients have in progress on a server, and the memory of their requests.
#ifndef TENSORBRAID_TRANSPORT_GRPC_CALL_LIMITS_H_
#define TENSORBRAID_TRANSPORT_GRPC_CALL_LIMITS_H_

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "core/system/clock.h"
#include "core/system/timer.h"
#include "core/threads/mutex.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/transport/server_limits.h"

namespace tensorbraid {

// Counts the calls in progress of each connection and the bytes of all their requests, and cancels calls whose request
// does not arrive. Held by shared_ptr. Thread-safe.
class CallLimits : public std::enable_shared_from_this<CallLimits> {
 public:
  // `timer` must outlive all calls.
  CallLimits(const ServerLimits& limits, Timer* timer) : limits_(limits), timer_(timer) {}

  // A call in progress. The functions of one ticket are called by one thread at a time.
  class Ticket {
   public:
    Ticket() = default;
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

    // Counts a call of the connection `client` until the ticket is destroyed. ResourceExhausted if there are too many;
    // the call is then not counted. `cancel` is called on the timer's thread, at most once and not after
    // RequestArrived has returned, if the request has not arrived in time.
    Status Begin(std::shared_ptr<CallLimits> limits, const std::string& client, std::function<void()> cancel);
    // Counts the request's bytes until the ticket is destroyed. ResourceExhausted if the request is too large, or if
    // all requests together would be too large; its bytes are then not counted.
    Status RequestArrived(size_t bytes);

   private:
    friend class CallLimits;
    struct Waiting {
      MonotonicClock::time_point since;
      std::function<void()> cancel;
    };
    void StopWaiting();

    std::shared_ptr<CallLimits> limits_;  // null: not counted
    std::string client_;
    std::list<Waiting>::iterator waiting_;
    bool waits_ = false;
    int64_t bytes_ = 0;  // of the request, as far as they are counted
  };

 private:
  // Cancels the calls whose requests are late. Schedules the next check if other requests are awaited.
  void CancelLate();
  void ScheduleCheck() TB_REQUIRES(mu_);

  const ServerLimits limits_;
  Timer* const timer_;
  Mutex mu_;
  absl::flat_hash_map<std::string, int> in_progress_ TB_GUARDED_BY(mu_);
  int64_t bytes_ TB_GUARDED_BY(mu_) = 0;                   // of the requests of all tickets
  std::list<Ticket::Waiting> awaited_ TB_GUARDED_BY(mu_);  // the oldest first
  bool check_scheduled_ TB_GUARDED_BY(mu_) = false;        // the timer will call CancelLate
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_CALL_LIMITS_H_
