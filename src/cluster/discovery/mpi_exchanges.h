// The exchanges that launchers of MPI offer: PMIx and PMI.
#ifndef TENSORBRAID_CLUSTER_DISCOVERY_MPI_EXCHANGES_H_
#define TENSORBRAID_CLUSTER_DISCOVERY_MPI_EXCHANGES_H_

#include <chrono>
#include <memory>

#include "cluster/discovery/record_exchange.h"

namespace tensorbraid {

// PMIx, with the server that the process's environment names. `size` is the number of ranks, or 0 to ask PMIx.
// FailedPrecondition if the library is not installed.
StatusOr<std::unique_ptr<RecordExchange>> NewPmixExchange(int size, std::chrono::milliseconds timeout);

// Version 1 of PMI, in which a process writes lines to a socket that it has inherited (PMI_FD): MPICH's mpiexec
// (hydra), Intel MPI, and Slurm with --mpi=pmi2. The exchange owns the socket `fd`, and closes it when it is done.
// FailedPrecondition if `fd` is no connected socket; it is left alone then, because it is something else's.
StatusOr<std::unique_ptr<RecordExchange>> NewPmiExchange(int fd, int size, std::chrono::milliseconds timeout);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_DISCOVERY_MPI_EXCHANGES_H_
