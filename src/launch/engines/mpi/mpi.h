// Starts the tasks of a job on machines that mpirun reaches.
#ifndef TENSORBRAID_LAUNCH_ENGINES_MPI_MPI_H_
#define TENSORBRAID_LAUNCH_ENGINES_MPI_MPI_H_

#include <map>
#include <string>
#include <vector>

#include "launch/agent/agent_engine.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The machines of the job in which this process runs, and how many tasks each may run: of PBS and its kin
// (PBS_NODEFILE) or LSF (LSB_DJOB_HOSTFILE), whose files name a machine once for each slot. InvalidArgument if there is
// no such job.
StatusOr<std::vector<AgentNode>> NodesOfBatchSystem(const std::map<std::string, std::string>& variables);

// Sets what starts the agents of options->nodes: an mpirun for each, which runs one process. `mpirun` is the program,
// of Open MPI or of MPICH and its kin, and its first arguments. The machines reach each other by the names of the
// nodes. InvalidArgument if there are no nodes, or one twice.
Status UseMpirun(const std::vector<std::string>& mpirun, const std::string& agent_program, AgentEngineOptions* options);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_MPI_MPI_H_
