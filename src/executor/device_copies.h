// Copies between the memories of a task's devices.
#ifndef TENSORBRAID_EXECUTOR_DEVICE_COPIES_H_
#define TENSORBRAID_EXECUTOR_DEVICE_COPIES_H_

#include <functional>
#include <memory>
#include <vector>

#include "core/threads/thread_pool.h"
#include "runtime/kernel/kernel.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Returns the device on which a node of a partition runs. Without `devices`, a task has the CPU only. InvalidArgument
// if the device does not exist.
StatusOr<Device*> DeviceOf(const Node& node, const DeviceSet* devices);

// The kernel for a node on its device. The nodes at the ends of edges between tasks, and of feeds and fetches, have the
// same kernel on all devices, which works on host memory. NotFound, naming the node, if there is no kernel.
StatusOr<const KernelDef*> FindKernel(const Node& node, const Device& device);

// Which inputs and outputs of a node are in the memory of its device. The other inputs and outputs are in host memory.
// On a device that uses host memory, all of them are in host memory.
struct ArgumentMemory {
  std::vector<bool> input_on_device;
  std::vector<bool> output_on_device;
};
StatusOr<ArgumentMemory> MemoryOfArguments(const Node& node, Device& device);

// Returns a copy of a partition in which a `_Copy` node joins the ends of every edge whose ends are in different
// memories. A tensor is copied to a memory once, however many nodes use it there; between two devices it passes through
// host memory. A NextIteration whose Merge is in another memory runs on the Merge's device, so that back edges need no
// copies. Returns null if all devices use host memory. Unimplemented, naming both, if a NextIteration feeds Merge nodes
// in different memories.
StatusOr<std::unique_ptr<Graph>> InsertDeviceCopies(const Graph& graph, const DeviceSet& devices);

// Calls `done` on `pool`, with the first error, when the streams of all these devices have done the work that was
// enqueued before this call. `devices` must live until then.
void WhenIdle(const std::vector<Device*>& devices, ThreadPool* pool, std::function<void(const Status&)> done);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_DEVICE_COPIES_H_
