// Staging areas: one step stores tuples of tensors in them, a later step takes the tuples.
#ifndef TENSORBRAID_RUNTIME_RESOURCES_STAGING_RESOURCE_H_
#define TENSORBRAID_RUNTIME_RESOURCES_STAGING_RESOURCE_H_

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "runtime/resources/waiting_resource.h"

namespace tensorbraid {

// The limits beyond which Put() waits; 0: unbounded.
struct StagingLimits {
  int64_t capacity = 0;  // tuples
  int64_t memory = 0;    // bytes
};

// Tuples in the order in which they were put. Thread-safe; a waiting call ends with Cancelled if its step is cancelled.
class StagingArea final : public WaitingResource {
 public:
  static constexpr const char* kTypeName = "staging area";
  using Tuple = std::vector<Tensor>;

  StagingArea(std::string name, StagingLimits limits) : name_(std::move(name)), limits_(limits) {}

  // Adds a tuple. Waits while the area is full. ResourceExhausted if the tuple alone exceeds the memory limit.
  void Put(Tuple tuple, CancellationManager* cancellation, Done done);
  // Takes the oldest tuple, and waits if there is none. InvalidArgument, without taking the tuple, unless it has these
  // dtypes.
  void Get(const std::vector<DType>& types, CancellationManager* cancellation, TakeDone done);
  // Copies the tuple at `index`, counted from the oldest. Waits until it exists.
  void Peek(int64_t index, const std::vector<DType>& types, CancellationManager* cancellation, TakeDone done);
  int64_t size() const;
  void Clear();
  std::string DebugString() const override;

 private:
  const std::string name_;
  const StagingLimits limits_;
  std::deque<Tuple> tuples_ TB_GUARDED_BY(mu_);
  int64_t bytes_ TB_GUARDED_BY(mu_) = 0;
};

// Tuples by key, which can be put and taken in parts: `indices` selects components. A tuple can be taken once all its
// components have been put. Thread-safe; a waiting call ends with Cancelled if its step is cancelled.
class StagingMap final : public WaitingResource {
 public:
  static constexpr const char* kTypeName = "staging map";
  using Tuple = std::vector<Tensor>;

  StagingMap(std::string name, std::vector<DType> types, StagingLimits limits)
      : name_(std::move(name)), types_(std::move(types)), limits_(limits) {}

  // Adds these components of the key's tuple. Waits while the map is full. If the map already has a complete tuple of
  // this key, a second complete one is dropped. InvalidArgument unless the indices are strictly increasing, their
  // components have not been put before, and the dtypes fit. ResourceExhausted if the values alone exceed the memory
  // limit.
  void Put(int64_t key, const Tensor& indices, Tuple values, CancellationManager* cancellation, Done done);
  // Takes (`remove`) or copies these components; waits until the key's tuple is complete. InvalidArgument if one has
  // already been taken.
  void Get(int64_t key, const Tensor& indices, const std::vector<DType>& types, bool remove,
           CancellationManager* cancellation, TakeDone done);
  // Takes these components of the complete tuple with the smallest key; waits until there is one. The result begins
  // with the key.
  void GetAny(const Tensor& indices, const std::vector<DType>& types, CancellationManager* cancellation, TakeDone done);
  int64_t size() const;             // complete tuples
  int64_t incomplete_size() const;  // incomplete tuples
  void Clear();
  std::string DebugString() const override;

 private:
  // Returns the components; with `remove`, leaves invalid tensors in their place.
  StatusOr<Tuple> Take(std::map<int64_t, Tuple>::iterator it, const Tensor& indices, const std::vector<DType>& types,
                       bool remove) TB_REQUIRES(mu_);
  Status CheckIndices(const Tensor& indices) const;
  // Whether there is room for `bytes` more, and for one more complete tuple if the bytes complete one (`whole`).
  bool HasRoom(int64_t bytes, bool whole) const TB_REQUIRES(mu_);

  const std::string name_;
  const std::vector<DType> types_;
  const StagingLimits limits_;
  std::map<int64_t, Tuple> whole_ TB_GUARDED_BY(mu_);
  std::map<int64_t, Tuple> incomplete_ TB_GUARDED_BY(mu_);
  int64_t bytes_ TB_GUARDED_BY(mu_) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_RESOURCES_STAGING_RESOURCE_H_
