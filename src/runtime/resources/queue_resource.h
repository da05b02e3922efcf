// Queues of tuples of tensors. Waiting blocks no thread.
#ifndef TENSORBRAID_RUNTIME_RESOURCES_QUEUE_RESOURCE_H_
#define TENSORBRAID_RUNTIME_RESOURCES_QUEUE_RESOURCE_H_

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "runtime/kernel/cancellation.h"
#include "runtime/kernel/resource.h"
#include "runtime/resources/queue_store.h"

namespace tensorbraid {

// How a queue is constructed.
struct QueueOptions {
  enum class Kind { kFifo, kPadding, kRandomShuffle, kPriority };
  Kind kind = Kind::kFifo;
  // The dtype of each component. For kPriority the first is int64, the priority.
  std::vector<DType> types = {};
  // The shape of each component; empty if components may have any shape. Shapes must be fully known, except for
  // kPadding: its elements may differ in the unknown dimensions, and are padded with zeros when they are stacked. For
  // kPriority the first is a scalar.
  std::vector<Shape> shapes = {};
  int64_t capacity = -1;  // in elements; < 0: unbounded
  // For kRandomShuffle: dequeues leave this many elements to choose from while the queue is open.
  int64_t min_after_dequeue = 0;
  int64_t seed = 0, seed2 = 0;                 // both 0: any seed
  std::function<uint32_t()> random = nullptr;  // returns the random numbers for these seeds
};

// Thread-safe. Each call takes a callback, which is called once, without the queue's lock: by the calling thread if the
// call need not wait, otherwise by the thread that ends the wait. There are two lists of waiting calls, one of enqueues
// and closes, one of dequeues. Each is first-in, first-out: later calls wait even if they could be served before the
// first.
class QueueResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "queue";
  using Tuple = QueueStore::Tuple;
  using Done = std::function<void(Status)>;
  using DequeueDone = std::function<void(StatusOr<Tuple>)>;

  // REQUIRES: CheckOptions(options).
  QueueResource(std::string name, QueueOptions options);
  // InvalidArgument if no queue can have these options.
  static Status CheckOptions(const QueueOptions& options);

  const std::string& name() const { return name_; }
  const QueueOptions& options() const { return options_; }
  const std::vector<DType>& types() const { return options_.types; }
  // InvalidArgument if this queue differs from one constructed with `wanted`.
  Status CheckSame(const QueueOptions& wanted) const;

  // Adds one element; waits while the queue is full. Cancelled, with the element not added, if the queue is closed, if
  // Close() cancels pending enqueues, or if `cancellation` is cancelled first. InvalidArgument if dtypes or shapes do
  // not fit.
  void Enqueue(Tuple element, CancellationManager* cancellation, Done done);
  // Adds copies of the slices along the first dimension, one by one as there is room. If it is cancelled part way, the
  // slices already added stay in the queue.
  void EnqueueMany(Tuple batch, CancellationManager* cancellation, Done done);
  // Takes one element; waits while the queue is empty. OutOfRange if the queue is closed and empty.
  void Dequeue(CancellationManager* cancellation, DequeueDone done);
  // Takes `n` elements and stacks them. Takes each element as soon as it is in the queue, so `n` may exceed the
  // capacity; but takes the elements of a priority queue all at once. As in TensorFlow, elements already taken are lost
  // if the wait is cancelled. If the queue is closed with fewer than `n` elements: with `up_to`, takes them all;
  // without it, or if there are none, OutOfRange, and the elements stay in the queue. InvalidArgument if the queue has
  // no shapes.
  void DequeueMany(int64_t n, bool up_to, CancellationManager* cancellation, DequeueDone done);

  // Closes the queue for enqueues; dequeues that can no longer be served end with OutOfRange. With `cancel_pending`,
  // closes at once and ends waiting enqueues with Cancelled. Otherwise waits until the enqueues that are already
  // waiting are done, then closes and calls `done`; Cancelled if the queue is already closed.
  void Close(bool cancel_pending, CancellationManager* cancellation, Done done);
  bool is_closed() const;
  // From now on, DequeueMany with `up_to` takes the elements that there are, if any, and waits for no more.
  void AcceptFewer();
  int64_t size() const;
  std::string DebugString() const override;

 private:
  struct Waiter;
  using Actions = std::vector<std::function<void()>>;
  enum class Outcome { kNothing, kProgress, kFinished };  // of an attempt to serve a waiter

  Status CheckComponents(const Tuple& tuple) const;
  Status CheckElement(const Tuple& element) const;
  bool IsFull() const TB_REQUIRES(mu_) { return options_.capacity >= 0 && store_->size() >= options_.capacity; }
  StatusOr<Tuple> Stack(const std::vector<Tuple>& elements) const;
  // Serves the waiters as far as possible. Appends to `actions` the callbacks to call after the lock is released.
  void Serve(Actions* actions) TB_REQUIRES(mu_);
  Outcome ServeAdder(Waiter& w, Actions* actions) TB_REQUIRES(mu_);
  Outcome ServeTaker(Waiter& w, Actions* actions) TB_REQUIRES(mu_);
  void Start(std::shared_ptr<Waiter> waiter, CancellationManager* cancellation);
  // Ends the wait of `w`, without calling its callback. Returns false if it had already ended.
  bool Abandon(Waiter& w);

  const std::string name_;
  const QueueOptions options_;
  mutable Mutex mu_;
  const std::unique_ptr<QueueStore> store_;                       // its contents: TB_GUARDED_BY(mu_)
  std::list<std::shared_ptr<Waiter>> adders_ TB_GUARDED_BY(mu_);  // waiting to enqueue or close
  std::list<std::shared_ptr<Waiter>> takers_ TB_GUARDED_BY(mu_);  // waiting to dequeue
  bool closed_ TB_GUARDED_BY(mu_) = false;
  bool accepts_fewer_ TB_GUARDED_BY(mu_) = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_RESOURCES_QUEUE_RESOURCE_H_
