// The element type of tensors of dtype resource.
#ifndef TENSORBRAID_CORE_VALUES_RESOURCE_HANDLE_H_
#define TENSORBRAID_CORE_VALUES_RESOURCE_HANDLE_H_

#include <string>

#include "tensorbraid/core/buffer.h"
#include "tensorbraid/core/dtype.h"

namespace tensorbraid {

// Names a resource of one device and holds a reference to it. Handles do not leave their task, because ops that use a
// resource are placed on its device.
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

#endif  // TENSORBRAID_CORE_VALUES_RESOURCE_HANDLE_H_
