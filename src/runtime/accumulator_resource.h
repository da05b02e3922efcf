// Conditional accumulators: gradients of one variable, gathered from the replicas of a synchronous step.
#ifndef TENSORBRAID_RUNTIME_ACCUMULATOR_RESOURCE_H_
#define TENSORBRAID_RUNTIME_ACCUMULATOR_RESOURCE_H_

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "core/thread_pool.h"
#include "runtime/cancellation.h"
#include "runtime/resource.h"

namespace tensorbraid {

// Sums gradients until enough have come for somebody who waits to take them. Gradients older than the accumulator's
// own step are dropped. Thread-safe; waiting blocks no thread.
class AccumulatorResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "conditional accumulator";
  using TakeDone = std::function<void(StatusOr<Tensor>)>;
  enum class Reduction { kMean, kSum };
  // How tensors of its dtype are added and divided; `out` may be `a`.
  struct Arithmetic {
    void (*add)(ThreadPool& pool, const Tensor& a, const Tensor& b, Tensor* out);
    void (*divide)(ThreadPool& pool, const Tensor& a, int64_t divisor, Tensor* out);
  };

  AccumulatorResource(std::string name, DType dtype, Shape shape, Reduction reduction, Arithmetic arithmetic);

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  Reduction reduction() const { return reduction_; }

  // Adds a gradient that was computed from variables of step `local_step`, or drops it when that is older than the
  // accumulator's step. The first gradient of a round is kept, not copied: hand it over (std::move) when nobody else
  // holds it and further ones are added to it in place. InvalidArgument when dtype or shape do not fit.
  Status Apply(int64_t local_step, Tensor gradient, ThreadPool& pool);
  // Takes the mean (or sum) once at least `num_required` gradients have come, which begins a new round: nothing is
  // accumulated and the step is one more. Those who wait are served in the order they came. `done` is called once,
  // without a lock; with Cancelled, and nothing taken, when `cancellation` says so.
  void Take(int64_t num_required, CancellationManager* cancellation, ThreadPool& pool, TakeDone done);
  // What gradients are compared with. Going back is allowed, and logged.
  void SetGlobalStep(int64_t step);
  int64_t num_accumulated() const;
  std::string DebugString() const override;

 private:
  struct Waiter;
  // If the first who waits can be served, ends the round and says how to serve him; otherwise null.
  std::function<void(ThreadPool&)> Serve() TB_REQUIRES(mu_);

  const std::string name_;
  const DType dtype_;
  const Shape shape_;
  const Reduction reduction_;
  const Arithmetic arithmetic_;
  mutable Mutex mu_;
  Tensor sum_ TB_GUARDED_BY(mu_);
  int64_t count_ TB_GUARDED_BY(mu_) = 0;
  int64_t step_ TB_GUARDED_BY(mu_) = 0;
  std::list<std::shared_ptr<Waiter>> waiters_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_ACCUMULATOR_RESOURCE_H_
