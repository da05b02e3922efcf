// Includes the public API for clusters and their tasks.
#ifndef TENSORBRAID_CLUSTER_H_
#define TENSORBRAID_CLUSTER_H_

#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/cluster/replica_device_setter.h"
#include "tensorbraid/cluster/server.h"
#include "tensorbraid/cluster/task_flags.h"

#endif  // TENSORBRAID_CLUSTER_H_
