// In which order a queue hands its elements out.
#ifndef TENSORBRAID_RUNTIME_QUEUE_STORE_H_
#define TENSORBRAID_RUNTIME_QUEUE_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tensorbraid/tensor.h"

namespace tensorbraid {

// Not thread-safe.
class QueueStore {
 public:
  using Tuple = std::vector<Tensor>;
  virtual ~QueueStore() = default;
  virtual int64_t size() const = 0;
  virtual void Put(Tuple element) = 0;
  // REQUIRES: size() > 0.
  virtual Tuple Take() = 0;
  // Undoes Take() for these elements, in the order in which they were taken.
  virtual void PutBack(std::vector<Tuple> elements) = 0;
};

// The oldest first.
std::unique_ptr<QueueStore> MakeFifoStore();
// A random one: number `random()` modulo the size.
std::unique_ptr<QueueStore> MakeShuffleStore(std::function<uint32_t()> random);
// The one with the least component 0, an int64 scalar. Among equal ones any.
std::unique_ptr<QueueStore> MakePriorityStore();

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_QUEUE_STORE_H_
