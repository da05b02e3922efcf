// Makes the report of a task about itself.
#ifndef TENSORBRAID_CLUSTER_STATUS_TASK_REPORT_H_
#define TENSORBRAID_CLUSTER_STATUS_TASK_REPORT_H_

#include <memory>
#include <vector>

namespace tensorbraid {

class Exchange;
class Master;
class Membership;
class ResourceManager;
class Worker;
class WorkerEnv;

namespace proto {
class TaskReport;
}

// The parts of a task that a report reads.
struct TaskParts {
  WorkerEnv& env;
  const std::vector<std::shared_ptr<ResourceManager>>& resources;  // that hold the task's variables
  Membership& membership;
  Exchange& exchange;
  Worker& worker;
  Master& master;
};

// Fills in everything except TaskReport::address and straggler. Takes the locks of these parts for a short time, one
// after the other, so the numbers are not all from the same moment. Must not be called on a transport thread, because
// it may wait for an update of a large variable.
void FillTaskReport(const TaskParts& task, proto::TaskReport* report);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_STATUS_TASK_REPORT_H_
