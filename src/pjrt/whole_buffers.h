// Kernels that need no program: they pass on, rename or replace whole buffers, and never look at elements in the memory
// of the device.
#ifndef TENSORBRAID_PJRT_WHOLE_BUFFERS_H_
#define TENSORBRAID_PJRT_WHOLE_BUFFERS_H_

#include <string_view>

namespace tensorbraid {

class KernelRegistry;

namespace pjrt {

// Whether the op is one of these: a variable, its handle, the read or the assignment of a whole variable, or a reshape.
bool MovesWholeBuffers(std::string_view op);

// Adds the kernels of these ops, which are those of the CPU, for a device type. The ops that ask whether a variable is
// initialized have kernels of their own, which know of values that are lost (pjrt/loss.h). For
// DeviceType::register_kernels.
void AddWholeBufferKernels(KernelRegistry& r, std::string_view device_type);

}  // namespace pjrt
}  // namespace tensorbraid

#endif  // TENSORBRAID_PJRT_WHOLE_BUFFERS_H_
