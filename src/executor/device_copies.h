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

// Returns the device on which a node of a task's graph runs. If `devices` is null, the task has only the CPU.
// InvalidArgument if the device does not exist.
StatusOr<Device*> DeviceOf(const Node& node, const DeviceSet* devices);

// Returns the kernel for a node on its device. _Send, _Recv, _Copy and _Cluster nodes have one kernel for all devices.
// NotFound, naming the node, if there is no kernel.
StatusOr<const KernelDef*> FindKernel(const Node& node, const Device& device);

// Which inputs and outputs of a node are in the memory of its device. The other inputs and outputs are in host memory.
// On a device that uses host memory, all of them are in host memory.
struct ArgumentMemory {
  std::vector<bool> input_on_device;
  std::vector<bool> output_on_device;
};
StatusOr<ArgumentMemory> MemoryOfArguments(const Node& node, Device& device);

// Returns a copy of a task's graph with a `_Copy` node on every edge whose two ends are in different memories. A tensor
// is copied to a memory once, however many nodes use it there. A reference is copied again for nodes that must see a
// later value of the variable. A copy between two devices passes through host memory. A NextIteration whose Merge is in
// another memory runs on the Merge's device, so that back edges need no copies. Returns null if all devices use host
// memory. Unimplemented, naming the NextIteration and a Merge, if a NextIteration feeds Merge nodes in different
// memories.
StatusOr<std::unique_ptr<Graph>> InsertDeviceCopies(const Graph& graph, const DeviceSet& devices);

// Calls `done` when the streams of all these devices have done the work that the step enqueued before this call: at
// once, or later on `pool`. A device that does not know the steps of its work (WorkOfSteps) does the work of other
// steps first. `step` identifies the step (StepEnvironment::cancellation); null: all work counts. `done` gets the first
// error of that work. `devices` must live until then. REQUIRES: `devices` is not empty.
void WhenIdle(const std::vector<Device*>& devices, const CancellationManager* step, ThreadPool* pool,
              std::function<void(const Status&)> done);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_DEVICE_COPIES_H_
