// Stores the elements of a queue, and decides in which order they are dequeued.
#ifndef TENSORBRAID_RUNTIME_RESOURCES_QUEUE_STORE_H_
#define TENSORBRAID_RUNTIME_RESOURCES_QUEUE_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tensorbraid/core/tensor.h"

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
  // Undoes Take() for these elements, which are in the order in which they were taken.
  virtual void PutBack(std::vector<Tuple> elements) = 0;
};

// Takes the oldest element.
std::unique_ptr<QueueStore> MakeFifoStore();
// Takes a random element, chosen by `random()` modulo the size.
std::unique_ptr<QueueStore> MakeShuffleStore(std::function<uint32_t()> random);
// Takes the element with the smallest component 0, an int64 scalar. If several elements have it, takes any of them.
std::unique_ptr<QueueStore> MakePriorityStore();

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_RESOURCES_QUEUE_STORE_H_
