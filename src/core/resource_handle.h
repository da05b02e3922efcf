// What an element of a tensor of dtype resource is.
#ifndef TENSORBRAID_CORE_RESOURCE_HANDLE_H_
#define TENSORBRAID_CORE_RESOURCE_HANDLE_H_

#include <string>

#include "tensorbraid/buffer.h"
#include "tensorbraid/dtype.h"

namespace tensorbraid {

// Names a resource of one device and holds it. Handles do not leave the task: ops on a resource are placed with it.
struct ResourceHandle {
  RefPtr<RefCounted> resource;
  std::string device;
  std::string container;
  std::string name;
};

template <>
struct DTypeOf<ResourceHandle> {
  static constexpr DType value = DType::kResource;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_RESOURCE_HANDLE_H_
