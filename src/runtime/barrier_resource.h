// Barriers: tuples that are put together component by component, and taken when they are whole.
#ifndef TENSORBRAID_RUNTIME_BARRIER_RESOURCE_H_
#define TENSORBRAID_RUNTIME_BARRIER_RESOURCE_H_

#include <map>
#include <string>
#include <vector>

#include "runtime/queue_resource.h"

namespace tensorbraid {

// Thread-safe; waiting blocks no thread. Whole tuples wait in a priority queue, by the call that brought their key
// first.
class BarrierResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "barrier";

  // REQUIRES: CheckOptions(types, shapes).
  BarrierResource(std::string name, std::vector<DType> types, std::vector<Shape> shapes);
  static Status CheckOptions(const std::vector<DType>& types, const std::vector<Shape>& shapes);

  const std::string& name() const { return name_; }
  const std::vector<DType>& types() const { return types_; }
  const std::vector<Shape>& shapes() const { return shapes_; }

  // Gives each key its component: row i of `values` is that of key i. InvalidArgument when something does not fit or a
  // key has the component already; Cancelled when closed, for keys that are not incomplete. Those before the mistake
  // stay. No keys at all are Cancelled only when pending ones have been.
  Status Insert(const Tensor& keys, int64_t component, const Tensor& values);
  // Takes `n` whole tuples, as indices, keys and components, stacked; waits for them. OutOfRange when closed and there
  // are and will be fewer; with `allow_small_batch`, when closed, takes what is whole, if anything is.
  void Take(int64_t n, bool allow_small_batch, CancellationManager* cancellation, QueueResource::DequeueDone done);
  // No new keys can come; incomplete tuples still can be completed, or are dropped if `cancel_pending`. Cancelled when
  // closed already, unless only this time with `cancel_pending`.
  Status Close(bool cancel_pending);
  int64_t ready_size() const { return ready_->size(); }
  int64_t incomplete_size() const;
  std::string DebugString() const override;

 private:
  struct Incomplete {
    int64_t index = 0;
    std::vector<Tensor> components;  // invalid where none has come
    size_t missing = 0;
  };
  // Closes the queue of whole tuples when nothing more can come into it.
  void CloseReadyIfDone();

  const std::string name_;
  const std::vector<DType> types_;
  const std::vector<Shape> shapes_;
  const RefPtr<QueueResource> ready_;
  mutable Mutex mu_;
  std::map<std::string, Incomplete> incomplete_ TB_GUARDED_BY(mu_);
  int64_t next_index_ TB_GUARDED_BY(mu_);
  int moving_ TB_GUARDED_BY(mu_) = 0;  // calls that are moving whole tuples to the queue
  bool closed_ TB_GUARDED_BY(mu_) = false;
  bool cancelled_ TB_GUARDED_BY(mu_) = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_BARRIER_RESOURCE_H_
