#include "runtime/kernel/resource.h"

#include "core/text/strings.h"

namespace tensorbraid {

ResourceManager::~ResourceManager() {
  std::map<Key, RefPtr<Resource>> dropped;
  {
    MutexLock lock(mu_);
    dropped.swap(resources_);
  }
}

StatusOr<RefPtr<Resource>> ResourceManager::LookupOrCreateAny(const Key& key,
                                                              absl::FunctionRef<RefPtr<Resource>()> create) {
  MutexLock lock(mu_);
  RefPtr<Resource>& slot = resources_[key];
  if (!slot) slot = create();
  return slot;
}

StatusOr<RefPtr<Resource>> ResourceManager::LookupAny(const Key& key) {
  MutexLock lock(mu_);
  const auto it = resources_.find(key);
  if (it == resources_.end()) {
    return NotFound("no ", key.type, " '", key.name, "' in container '", key.container, "'");
  }
  return it->second;
}

Status ResourceManager::DeleteAny(const Key& key) {
  RefPtr<Resource> dropped;  // destroyed after the lock is released
  MutexLock lock(mu_);
  const auto it = resources_.find(key);
  if (it == resources_.end()) {
    return NotFound("no ", key.type, " '", key.name, "' in container '", key.container, "'");
  }
  dropped = std::move(it->second);
  resources_.erase(it);
  generation_.fetch_add(1, std::memory_order_release);
  return OkStatus();
}

Status ResourceManager::Delete(const std::string& container, const std::string& name, const RefCounted* which) {
  std::vector<RefPtr<Resource>> dropped;
  MutexLock lock(mu_);
  const std::string in = ContainerName(container);
  for (auto it = resources_.lower_bound({in, name, ""});
       it != resources_.end() && it->first.container == in && it->first.name == name;) {
    if (which != nullptr && it->second.get() != which) {
      ++it;
      continue;
    }
    dropped.push_back(std::move(it->second));
    it = resources_.erase(it);
  }
  if (dropped.empty()) return NotFound("no resource '", name, "' in container '", in, "'");
  generation_.fetch_add(1, std::memory_order_release);
  return OkStatus();
}

void ResourceManager::ClearContainer(const std::string& container) {
  std::vector<RefPtr<Resource>> dropped;
  MutexLock lock(mu_);
  const std::string in = ContainerName(container);
  for (auto it = resources_.lower_bound({in, "", ""}); it != resources_.end() && it->first.container == in;) {
    dropped.push_back(std::move(it->second));
    it = resources_.erase(it);
  }
  generation_.fetch_add(1, std::memory_order_release);
}

std::vector<std::string> ResourceManager::Names(const std::string& container) const {
  MutexLock lock(mu_);
  std::vector<std::string> names;
  const std::string in = ContainerName(container);
  for (auto it = resources_.lower_bound({in, "", ""}); it != resources_.end() && it->first.container == in; ++it) {
    names.push_back(it->first.name);
  }
  return names;
}

Status ResourceManager::WrongType(const std::string& name, const std::string& have, const char* want) {
  return InvalidArgument("resource '", name, "' is ", have, ", not a ", want);
}

Tensor MakeHandleTensor(RefPtr<Resource> resource, std::string device, std::string container, std::string name) {
  Tensor t(DType::kResource, {});
  t.inplace_data<ResourceHandle>()[0] = {std::move(resource), std::move(device), std::move(container), std::move(name)};
  return t;
}

StatusOr<const ResourceHandle*> HandleOf(const Tensor& tensor) {
  if (tensor.dtype() != DType::kResource || tensor.num_elements() != 1) {
    return InvalidArgument("expected a scalar resource handle, got ", tensor.dtype(), tensor.shape());
  }
  const ResourceHandle* handle = &tensor.data<ResourceHandle>()[0];
  if (!handle->resource) return InvalidArgument("the resource handle is empty");
  return handle;
}

}  // namespace tensorbraid
