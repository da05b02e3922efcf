// State that outlives steps: variables, queues, accumulators, by container and name.
#ifndef TENSORBRAID_RUNTIME_RESOURCE_H_
#define TENSORBRAID_RUNTIME_RESOURCE_H_

#include <compare>
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
//
// Resources of different types may share a name, as in TensorFlow: T::kTypeName is part of what they are found by, so
// classes of one interface must be looked up by the interface.
class ResourceManager {
 public:
  ResourceManager() = default;
  // Resources may still use the manager while they end.
  ~ResourceManager();
  // What the container "" is called.
  static constexpr const char* kDefaultContainer = "localhost";
  static std::string ContainerName(const std::string& container) {
    return container.empty() ? kDefaultContainer : container;
  }

  // The resource of this type, container and name; made by `create` if there is none.
  template <typename T>
  StatusOr<RefPtr<T>> LookupOrCreate(const std::string& container, const std::string& name,
                                     const std::function<RefPtr<T>()>& create) {
    TF_ASSIGN_OR_RETURN(RefPtr<Resource> r,
                        LookupOrCreateAny(KeyOf<T>(container, name), [&]() -> RefPtr<Resource> { return create(); }));
    return Cast<T>(std::move(r), name);
  }
  // NotFound when there is none.
  template <typename T>
  StatusOr<RefPtr<T>> Lookup(const std::string& container, const std::string& name) {
    TF_ASSIGN_OR_RETURN(RefPtr<Resource> r, LookupAny(KeyOf<T>(container, name)));
    return Cast<T>(std::move(r), name);
  }
  // Forgets it; those who hold it keep it. NotFound when there is none.
  template <typename T>
  Status Delete(const std::string& container, const std::string& name) {
    return DeleteAny(KeyOf<T>(container, name));
  }
  // Forgets the resources of this name, of all types, or only `which`.
  Status Delete(const std::string& container, const std::string& name, const RefCounted* which = nullptr);
  // Forgets everything in a container.
  void ClearContainer(const std::string& container);
  // Changes whenever something is forgotten: kernels that keep a handle compare it to see whether to look again.
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
  StatusOr<RefPtr<Resource>> LookupOrCreateAny(const Key& key, const std::function<RefPtr<Resource>()>& create);
  StatusOr<RefPtr<Resource>> LookupAny(const Key& key);
  Status DeleteAny(const Key& key);

  mutable Mutex mu_;
  std::map<Key, RefPtr<Resource>> resources_ TB_GUARDED_BY(mu_);
  std::atomic<uint64_t> generation_{0};
};

// A scalar resource tensor, and back. InvalidArgument when it is none or empty.
Tensor MakeHandleTensor(RefPtr<Resource> resource, std::string device, std::string container, std::string name);
StatusOr<const ResourceHandle*> HandleOf(const Tensor& tensor);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_RESOURCE_H_
