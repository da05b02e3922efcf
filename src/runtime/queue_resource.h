// Queues of tuples of tensors, with waiting that blocks no thread.
#ifndef TENSORBRAID_RUNTIME_QUEUE_RESOURCE_H_
#define TENSORBRAID_RUNTIME_QUEUE_RESOURCE_H_

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cancellation.h"
#include "runtime/queue_store.h"
#include "runtime/resource.h"

namespace tensorbraid {

// What a queue is made with.
struct QueueOptions {
  enum class Kind { kFifo, kPadding, kRandomShuffle, kPriority };
  Kind kind = Kind::kFifo;
  // Of each component. kPriority: the first is int64, the priority.
  std::vector<DType> types = {};
  // Of each component, or empty when any will do. Fully known, but for kPadding, whose elements may differ where a size
  // is unknown and are padded with zeros where they are stacked. kPriority: the first is a scalar.
  std::vector<Shape> shapes = {};
  int64_t capacity = -1;  // elements; < 0: no bound
  // kRandomShuffle: as long as the queue is open, so many elements stay in it to choose from.
  int64_t min_after_dequeue = 0;
  int64_t seed = 0, seed2 = 0;                 // both 0: any
  std::function<uint32_t()> random = nullptr;  // the numbers that come of the seeds
};

// Thread-safe. Who has to wait leaves a callback, called once, without the queue's lock, by the thread that ends the
// waiting (or by the caller itself when there is nothing to wait for). Two lines wait, one to add (which closing is a
// part of) and one to take; each is served in the order of arrival, and only its first has a turn.
class QueueResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "queue";
  using Tuple = QueueStore::Tuple;
  using Done = std::function<void(Status)>;
  using DequeueDone = std::function<void(StatusOr<Tuple>)>;

  // REQUIRES: CheckOptions(options).
  QueueResource(std::string name, QueueOptions options);
  // InvalidArgument for what no queue can be made with.
  static Status CheckOptions(const QueueOptions& options);

  const std::string& name() const { return name_; }
  const QueueOptions& options() const { return options_; }
  const std::vector<DType>& types() const { return options_.types; }
  // InvalidArgument unless a queue made with `wanted` would be like this one.
  Status CheckSame(const QueueOptions& wanted) const;

  // Adds one element; waits while the queue is full. Cancelled when the queue is closed or closes with pending enqueues
  // cancelled, or when `cancellation` says so: the element is then not in the queue. InvalidArgument when dtypes or
  // shapes do not fit.
  void Enqueue(Tuple element, CancellationManager* cancellation, Done done);
  // Adds copies of the slices along the first dimension, one after the other as there is room. When cancelled in
  // between, those that were added stay.
  void EnqueueMany(Tuple batch, CancellationManager* cancellation, Done done);
  // Takes one element; waits while there is none. OutOfRange when closed and empty.
  void Dequeue(CancellationManager* cancellation, DequeueDone done);
  // Takes `n` elements, stacked. It takes each as it comes, so `n` may exceed the capacity; those taken are lost when
  // the waiting is cancelled, as in TensorFlow. OutOfRange when closed with fewer, which then stay in the queue, unless
  // `up_to`: then what is left, if there is anything. InvalidArgument when the queue was made without shapes.
  void DequeueMany(int64_t n, bool up_to, CancellationManager* cancellation, DequeueDone done);

  // Nothing can be added any more; dequeues that cannot be served any more end with OutOfRange. With `cancel_pending`
  // at once: what waits to add ends with Cancelled. Otherwise when those that wait to add have added, which `done`
  // waits for; Cancelled when it is closed already.
  void Close(bool cancel_pending, CancellationManager* cancellation, Done done);
  bool is_closed() const;
  int64_t size() const;
  std::string DebugString() const override;

 private:
  struct Waiter;
  using Actions = std::vector<std::function<void()>>;
  enum class Turn { kNothing, kProgress, kFinished };

  Status CheckComponents(const Tuple& tuple) const;
  Status CheckElement(const Tuple& element) const;
  bool IsFull() const TB_REQUIRES(mu_) { return options_.capacity >= 0 && store_->size() >= options_.capacity; }
  StatusOr<Tuple> Stack(const std::vector<Tuple>& elements) const;
  // Serves those who wait, as far as possible; what is to be called afterwards goes to `actions`.
  void Serve(Actions* actions) TB_REQUIRES(mu_);
  Turn ServeAdder(Waiter& w, Actions* actions) TB_REQUIRES(mu_);
  Turn ServeTaker(Waiter& w, Actions* actions) TB_REQUIRES(mu_);
  void Start(std::shared_ptr<Waiter> waiter, CancellationManager* cancellation);
  // Whether `w` is still waiting; it does not wait any more then.
  bool Abandon(Waiter& w);

  const std::string name_;
  const QueueOptions options_;
  mutable Mutex mu_;
  const std::unique_ptr<QueueStore> store_;                       // its contents: TB_GUARDED_BY(mu_)
  std::list<std::shared_ptr<Waiter>> adders_ TB_GUARDED_BY(mu_);  // waiting for room, or to close
  std::list<std::shared_ptr<Waiter>> takers_ TB_GUARDED_BY(mu_);  // waiting for elements
  bool closed_ TB_GUARDED_BY(mu_) = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_QUEUE_RESOURCE_H_
