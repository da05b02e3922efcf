// First-in, first-out queues of tuples of tensors, with waiting that blocks no thread.
#ifndef TENSORBRAID_RUNTIME_QUEUE_RESOURCE_H_
#define TENSORBRAID_RUNTIME_QUEUE_RESOURCE_H_

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cancellation.h"
#include "runtime/resource.h"

namespace tensorbraid {

// Thread-safe. Who has to wait leaves a callback, called once, without the queue's lock, by the thread that ends the
// waiting (or by the caller itself when there is nothing to wait for). Those who wait are served in the order they
// came.
class QueueResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "queue";
  using Tuple = std::vector<Tensor>;
  using EnqueueDone = std::function<void(Status)>;
  using DequeueDone = std::function<void(StatusOr<Tuple>)>;

  // `shapes`: of each component, or empty when any will do. `capacity` < 0: no bound.
  QueueResource(std::string name, std::vector<DType> types, std::vector<Shape> shapes, int64_t capacity);

  const std::string& name() const { return name_; }
  const std::vector<DType>& types() const { return types_; }
  const std::vector<Shape>& shapes() const { return shapes_; }
  int64_t capacity() const { return capacity_; }

  // Adds one element; waits while the queue is full. Cancelled when the queue is (or, while waiting, gets) closed with
  // pending enqueues cancelled, or when `cancellation` says so: the element is then not in the queue.
  // InvalidArgument when dtypes or shapes do not fit.
  void Enqueue(Tuple element, CancellationManager* cancellation, EnqueueDone done);
  // Adds the slices along the first dimension, one after the other as there is room. When cancelled in between, those
  // that were added stay.
  void EnqueueMany(const Tuple& batch, CancellationManager* cancellation, EnqueueDone done);
  // Takes one element; waits while there is none. OutOfRange when closed and empty.
  void Dequeue(CancellationManager* cancellation, DequeueDone done);
  // Takes `n` elements, stacked; waits until so many are there and takes none before. OutOfRange when closed with
  // fewer, unless `up_to`: then what is left, if there is anything. FailedPrecondition when a shape is not fully known.
  void DequeueMany(int64_t n, bool up_to, CancellationManager* cancellation, DequeueDone done);

  // Nothing can be added any more. Enqueues that wait for room still come in, or end with Cancelled if
  // `cancel_pending`; dequeues that cannot be served any more end with OutOfRange.
  void Close(bool cancel_pending);
  bool is_closed() const;
  int64_t size() const;
  std::string DebugString() const override;

 private:
  struct Waiter;
  using Actions = std::vector<std::function<void()>>;

  Status CheckElement(const Tuple& element) const;
  StatusOr<Tuple> TakeStacked(int64_t n) TB_REQUIRES(mu_);
  // Serves those who wait, as far as possible; what is to be called afterwards goes to `actions`.
  void Serve(Actions* actions) TB_REQUIRES(mu_);
  bool ServeEnqueue(Waiter& w, Actions* actions) TB_REQUIRES(mu_);
  bool ServeDequeue(Waiter& w, Actions* actions) TB_REQUIRES(mu_);
  void Start(std::shared_ptr<Waiter> waiter, CancellationManager* cancellation);
  // Whether `w` is still waiting; it does not wait any more then.
  bool Abandon(Waiter& w);

  const std::string name_;
  const std::vector<DType> types_;
  const std::vector<Shape> shapes_;
  const int64_t capacity_;
  mutable Mutex mu_;
  std::deque<Tuple> elements_ TB_GUARDED_BY(mu_);
  std::list<std::shared_ptr<Waiter>> enqueues_ TB_GUARDED_BY(mu_);  // waiting for room
  std::list<std::shared_ptr<Waiter>> dequeues_ TB_GUARDED_BY(mu_);  // waiting for elements
  bool closed_ TB_GUARDED_BY(mu_) = false;
  bool cancel_pending_ TB_GUARDED_BY(mu_) = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_QUEUE_RESOURCE_H_
