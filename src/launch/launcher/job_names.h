// The jobs of a cluster that the launcher starts: ps, worker, and with TF_CONFIG also chief and evaluator.
#ifndef TENSORBRAID_LAUNCH_LAUNCHER_JOB_NAMES_H_
#define TENSORBRAID_LAUNCH_LAUNCHER_JOB_NAMES_H_

#include <string_view>

namespace tensorbraid {

// Whether the tasks of the job train: the workers and the chief, which is the first worker.
inline bool Trains(std::string_view job) { return job == "worker" || job == "chief"; }

// Whether the tasks of the job take part in the cluster's steps. An evaluator only reads the checkpoints.
inline bool IsInCluster(std::string_view job) { return job != "evaluator"; }

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_LAUNCHER_JOB_NAMES_H_
