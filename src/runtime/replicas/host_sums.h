// Where the gradients of the workers of a host meet in synchronous training (docs/design/0029).
#ifndef TENSORBRAID_RUNTIME_REPLICAS_HOST_SUMS_H_
#define TENSORBRAID_RUNTIME_REPLICAS_HOST_SUMS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/resources/accumulator_resource.h"
#include "runtime/resources/waiting_resource.h"

namespace tensorbraid {

// Has the values of the variables at the latest stamp, and collects gradients of this stamp until they can be taken. A
// stamp numbers a step; stamps rise (see train/replicas/sync_replicas.cc). Without values and gradients, it only tells
// others of the latest stamp. Thread-safe; waiting blocks no thread. Calls that wait call `done` once, possibly from
// another thread, and with Cancelled if `cancellation` (may be null) is cancelled first.
class HostSums final : public WaitingResource {
 public:
  static constexpr const char* kTypeName = "sums of a host";
  using OutcomesDone = std::function<void(StatusOr<std::vector<GradientOutcome>>)>;
  struct Values {
    int64_t epoch = 0;
    int64_t stamp = -1;
    std::vector<Tensor> tensors = {};
  };
  using ValuesDone = std::function<void(StatusOr<Values>)>;
  // The gradients of some workers at one stamp.
  struct Taken {
    int64_t stamp = 0;
    std::vector<int64_t> replicas = {};               // the numbers of the workers, ascending
    std::vector<std::vector<Tensor>> gradients = {};  // to be added: one element per sender, one tensor per variable
  };
  using TakenDone = std::function<void(StatusOr<Taken>)>;

  // `spares` is the number of joined workers for which a sum need not wait.
  HostSums(std::string name, int64_t spares);

  // Forgets everything, and fails the calls that wait with Unavailable: a new session of this task begins. If nothing
  // was stored, added or closed yet, calls go on waiting.
  void Reset();
  // Refuses further calls with `why`, and fails those that wait. Values that are here can still be read. Store and
  // Take, which only this task calls, get OutOfRange instead.
  void Close(const Status& why);

  // Stores the values of a later stamp; does nothing for another one. Gradients of earlier stamps are dropped. `epoch`
  // tells apart the lives of the resource from which the stamp comes; 0 keeps the own random one. OutOfRange after
  // Close, unless `reopens`.
  Status Store(int64_t epoch, int64_t stamp, std::vector<Tensor> values, bool reopens);
  // The stamp of the values that are here; -1 if there are none.
  int64_t stamp() const;
  // Waits for a stamp greater than `after`.
  void Read(int64_t after, CancellationManager* cancellation, ValuesDone done);

  // Lets sums of stamps greater than `after` wait for gradients of worker `replica`, until this call is cancelled.
  // Never succeeds.
  void Join(int64_t replica, int64_t after, CancellationManager* cancellation, Done done);
  // Adds the gradients of some workers, one tensor per variable, and waits until Report tells what became of them.
  void Add(int64_t stamp, std::vector<int64_t> replicas, std::vector<Tensor> gradients,
           CancellationManager* cancellation, OutcomesDone done);
  // Waits until no worker is missing for a sum, and takes the gradients. Gradients that were taken before, but not
  // reported, are taken again: their taker has failed. One caller at a time.
  void Take(CancellationManager* cancellation, TakenDone done);
  // Reports what became of the gradients that were taken last: one outcome per variable. If one is kRefused, the
  // gradients are given to Take again, those of one sender at a time.
  Status Report(const std::vector<GradientOutcome>& outcomes);

  std::string DebugString() const override;

 private:
  // The gradients of one call of Add.
  struct Entry {
    int64_t stamp = 0;
    std::vector<int64_t> replicas;
    std::vector<Tensor> gradients;
    bool alone = false;      // must be taken without others
    bool abandoned = false;  // its call was cancelled
    bool finished = false;
    std::vector<GradientOutcome> outcomes = {};
  };
  using Entries = std::vector<std::shared_ptr<Entry>>;

  // The error of a call that began in `generation` and cannot go on; OK if it can.
  Status Ended(uint64_t generation) const TB_REQUIRES(mu_);
  // Makes `stamp` the latest if it is later, and drops the gradients of earlier ones.
  void Advance(int64_t stamp) TB_REQUIRES(mu_);
  static void Finish(Entry* entry, std::vector<GradientOutcome> outcomes);
  static void Drop(Entry* entry);
  void PutBack(bool alone) TB_REQUIRES(mu_);
  // The number of workers that have joined and whose gradients of the latest stamp are missing.
  int64_t Missing() const TB_REQUIRES(mu_);
  bool IsReady() const TB_REQUIRES(mu_);
  Taken TakeReady() TB_REQUIRES(mu_);

  const std::string name_;
  const int64_t spares_;
  uint64_t generation_ TB_GUARDED_BY(mu_) = 0;  // grows with Reset
  Status closed_ TB_GUARDED_BY(mu_);
  Values values_ TB_GUARDED_BY(mu_);
  int64_t latest_ TB_GUARDED_BY(mu_) = -1;  // the greatest stamp of values or gradients
  // By the number of the call of Join: the worker, and the stamp after which sums wait for it.
  std::map<uint64_t, std::pair<int64_t, int64_t>> joined_ TB_GUARDED_BY(mu_);
  uint64_t joins_ TB_GUARDED_BY(mu_) = 0;
  std::set<int64_t> contributed_ TB_GUARDED_BY(mu_);  // the workers with gradients of the latest stamp
  Entries waiting_ TB_GUARDED_BY(mu_);                // all of the latest stamp
  Entries taken_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_REPLICAS_HOST_SUMS_H_
