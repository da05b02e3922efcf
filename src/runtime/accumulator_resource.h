// Conditional accumulators: gradients of one variable, gathered from the replicas of a synchronous step.
#ifndef TENSORBRAID_RUNTIME_ACCUMULATOR_RESOURCE_H_
#define TENSORBRAID_RUNTIME_ACCUMULATOR_RESOURCE_H_

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "core/thread_pool.h"
#include "runtime/cancellation.h"
#include "runtime/resource.h"

namespace tensorbraid {

// Sums gradients until enough have come for somebody who waits to take them. Gradients older than the accumulator's
// own step are dropped. Thread-safe; waiting blocks no thread.
class AccumulatorResource : public Resource {
 public:
  static constexpr const char* kTypeName = "conditional accumulator";
  // A dense gradient is one tensor; a sparse one indices, values and shape.
  using Gradient = std::vector<Tensor>;
  using TakeDone = std::function<void(StatusOr<Gradient>)>;
  enum class Reduction { kMean, kSum };

  AccumulatorResource(std::string name, DType dtype, Shape shape, Reduction reduction)
      : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)), reduction_(reduction) {}

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }  // that gradients are compatible with
  Reduction reduction() const { return reduction_; }
  virtual bool is_sparse() const = 0;

  // Adds a gradient that was computed from variables of step `local_step`, or drops it when that is older than the
  // accumulator's step. The first gradient of a round is kept, not copied: hand it over (std::move) when nobody else
  // holds it and further ones are added to it in place. InvalidArgument when dtype or shape do not fit.
  Status Apply(int64_t local_step, Gradient gradient, ThreadPool& pool);
  // Takes the mean (or sum) once at least `num_required` gradients have come, which begins a new round: nothing is
  // accumulated and the step is one more. Those who wait are served in the order they came. `done` is called once,
  // without a lock; with Cancelled, and nothing taken, when `cancellation` says so.
  void Take(int64_t num_required, CancellationManager* cancellation, ThreadPool& pool, TakeDone done);
  // What gradients are compared with. Going back is allowed, and logged.
  void SetGlobalStep(int64_t step);
  int64_t num_accumulated() const;
  std::string DebugString() const override;

 protected:
  // What a round's sum becomes for who takes it; called without a lock.
  using Finish = std::function<StatusOr<Gradient>(ThreadPool&)>;
  // These three are called with the lock held. The first two leave the sum as it was when they fail.
  virtual Status Begin(Gradient gradient) = 0;                  // the first of a round
  virtual Status Add(Gradient gradient, ThreadPool& pool) = 0;  // further ones
  virtual Finish End(int64_t count) = 0;                        // takes the sum of `count` gradients away

 private:
  struct Waiter;
  // If the first who waits can be served, ends the round and says how to serve him; otherwise null.
  std::function<void(ThreadPool&)> Serve() TB_REQUIRES(mu_);

  const std::string name_;
  const DType dtype_;
  const Shape shape_;
  const Reduction reduction_;
  mutable Mutex mu_;
  int64_t count_ TB_GUARDED_BY(mu_) = 0;
  int64_t step_ TB_GUARDED_BY(mu_) = 0;
  std::list<std::shared_ptr<Waiter>> waiters_ TB_GUARDED_BY(mu_);
};

class DenseAccumulator final : public AccumulatorResource {
 public:
  // How tensors of its dtype are added and divided; `out` may be `a`.
  struct Arithmetic {
    void (*add)(ThreadPool& pool, const Tensor& a, const Tensor& b, Tensor* out);
    void (*divide)(ThreadPool& pool, const Tensor& a, int64_t divisor, Tensor* out);
  };
  DenseAccumulator(std::string name, DType dtype, Shape shape, Reduction reduction, Arithmetic arithmetic)
      : AccumulatorResource(std::move(name), dtype, std::move(shape), reduction), arithmetic_(arithmetic) {}
  bool is_sparse() const override { return false; }

 protected:
  Status Begin(Gradient gradient) override;
  Status Add(Gradient gradient, ThreadPool& pool) override;
  Finish End(int64_t count) override;

 private:
  Status Check(const Gradient& gradient) const;
  const Arithmetic arithmetic_;
  Tensor sum_;
};

// Gradients of some rows: indices int64[n] and values [n, ...]. Indices should rise; equal ones of different gradients
// are added, and the mean of a row is over the gradients that have it, as in TensorFlow. What is taken is indices,
// values and the shape of the whole, with -1 for an unknown number of rows.
class SparseAccumulator final : public AccumulatorResource {
 public:
  struct Arithmetic {
    void (*add_row)(const Tensor& from, int64_t row, Tensor* to, int64_t to_row);
    void (*divide_row)(Tensor* values, int64_t row, int64_t divisor);
  };
  SparseAccumulator(std::string name, DType dtype, Shape shape, Reduction reduction, Arithmetic arithmetic)
      : AccumulatorResource(std::move(name), dtype, std::move(shape), reduction), arithmetic_(arithmetic) {}
  bool is_sparse() const override { return true; }

 protected:
  // Indices, values, and, if it is known, the shape of the whole.
  Status Begin(Gradient gradient) override;
  Status Add(Gradient gradient, ThreadPool& pool) override;
  Finish End(int64_t count) override;

 private:
  // `sum`: what it is to be added to; null: nothing.
  Status Check(const Gradient& gradient, const Tensor* sum) const;
  const Arithmetic arithmetic_;
  std::vector<int64_t> indices_;
  std::vector<int64_t> counts_;  // of the gradients that each row is the sum of
  Tensor values_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_ACCUMULATOR_RESOURCE_H_
