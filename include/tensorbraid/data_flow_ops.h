// Queues and conditional accumulators: how steps and replicas hand tensors to each other.
#ifndef TENSORBRAID_DATA_FLOW_OPS_H_
#define TENSORBRAID_DATA_FLOW_OPS_H_

#include <string>
#include <vector>

#include "tensorbraid/graph.h"

namespace tensorbraid {

struct FIFOQueueOptions {
  std::vector<Shape> shapes = {};  // of each component; empty: any
  int64_t capacity = -1;           // elements; -1: no bound
  std::string shared_name = {};    // "": the node's name
  std::string name = "fifo_queue";
};

// A queue of tuples of tensors on one device. A handle: copies name the same queue. Its ops go where the queue is.
class FIFOQueue {
 public:
  FIFOQueue() = default;
  FIFOQueue(Graph& graph, std::vector<DType> component_types, FIFOQueueOptions options = {});

  bool valid() const { return handle_.valid(); }
  Output handle() const { return handle_; }  // the resource
  const std::string& name() const { return handle_.op().name(); }

  // Adds one element; waits while the queue is full. Cancelled once the queue is closed.
  Operation Enqueue(const std::vector<Operand>& components) const;
  // Adds the slices of the components along their first dimension, one element each.
  Operation EnqueueMany(const std::vector<Operand>& components) const;
  // Takes the oldest element; waits while there is none. OutOfRange when closed and empty.
  std::vector<Output> Dequeue() const;
  // Takes `n` elements as they come, stacked along a new first dimension; waits for all of them. Needs known shapes.
  std::vector<Output> DequeueMany(const Operand& n) const;
  // As DequeueMany, but takes what is left when the queue is closed with fewer.
  std::vector<Output> DequeueUpTo(const Operand& n) const;
  // Nothing can be added afterwards. Enqueues that wait still come in, and closing waits for them; with
  // `cancel_pending_enqueues` they end with Cancelled, at once. Cancelled when closed already, unless that is given.
  Operation Close(bool cancel_pending_enqueues = false) const;
  // The number of elements, an int32 scalar.
  Output Size() const;
  Output IsClosed() const;

 private:
  std::vector<Output> Take(const char* op, const Operand* n) const;
  Operation Put(const char* op, const std::vector<Operand>& components) const;
  Output handle_;
  std::vector<DType> types_;
};

struct ConditionalAccumulatorOptions {
  Shape shape = Shape::Unknown();       // that gradients must have
  std::string reduction_type = "MEAN";  // or "SUM"
  std::string shared_name = {};         // "": the node's name
  std::string name = "conditional_accumulator";
};

// Sums gradients of one variable until enough have come to be taken. Its ops go where the accumulator is.
class ConditionalAccumulator {
 public:
  ConditionalAccumulator() = default;
  ConditionalAccumulator(Graph& graph, DType dtype, ConditionalAccumulatorOptions options = {});

  bool valid() const { return handle_.valid(); }
  Output handle() const { return handle_; }
  const std::string& name() const { return handle_.op().name(); }

  // Adds a gradient computed in step `local_step` (an int64 scalar); dropped when that is before the accumulator's
  // step.
  Operation ApplyGrad(const Operand& gradient, const Operand& local_step) const;
  // The mean (or sum) of what has come, once that is `num_required` gradients (int32) or more. The step becomes one
  // more, and nothing is left.
  Output TakeGrad(const Operand& num_required) const;
  Operation SetGlobalStep(const Operand& new_global_step) const;
  // How many gradients have come in this round, an int32 scalar.
  Output NumAccumulated() const;

 private:
  Output handle_;
  DType dtype_ = DType::kInvalid;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_DATA_FLOW_OPS_H_
