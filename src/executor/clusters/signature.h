// What a run of a cluster needs a program for (cluster_kernel.h).
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_SIGNATURE_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_SIGNATURE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "executor/clusters/cluster_run.h"
#include "executor/clusters/make.h"
#include "pjrt/emitter.h"
#include "runtime/variables/locked_variables.h"

namespace tensorbraid {

// In these functions, `locked` has the variables of the run.

// The value of argument `i` of the cluster; not valid if it is a variable without a value.
const Tensor& ValueOf(size_t i, const ClusterRun& run, const LockedVariables& locked);

// False for a variable that is not initialized or whose value is lost.
bool HasValue(size_t i, const ClusterRun& run, const LockedVariables& locked);

// Bytes that are equal for runs that can use the same program. Made in each step, so it is not text.
std::string SignatureOf(const ClusterBody& body, const ClusterRun& run, const LockedVariables& locked);

// The same bytes for a run that will have these arguments. They are as ArgumentsOf makes them.
std::string SignatureOf(const ClusterBody& body, const std::vector<pjrt::ProgramArgument>& arguments);

// One argument for each argument of the body. Arguments that are the same variable are all within the first of them.
std::vector<pjrt::ProgramArgument> ArgumentsOf(const ClusterBody& body, const ClusterRun& run,
                                               const LockedVariables& locked);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_SIGNATURE_H_
