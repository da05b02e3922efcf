// Resources: state that outlives steps, such as variables, queues and accumulators, found by container and name.
#ifndef TENSORBRAID_RUNTIME_KERNEL_RESOURCE_H_
#define TENSORBRAID_RUNTIME_KERNEL_RESOURCE_H_

#include <compare>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "core/threads/mutex.h"
#include "core/values/resource_handle.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Base of all resources. A derived class has a `static constexpr const char* kTypeName`, which is part of the key in a
// ResourceManager and is used in messages.
class Resource : public RefCounted {
 public:
  // Short text for messages: "float32[784,10]".
  virtual std::string DebugString() const = 0;
};

// The resources of one task, or of one session with isolated state. Thread-safe.
//
// Resources of different types may have the same name, as in TensorFlow, because T::kTypeName is part of the key. So a
// resource that implements an interface T must be created as a T and looked up as a T.
class ResourceManager {
 public:
  ResourceManager() = default;
  // The destructors of resources may still use the manager.
  ~ResourceManager();
  // The name of the container "".
  static constexpr const char* kDefaultContainer = "localhost";
  static std::string ContainerName(const std::string& container) {
    return container.empty() ? kDefaultContainer : container;
  }

  // Returns the resource of this type, container and name; if it does not exist, creates it by `create`, which is
  // called with the manager's lock held.
  template <typename T>
  StatusOr<RefPtr<T>> LookupOrCreate(const std::string& container, const std::string& name,
                                     absl::FunctionRef<RefPtr<T>()> create) {
    TF_ASSIGN_OR_RETURN(RefPtr<Resource> r,
                        LookupOrCreateAny(KeyOf<T>(container, name), [&]() -> RefPtr<Resource> { return create(); }));
    return Cast<T>(std::move(r), name);
  }
  // NotFound if it does not exist.
  template <typename T>
  StatusOr<RefPtr<T>> Lookup(const std::string& container, const std::string& name) {
    TF_ASSIGN_OR_RETURN(RefPtr<Resource> r, LookupAny(KeyOf<T>(container, name)));
    return Cast<T>(std::move(r), name);
  }
  // Removes the resource from the manager; it lives on while other references exist. NotFound if it does not exist.
  template <typename T>
  Status Delete(const std::string& container, const std::string& name) {
    return DeleteAny(KeyOf<T>(container, name));
  }
  // Removes the resources of all types with this name, or, if `which` is not null, only this resource. NotFound if none
  // was removed.
  Status Delete(const std::string& container, const std::string& name, const RefCounted* which = nullptr);
  // Removes all resources in a container.
  void ClearContainer(const std::string& container);
  // Changes whenever a resource is removed: tells kernels that cache a resource to look it up again.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  std::vector<std::string> Names(const std::string& container) const;

 private:
  struct Key {
    std::string container;
    std::string name;
    std::string type;
    auto operator<=>(const Key&) const = default;
  };
  template <typename T>
  static Key KeyOf(const std::string& container, const std::string& name) {
    return {ContainerName(container), name, T::kTypeName};
  }
  template <typename T>
  static StatusOr<RefPtr<T>> Cast(RefPtr<Resource> r, const std::string& name) {
    T* t = dynamic_cast<T*>(r.get());
    if (t == nullptr) return WrongType(name, r->DebugString(), T::kTypeName);
    r.release();
    return RefPtr<T>::Adopt(t);
  }
  static Status WrongType(const std::string& name, const std::string& have, const char* want);
  StatusOr<RefPtr<Resource>> LookupOrCreateAny(const Key& key, absl::FunctionRef<RefPtr<Resource>()> create);
  StatusOr<RefPtr<Resource>> LookupAny(const Key& key);
  Status DeleteAny(const Key& key);

  mutable Mutex mu_;
  std::map<Key, RefPtr<Resource>> resources_ TB_GUARDED_BY(mu_);
  std::atomic<uint64_t> generation_{0};
};

// A scalar tensor of dtype resource that holds a handle.
Tensor MakeHandleTensor(RefPtr<Resource> resource, std::string device, std::string container, std::string name);
// Returns the handle in a scalar resource tensor. InvalidArgument if the tensor is of another kind, or its handle is
// empty.
StatusOr<const ResourceHandle*> HandleOf(const Tensor& tensor);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_RESOURCE_H_
