// The kernel of `_Cluster`: runs the nodes of a cluster as one program.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_CLUSTER_KERNEL_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_CLUSTER_KERNEL_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid {

// A program is made for each signature: the dtypes and shapes of the inputs and variables, and the values of the static
// inputs. If the graph tells the first signature, the compiler begins when the kernel is made. The first run waits
// until its program is compiled, without blocking a thread. A step that is cancelled meanwhile stops waiting, and the
// compiler goes on. While the program of a further signature is compiled, runs with this signature take place on the
// host (host_substitute.h). They wait for the compiler instead if the host cannot run the nodes, if a variable has lost
// its value, and if that program could not be compiled the last time. After too many signatures (signature_limit.h),
// the host runs all further ones; if they differ by a static input, the kernel notes it for the next plan
// (changing_values.h).
//
// A run whose program checks elements (pjrt/error_word.h) ends when the error word is on the host. If a check has
// failed, the run returns its error, and no variable has changed.
//
// A run locks the variables of the cluster while the program is enqueued, so that it reads all of them, and replaces
// those that it updates, at one moment. It never holds the locks while a program is compiled or runs. A variable that
// is updated gives its memory to the new value, unless something else holds the old value. If the program fails, the
// variable has lost its value (pjrt/loss.h), and the run is Aborted.
const KernelDef& ClusterKernelDef();

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_CLUSTER_KERNEL_H_
