// State that outlives steps: variables, queues, accumulators, by container and name.
#ifndef TENSORBRAID_RUNTIME_RESOURCE_H_
#define TENSORBRAID_RUNTIME_RESOURCE_H_

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/mutex.h"
#include "core/resource_handle.h"
#include "tensorbraid/status.h"
#include "tensorbraid/tensor.h"

namespace tensorbraid {

// Base of what a ResourceManager keeps. Derived classes have `static constexpr const char* kTypeName` for messages.
class Resource : public RefCounted {
 public:
  // Short text for messages: "float32[784,10]".
  virtual std::string DebugString() const = 0;
};

// The resources of one task, or of one session with isolated state. Thread-safe.
class ResourceManager {
 public:
  // The resource of this container and name; made by `create` if there is none. `container` "" is the default one.
  // InvalidArgument when it exists with another type.
  template <typename T>
  StatusOr<RefPtr<T>> LookupOrCreate(const std::string& container, const std::string& name,
                                     const std::function<RefPtr<T>()>& create) {
    TF_ASSIGN_OR_RETURN(RefPtr<Resource> r,
                        LookupOrCreateAny(container, name, [&]() -> RefPtr<Resource> { return create(); }));
    return Cast<T>(std::move(r), name);
  }
  // NotFound when there is none.
  template <typename T>
  StatusOr<RefPtr<T>> Lookup(const std::string& container, const std::string& name) {
    TF_ASSIGN_OR_RETURN(RefPtr<Resource> r, LookupAny(container, name));
    return Cast<T>(std::move(r), name);
  }
  // Forgets it; those who hold it keep it. NotFound when there is none.
  Status Delete(const std::string& container, const std::string& name);
  // Forgets everything in a container.
  void ClearContainer(const std::string& container);
  // Changes whenever something is forgotten: kernels that keep a handle compare it to see whether to look again.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  std::vector<std::string> Names(const std::string& container) const;

 private:
  template <typename T>
  static StatusOr<RefPtr<T>> Cast(RefPtr<Resource> r, const std::string& name) {
    T* t = dynamic_cast<T*>(r.get());
    if (t == nullptr) return WrongType(name, r->DebugString(), T::kTypeName);
    r.release();
    return RefPtr<T>::Adopt(t);
  }
  static Status WrongType(const std::string& name, const std::string& have, const char* want);
  StatusOr<RefPtr<Resource>> LookupOrCreateAny(const std::string& container, const std::string& name,
                                               const std::function<RefPtr<Resource>()>& create);
  StatusOr<RefPtr<Resource>> LookupAny(const std::string& container, const std::string& name);

  mutable Mutex mu_;
  std::map<std::pair<std::string, std::string>, RefPtr<Resource>> resources_ TB_GUARDED_BY(mu_);
  std::atomic<uint64_t> generation_{0};
};

// A scalar resource tensor, and back. InvalidArgument when it is none or empty.
Tensor MakeHandleTensor(RefPtr<Resource> resource, std::string device, std::string container, std::string name);
StatusOr<const ResourceHandle*> HandleOf(const Tensor& tensor);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_RESOURCE_H_
