// Staging areas: where one step leaves tuples of tensors for a later one.
#ifndef TENSORBRAID_RUNTIME_STAGING_RESOURCE_H_
#define TENSORBRAID_RUNTIME_STAGING_RESOURCE_H_

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "runtime/waiting_resource.h"

namespace tensorbraid {

// How much an area holds before adding waits; 0: no bound.
struct StagingLimits {
  int64_t capacity = 0;  // tuples
  int64_t memory = 0;    // bytes
};

// Tuples in the order in which they were put. Thread-safe; those who wait end with Cancelled when their step is.
class StagingArea final : public WaitingResource {
 public:
  static constexpr const char* kTypeName = "staging area";
  using Tuple = std::vector<Tensor>;

  StagingArea(std::string name, StagingLimits limits) : name_(std::move(name)), limits_(limits) {}

  // Waits for room. ResourceExhausted when the tuple is larger than the area may become.
  void Put(Tuple tuple, CancellationManager* cancellation, Done done);
  // Takes the oldest; waits for it. InvalidArgument, and nothing taken, unless it is of these dtypes.
  void Get(const std::vector<DType>& types, CancellationManager* cancellation, TakeDone done);
  // The tuple that `index` others were put before; waits for it.
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

// Tuples by key, which may come and go in parts: `indices` name components. A tuple can be taken once all its
// components have come. Thread-safe; those who wait end with Cancelled when their step is.
class StagingMap final : public WaitingResource {
 public:
  static constexpr const char* kTypeName = "staging map";
  using Tuple = std::vector<Tensor>;

  StagingMap(std::string name, std::vector<DType> types, StagingLimits limits)
      : name_(std::move(name)), types_(std::move(types)), limits_(limits) {}

  // Adds these components of the key's tuple; waits for room. A whole tuple for a key that is there changes nothing.
  // InvalidArgument unless the indices rise, name components that have not come, and dtypes fit; ResourceExhausted when
  // this is more than the map may hold.
  void Put(int64_t key, const Tensor& indices, Tuple values, CancellationManager* cancellation, Done done);
  // Takes (`remove`) or copies these components; waits until the key's tuple is whole. InvalidArgument when one has
  // been taken already.
  void Get(int64_t key, const Tensor& indices, const std::vector<DType>& types, bool remove,
           CancellationManager* cancellation, TakeDone done);
  // Takes these components of the tuple with the least key, and gives the key before them; waits until there is one.
  void GetAny(const Tensor& indices, const std::vector<DType>& types, CancellationManager* cancellation, TakeDone done);
  int64_t size() const;             // whole tuples
  int64_t incomplete_size() const;  // others
  void Clear();
  std::string DebugString() const override;

 private:
  // Copies the components out; what has been taken becomes an invalid tensor.
  StatusOr<Tuple> Take(std::map<int64_t, Tuple>::iterator it, const Tensor& indices, const std::vector<DType>& types,
                       bool remove) TB_REQUIRES(mu_);
  Status CheckIndices(const Tensor& indices) const;
  // Nothing: there is no room yet.
  bool HasRoom(int64_t bytes, bool whole) const TB_REQUIRES(mu_);

  const std::string name_;
  const std::vector<DType> types_;
  const StagingLimits limits_;
  std::map<int64_t, Tuple> whole_ TB_GUARDED_BY(mu_);
  std::map<int64_t, Tuple> incomplete_ TB_GUARDED_BY(mu_);
  int64_t bytes_ TB_GUARDED_BY(mu_) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_STAGING_RESOURCE_H_
