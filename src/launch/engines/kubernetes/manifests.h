// The Kubernetes objects of a job: a lifeline, a headless service, a secret, and a pod for each task. All functions are
// pure.
#ifndef TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_MANIFESTS_H_
#define TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_MANIFESTS_H_

#include <map>
#include <string>
#include <vector>

#include "launch/engines/engine.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The name of the container in which a pod runs its task.
inline constexpr const char* kTaskContainer = "task";
// The file whose content Kubernetes keeps as the last message of the container. The report of the task is written to
// it. (The usual name of this file is /dev/termination-log, which a program may use for something else.)
inline constexpr const char* kLastMessagePath = "/dev/tensorbraid-report";

// A volume that pods mount.
struct ClaimedVolume {
  std::string claim;  // the name of a PersistentVolumeClaim
  std::string path;   // in the container
};

// A job on Kubernetes.
struct KubernetesJob {
  std::string name;  // of the job, its service and its secret; the pods are called NAME-worker-0
  std::string name_space;
  std::string run;  // marks the objects of this run of the launcher, so that no other is ever deleted
  std::string image;
  std::string directory;  // the working directory in the container; "": that of the image
  double cpus = 0;        // that each task asks for; 0: what the cluster gives by default
  std::string memory;     // that each task asks for and is limited to, such as "2Gi"; "": what the cluster gives
  int gpus = 0;           // of NVIDIA, for each task but the parameter servers
  std::vector<ClaimedVolume> volumes;
  int user = 10001;  // the number of the user that tasks run as
  int grace_s = 60;  // how long a pod may take to end after SIGTERM
  // How long the pods go on when the launcher is gone (lifeline.h); 0: for ever.
  int lost_launcher_s = 600;
  std::string owner_uid = "";  // of the lifeline, to which all other objects belong; "": to none
  // The contents of files for the tasks, by the flag that tells a task their path; empty: no secret.
  std::map<std::string, std::string> files;
};

// "CLAIM:PATH". InvalidArgument names what is wrong.
StatusOr<ClaimedVolume> ParseVolume(const std::string& text);
// InvalidArgument names the option that is wrong or missing. `tasks` are names such as "worker/0".
Status CheckJob(const KubernetesJob& job, const std::vector<std::string>& tasks);
// A name for the job of a program: its file's name as far as Kubernetes allows it, and `suffix`.
std::string JobNameFor(const std::string& program, const std::string& suffix);

// "NAME-worker-0", and the address at which the other pods reach it.
std::string PodName(const KubernetesJob& job, const std::string& task);
std::string PodAddress(const KubernetesJob& job, const std::string& task);
// The name that the certificate of all tasks has.
std::string WildcardHost(const KubernetesJob& job);
// What selects all objects of this run, and what kinds of objects it has: "pods,services,secrets".
std::string RunSelector(const KubernetesJob& job);
std::string KindsOf(const KubernetesJob& job);

// Objects as JSON, which kubectl reads. Without `secret_values`, the values of the secret are left out.
std::string LifelineManifest(const KubernetesJob& job);
std::string ServiceManifest(const KubernetesJob& job);
std::string SecretManifest(const KubernetesJob& job, bool secret_values = true);
std::string PodManifest(const KubernetesJob& job, const std::string& task, const ProgramCall& call, bool knows_flags);
// Several objects as one.
std::string ListManifest(const std::vector<std::string>& manifests);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_ENGINES_KUBERNETES_MANIFESTS_H_
