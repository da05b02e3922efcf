// Where the gradients of the workers of a host meet (docs/design/0029).
#ifndef TENSORBRAID_RUNTIME_REPLICAS_HOST_SUMS_H_
#define TENSORBRAID_RUNTIME_REPLICAS_HOST_SUMS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/system/clock.h"
#include "core/system/timer.h"
#include "runtime/resources/accumulator_resource.h"
#include "runtime/resources/waiting_resource.h"

namespace tensorbraid {

// Has the values of the variables at the latest stamp, and collects gradients until they can be taken. Stamps rise. In
// synchronous training a stamp numbers a step (see train/replicas/sync_replicas.cc): gradients of earlier stamps are
// dropped, and a sum waits for all workers that have joined. In asynchronous training a stamp numbers the exchanges
// with the parameter servers: gradients meet if their stamps differ by at most 1, and a sum waits for the missing
// workers at most as long as the last exchange took. Without values and gradients, it only tells others of the latest
// stamp.
//
// Thread-safe; waiting blocks no thread. Calls that wait call `done` once, possibly from another thread, and with
// Cancelled if `cancellation` (may be null) is cancelled first.
class HostSums final : public WaitingResource {
 public:
  static constexpr const char* kTypeName = "sums of a host";
  // What became of gradients, in the words of the tasks that add and report them. In synchronous training: one
  // GradientOutcome per variable.
  using Outcomes = std::vector<int64_t>;
  using OutcomesDone = std::function<void(StatusOr<Outcomes>)>;
  struct Values {
    int64_t epoch = 0;   // tells apart the lives of the resource from which the stamp comes
    int64_t stamp = -1;  // -1: none are here
    std::vector<Tensor> tensors = {};
  };
  using ValuesDone = std::function<void(StatusOr<Values>)>;
  // The gradients of some workers at one stamp.
  struct Taken {
    int64_t stamp = 0;                                // asynchronous: of the gradient that came first
    std::vector<int64_t> replicas = {};               // the numbers of the workers, ascending
    std::vector<std::vector<Tensor>> gradients = {};  // to be added: one element per sender, one tensor per variable
  };
  using TakenDone = std::function<void(StatusOr<Taken>)>;

  struct Options {
    int64_t spares = 0;  // the number of joined workers for which a sum need not wait
    bool async = false;
  };
  HostSums(std::string name, Options options);

  // Forgets everything, and fails the calls that wait with Unavailable: a new session of this task begins. If nothing
  // was stored, added or closed yet, calls go on waiting.
  void Reset();
  // Refuses further calls with `why`, and fails those that wait. Values that are here can still be read. Store and
  // Take, which only this task calls, get OutOfRange instead.
  void Close(const Status& why);

  // Stores the values of a later stamp or, in asynchronous training, of another epoch; does nothing for others. `epoch`
  // 0 is the own random epoch, which changes with Reset. A negative stamp stands for the next one. Returns the stamp of
  // the values that are then here. OutOfRange after Close, unless `reopens`.
  StatusOr<int64_t> Store(int64_t epoch, int64_t stamp, std::vector<Tensor> values, bool reopens);
  // The epoch and stamp of the values that are here. Does not wait.
  Values Latest() const;
  // Waits for a stamp greater than `after` or, if `epoch` is not 0, for values of another epoch.
  void Read(int64_t epoch, int64_t after, CancellationManager* cancellation, ValuesDone done);

  // Lets sums of stamps greater than `after` wait for gradients of worker `replica`, until this call is cancelled.
  // Asynchronous training ignores `after`. Never succeeds.
  void Join(int64_t replica, int64_t after, CancellationManager* cancellation, Done done);
  // Adds the gradients of some workers, and waits until Report tells what became of them. If they are dropped here, the
  // outcomes are `if_dropped`.
  void Add(int64_t stamp, std::vector<int64_t> replicas, std::vector<Tensor> gradients, Outcomes if_dropped,
           CancellationManager* cancellation, OutcomesDone done);
  // Waits until a sum is ready, and takes the gradients. If gradients that were taken before were not reported, their
  // taker has failed. Synchronous training then takes them again, because the parameter servers count a gradient only
  // once. Asynchronous training drops them, so that none is applied twice. One caller at a time.
  void Take(CancellationManager* cancellation, TakenDone done);
  // Reports what became of the gradients that were taken last. If, in synchronous training, an outcome is kRefused, the
  // gradients are given to Take again, those of one sender at a time.
  Status Report(const Outcomes& outcomes);

  std::string DebugString() const override;

 private:
  // The gradients of one call of Add.
  struct Entry {
    int64_t stamp = 0;
    std::vector<int64_t> replicas;
    std::vector<Tensor> gradients;
    Outcomes outcomes;       // until it is finished: those if it is dropped
    bool alone = false;      // must be taken without others
    bool abandoned = false;  // its call was cancelled
    bool finished = false;
  };
  using Entries = std::vector<std::shared_ptr<Entry>>;

  // The error of a call that began in `generation` and cannot go on; OK if it can.
  Status Ended(uint64_t generation) const TB_REQUIRES(mu_);
  // Makes `stamp` the latest if it is later, and drops the gradients of earlier ones.
  void Advance(int64_t stamp) TB_REQUIRES(mu_);
  static void Finish(Entry* entry, Outcomes outcomes);
  static void Drop(Entry* entry) { Finish(entry, entry->outcomes); }
  void PutBack(bool alone) TB_REQUIRES(mu_);
  // The number of workers that have joined and whose gradients for the next sum are missing.
  int64_t Missing() const TB_REQUIRES(mu_);
  // Whether a sum can be taken. If it only waits for missing workers of asynchronous training, sees to it that its wait
  // ends.
  bool IsReady() TB_REQUIRES(mu_);
  Taken TakeReady() TB_REQUIRES(mu_);

  const std::string name_;
  const Options options_;
  int64_t own_epoch_ TB_GUARDED_BY(mu_);
  uint64_t generation_ TB_GUARDED_BY(mu_) = 0;  // grows with Reset
  Status closed_ TB_GUARDED_BY(mu_);
  Values values_ TB_GUARDED_BY(mu_);
  int64_t latest_ TB_GUARDED_BY(mu_) = -1;  // the greatest stamp of values or gradients
  // By the number of the call of Join: the worker, and the stamp after which sums wait for it.
  std::map<uint64_t, std::pair<int64_t, int64_t>> joined_ TB_GUARDED_BY(mu_);
  uint64_t joins_ TB_GUARDED_BY(mu_) = 0;
  // The workers that the next sum does not miss. Synchronous: those that have added gradients of the latest stamp,
  // taken ones too. Asynchronous: those with gradients in waiting_.
  std::set<int64_t> contributed_ TB_GUARDED_BY(mu_);
  Entries waiting_ TB_GUARDED_BY(mu_);  // synchronous: all of the latest stamp
  Entries taken_ TB_GUARDED_BY(mu_);
  // Asynchronous: when the last sum was taken, how long it then took until it was reported, and when the sum that waits
  // leaves without the missing workers.
  MonotonicClock::time_point taken_at_ TB_GUARDED_BY(mu_);
  MonotonicClock::duration exchange_time_ TB_GUARDED_BY(mu_){};
  std::optional<MonotonicClock::time_point> leaves_at_ TB_GUARDED_BY(mu_);
  std::unique_ptr<Timer> timer_ TB_GUARDED_BY(mu_);  // made when it is needed; the first to be destroyed
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_REPLICAS_HOST_SUMS_H_
