// Conditional accumulators: collect the gradients of one variable from the replicas of a synchronous step.
#ifndef TENSORBRAID_RUNTIME_RESOURCES_ACCUMULATOR_RESOURCE_H_
#define TENSORBRAID_RUNTIME_RESOURCES_ACCUMULATOR_RESOURCE_H_

#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/threads/thread_pool.h"
#include "runtime/kernel/cancellation.h"
#include "runtime/kernel/resource.h"

namespace tensorbraid {

// What became of a sum of gradients (see AccumulatorResource::ApplySum).
enum class GradientOutcome : int32_t {
  kDropped = 0,  // it came too late
  kCounted = 1,  // it is part of the step
  kRefused = 2,  // the sum has gradients that were counted before, and others that were not: nothing was added
};

// Sums gradients until there are enough for the first waiting Take(). Drops gradients that are older than the
// accumulator's own step. Thread-safe; waiting blocks no thread.
class AccumulatorResource : public Resource {
 public:
  static constexpr const char* kTypeName = "conditional accumulator";
  // A dense gradient is one tensor. A sparse gradient is indices, values and, optionally, the dense shape.
  using Gradient = std::vector<Tensor>;
  using TakeDone = std::function<void(StatusOr<Gradient>)>;
  enum class Reduction { kMean, kSum };

  AccumulatorResource(std::string name, DType dtype, Shape shape, Reduction reduction)
      : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)), reduction_(reduction) {}

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }  // gradients must be compatible with it
  Reduction reduction() const { return reduction_; }
  virtual bool is_sparse() const = 0;

  // Adds a gradient that was computed from the variables of step `local_step`, and returns true. Drops it, and returns
  // false, if that step is older than the accumulator's. The first gradient of a round is kept, not copied: if the
  // caller moves in the only reference to its buffer, later gradients are added to it in place. InvalidArgument if
  // dtype or shape do not fit.
  StatusOr<bool> Apply(int64_t local_step, Gradient gradient, ThreadPool& pool);
  // As Apply, for the sum of the gradients of these workers, which counts as one gradient for each of them. A worker
  // counts once in a round: kCounted if all workers have been counted in this round before, kRefused if some have. In
  // both cases nothing is added. InvalidArgument also if `replicas` is empty or names a worker twice.
  StatusOr<GradientOutcome> ApplySum(int64_t local_step, const std::vector<int64_t>& replicas, Gradient sum,
                                     ThreadPool& pool);
  // Takes the mean (or sum) once at least `num_required` gradients have been added. This begins a new round: the sum is
  // empty again, and the accumulator's step is incremented. Waiting calls are served in the order of their arrival.
  // Calls `done` once, without holding a lock. If `cancellation` (may be null) is cancelled first, takes nothing and
  // passes Cancelled.
  void Take(int64_t num_required, CancellationManager* cancellation, ThreadPool& pool, TakeDone done);
  // Sets the accumulator's step. Apply() compares the steps of gradients with it. Setting it back is allowed, and
  // logged.
  void SetGlobalStep(int64_t step);
  // Starts a new round at this step: drops the gradients of the current round, and fails waiting calls of Take with
  // Aborted.
  void Restart(int64_t step);
  int64_t num_accumulated() const;
  std::string DebugString() const override;

 protected:
  // Turns the sum of a round into the gradient that Take() returns. Called without a lock.
  using Finish = std::function<StatusOr<Gradient>(ThreadPool&)>;
  // These three are called with the lock held. If Begin() or Add() fails, it leaves the sum unchanged.
  virtual Status Begin(Gradient gradient) = 0;                  // for the first gradient of a round
  virtual Status Add(Gradient gradient, ThreadPool& pool) = 0;  // for each further gradient
  virtual Finish End(int64_t count) = 0;                        // removes the sum of `count` gradients

 private:
  struct Waiter;
  // If the first waiter can be served, ends the round and returns the callback that completes it; otherwise returns
  // null. Call the callback without the lock.
  std::function<void(ThreadPool&)> Serve() TB_REQUIRES(mu_);

  const std::string name_;
  const DType dtype_;
  const Shape shape_;
  const Reduction reduction_;
  mutable Mutex mu_;
  int64_t count_ TB_GUARDED_BY(mu_) = 0;
  std::set<int64_t> counted_ TB_GUARDED_BY(mu_);  // the workers of this round's sums
  int64_t step_ TB_GUARDED_BY(mu_) = 0;
  std::list<std::shared_ptr<Waiter>> waiters_ TB_GUARDED_BY(mu_);
};

class DenseAccumulator final : public AccumulatorResource {
 public:
  // Adds and divides tensors of the accumulator's dtype. `out` may be `a`, and for `add` also `b`.
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

// Accumulates gradients of some rows: indices int64[n] and values [n, ...]. Indices should increase within a gradient.
// Rows with the same index in different gradients are added; the mean of a row is over the gradients that contain it,
// as in TensorFlow. Take() returns indices, values and the dense shape, with -1 for an unknown number of rows.
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
  Status Begin(Gradient gradient) override;
  Status Add(Gradient gradient, ThreadPool& pool) override;
  Finish End(int64_t count) override;

 private:
  // Checks that `gradient` can be added to `sum`, or, if `sum` is null, can begin a round.
  Status Check(const Gradient& gradient, const Tensor* sum) const;
  // A row of a gradient, and the next part of the same row of the sum (-1: it is the last one).
  struct Part {
    int64_t gradient = 0, row = 0, next = -1;
  };
  struct Row {
    int64_t index = 0, count = 0;  // the number of gradients that have it
    int64_t first = 0, last = 0;   // of its parts
  };
  // The gradients are kept as they are. Their rows are added once, at the end, in the order in which they came.
  struct Sum {
    std::vector<Tensor> gradients;
    std::vector<Row> rows;  // in the order of the result
    std::vector<Part> parts;
    // The sums, or means, of all rows. Takes the buffer of a single gradient.
    StatusOr<Tensor> Values(const Arithmetic& arithmetic, bool mean, ThreadPool& pool);
  };
  // Replaces the gradients by their sum.
  void Compact(ThreadPool& pool);
  const Arithmetic arithmetic_;
  Sum sum_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_RESOURCES_ACCUMULATOR_RESOURCE_H_
