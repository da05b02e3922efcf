// Barriers: tuples that are assembled component by component, and can be taken once they are complete.
#ifndef TENSORBRAID_RUNTIME_RESOURCES_BARRIER_RESOURCE_H_
#define TENSORBRAID_RUNTIME_RESOURCES_BARRIER_RESOURCE_H_

#include <map>
#include <string>
#include <vector>

#include "runtime/resources/queue_resource.h"

namespace tensorbraid {

// Thread-safe; waiting blocks no thread. Complete tuples wait in a priority queue, ordered by the Insert() call that
// first used their key.
class BarrierResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "barrier";

  // REQUIRES: CheckOptions(types, shapes).
  BarrierResource(std::string name, std::vector<DType> types, std::vector<Shape> shapes);
  static Status CheckOptions(const std::vector<DType>& types, const std::vector<Shape>& shapes);

  const std::string& name() const { return name_; }
  const std::vector<DType>& types() const { return types_; }
  const std::vector<Shape>& shapes() const { return shapes_; }

  // Sets component `component` of each key: row i of `values` belongs to key i. InvalidArgument if an argument does not
  // fit or a key already has this component. Cancelled if the barrier is closed and a key is not among its incomplete
  // ones; an insert without keys is Cancelled only after Close(true). Keys before the offending one stay inserted.
  Status Insert(const Tensor& keys, int64_t component, const Tensor& values);
  // Waits for `n` complete tuples and takes them, stacked: indices, keys and each component. OutOfRange if the barrier
  // is closed and can no longer get so many. With `allow_small_batch`, a closed barrier returns the complete tuples it
  // has, if any, also to a call that began to wait before it was closed.
  void Take(int64_t n, bool allow_small_batch, CancellationManager* cancellation, QueueResource::DequeueDone done);
  // Refuses new keys from now on. Incomplete tuples can still be completed, unless `cancel_pending` drops them.
  // Cancelled if already closed, except that Close(true) may follow Close(false).
  Status Close(bool cancel_pending);
  int64_t ready_size() const { return ready_->size(); }
  int64_t incomplete_size() const;
  std::string DebugString() const override;

 private:
  struct Incomplete {
    int64_t index = 0;
    std::vector<Tensor> components;  // invalid where not yet inserted
    size_t missing = 0;
  };
  // Closes the queue of complete tuples if no more tuples can be completed.
  void CloseReadyIfDone();

  const std::string name_;
  const std::vector<DType> types_;
  const std::vector<Shape> shapes_;
  const RefPtr<QueueResource> ready_;
  mutable Mutex mu_;
  std::map<std::string, Incomplete> incomplete_ TB_GUARDED_BY(mu_);
  int64_t next_index_ TB_GUARDED_BY(mu_);
  int moving_ TB_GUARDED_BY(mu_) = 0;  // Insert() calls that are moving complete tuples to the queue
  bool closed_ TB_GUARDED_BY(mu_) = false;
  bool cancelled_ TB_GUARDED_BY(mu_) = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_RESOURCES_BARRIER_RESOURCE_H_
