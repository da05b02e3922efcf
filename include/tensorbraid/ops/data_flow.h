// Queues and conditional accumulators, through which steps and replicas exchange tensors.
#ifndef TENSORBRAID_OPS_DATA_FLOW_H_
#define TENSORBRAID_OPS_DATA_FLOW_H_

#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

struct FIFOQueueOptions {
  std::vector<Shape> shapes = {};  // one per component; empty: any shape
  int64_t capacity = -1;           // in elements; -1: unbounded
  // Sessions whose queues have the same shared_name on a device share one queue, which outlives them. "": the queue
  // belongs to its session and ends with it.
  std::string shared_name = {};
  std::string name = "fifo_queue";
};

// A queue of tuples of tensors on one device. The object is a handle: copies refer to the same queue. The queue's ops
// are placed on its device. Where a comment says that an op fails or waits, the step that runs the op fails or waits.
class FIFOQueue {
 public:
  FIFOQueue() = default;
  FIFOQueue(Graph& graph, std::vector<DType> component_types, FIFOQueueOptions options = {},
            std::source_location loc = std::source_location::current());

  bool valid() const { return handle_.valid(); }
  Output handle() const { return handle_; }  // the resource
  const std::string& name() const { return handle_.op().name(); }

  // Adds one element. The step waits while the queue is full, and fails with Cancelled once the queue is closed.
  Operation Enqueue(const std::vector<Operand>& components,
                    std::source_location loc = std::source_location::current()) const;
  // Splits the components along their first dimension and adds each slice as one element.
  Operation EnqueueMany(const std::vector<Operand>& components,
                        std::source_location loc = std::source_location::current()) const;
  // Takes the oldest element. The step waits while the queue is empty, and fails with OutOfRange if the queue is closed
  // and empty.
  std::vector<Output> Dequeue(std::source_location loc = std::source_location::current()) const;
  // Takes `n` elements, stacked along a new first dimension. The step waits until all `n` have come, and fails with
  // OutOfRange if the queue is closed and holds fewer. The queue must have been made with FIFOQueueOptions::shapes.
  std::vector<Output> DequeueMany(const Operand& n) const;
  // Like DequeueMany, but returns the remaining elements when the queue is closed and holds fewer than `n`.
  std::vector<Output> DequeueUpTo(const Operand& n) const;
  // Closes the queue: later enqueues fail. By default the close waits until the pending enqueues have added their
  // elements; it fails with Cancelled if the queue is closed already. With `cancel_pending_enqueues` it takes effect at
  // once: pending enqueues fail with Cancelled, and closing a closed queue is no error.
  Operation Close(bool cancel_pending_enqueues = false,
                  std::source_location loc = std::source_location::current()) const;
  // The number of elements, an int32 scalar.
  Output Size(std::source_location loc = std::source_location::current()) const;
  // A bool scalar.
  Output IsClosed(std::source_location loc = std::source_location::current()) const;

 private:
  std::vector<Output> Take(const char* op, const Operand* n, std::source_location loc) const;
  Operation Put(const char* op, const std::vector<Operand>& components, std::source_location loc) const;
  Output handle_;
  std::vector<DType> types_;
};

struct ConditionalAccumulatorOptions {
  Shape shape = Shape::Unknown();       // the shape that every gradient must have
  std::string reduction_type = "MEAN";  // or "SUM"
  std::string shared_name = {};         // as in FIFOQueueOptions
  std::string name = "conditional_accumulator";
};

// Sums the gradients of one variable until enough have arrived. The accumulator's ops are placed on its device.
class ConditionalAccumulator {
 public:
  ConditionalAccumulator() = default;
  ConditionalAccumulator(Graph& graph, DType dtype, ConditionalAccumulatorOptions options = {},
                         std::source_location loc = std::source_location::current());

  bool valid() const { return handle_.valid(); }
  Output handle() const { return handle_; }
  const std::string& name() const { return handle_.op().name(); }

  // Adds a gradient computed in step `local_step` (an int64 scalar). The gradient is dropped if that step is before the
  // accumulator's step.
  Operation ApplyGrad(const Operand& gradient, const Operand& local_step) const;
  // Returns the mean (or sum) of the gradients. The step waits until at least `num_required` (int32) have arrived. Then
  // the accumulator's step grows by one and the accumulator is empty again.
  Output TakeGrad(const Operand& num_required) const;
  // Sets the accumulator's step to `new_global_step`, an int64 scalar.
  Operation SetGlobalStep(const Operand& new_global_step) const;
  // The number of gradients since the last TakeGrad, an int32 scalar.
  Output NumAccumulated(std::source_location loc = std::source_location::current()) const;

 private:
  Output handle_;
  DType dtype_ = DType::kInvalid;
};

// As ConditionalAccumulator, for gradients that are slices. A row is averaged over the gradients that contain it. If
// the indices of a gradient do not increase, a row may occur several times in the result, as in TensorFlow.
class SparseConditionalAccumulator {
 public:
  SparseConditionalAccumulator() = default;
  SparseConditionalAccumulator(Graph& graph, DType dtype, ConditionalAccumulatorOptions options = {},
                               std::source_location loc = std::source_location::current());

  bool valid() const { return handle_.valid(); }
  Output handle() const { return handle_; }
  const std::string& name() const { return handle_.op().name(); }

  // As in ConditionalAccumulator. The indices that TakeGrad returns are int64.
  Operation ApplyGrad(const IndexedSlices& gradient, const Operand& local_step) const;
  IndexedSlices TakeGrad(const Operand& num_required) const;
  Operation SetGlobalStep(const Operand& new_global_step) const;
  Output NumAccumulated(std::source_location loc = std::source_location::current()) const;

 private:
  Output handle_;
  DType dtype_ = DType::kInvalid;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_DATA_FLOW_H_
