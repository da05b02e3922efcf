// Kernels that need no program: they pass on, rename or replace whole buffers, and never look at elements in the memory
// of the device. Those of lists and TensorArrays that split, join or add tensors have programs of their own
// (pjrt/device_elements.h).
#ifndef TENSORBRAID_PJRT_WHOLE_BUFFERS_H_
#define TENSORBRAID_PJRT_WHOLE_BUFFERS_H_

#include <string_view>

namespace tensorbraid {

class KernelRegistry;
class Node;

namespace pjrt {

// Whether the node is one of these: a variable, its handle, the read or the assignment of a whole variable, a reshape,
// control flow, the next element of an iterator, or a list of tensors, a TensorArray or a stack. One of these whose
// elements are usually needed on the host (int32, bool, and what is not plain) stays there.
bool MovesWholeBuffers(const Node& node);
// Whether the node is one of these and takes the next element of an iterator.
bool TakesElement(const Node& node);
// Whether there is such a node of this op.
bool MovesWholeBuffers(std::string_view op);
// Whether the outputs of such a node are in host memory, except for handles.
bool HasOutputsOnHost(const Node& node);

// Adds the kernels of these ops, which are those of the CPU, for a device type. The ops that ask whether a variable is
// initialized have kernels of their own, which know of values that are lost (pjrt/loss.h). For
// DeviceType::register_kernels.
void AddWholeBufferKernels(KernelRegistry& r, std::string_view device_type);

}  // namespace pjrt
}  // namespace tensorbraid

#endif  // TENSORBRAID_PJRT_WHOLE_BUFFERS_H_
