// What the error says when the memory of a device does not suffice for a program.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_OUT_OF_MEMORY_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_OUT_OF_MEMORY_H_

#include "executor/clusters/make.h"
#include "executor/clusters/program_source.h"
#include "pjrt/device.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Adds to the error of a run, if it is ResourceExhausted, what the program needs, what all tensors on the device take,
// and the largest arguments by name. Returns other errors as they are.
Status WithMemory(const Status& error, const ClusterBody& body, const Executable& executable, pjrt::PjrtDevice& device);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_OUT_OF_MEMORY_H_
