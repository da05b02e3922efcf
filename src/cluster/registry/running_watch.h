#ifndef TENSORBRAID_CLUSTER_REGISTRY_RUNNING_WATCH_H_
#define TENSORBRAID_CLUSTER_REGISTRY_RUNNING_WATCH_H_

namespace tensorbraid {

// Calls back, on a thread of its own, as long as it lives. The destructor waits until the callback does not run.
class RunningWatch {
 public:
  virtual ~RunningWatch() = default;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_REGISTRY_RUNNING_WATCH_H_
