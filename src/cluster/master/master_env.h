// The objects that the sessions and steps of one master share.
#ifndef TENSORBRAID_CLUSTER_MASTER_MASTER_ENV_H_
#define TENSORBRAID_CLUSTER_MASTER_MASTER_ENV_H_

#include <chrono>
#include <memory>
#include <string>

#include "cluster/exchange/exchange.h"
#include "cluster/master/running_steps.h"
#include "cluster/membership/membership.h"
#include "cluster/membership/remote_workers.h"
#include "cluster/worker/worker.h"
#include "core/threads/thread.h"
#include "partition/wire_edges.h"

namespace tensorbraid {

// All pointers must outlive the master.
struct MasterOptions {
  std::string task;          // "/job:worker/replica:0/task:1"
  uint64_t incarnation = 0;  // of this task
  Worker* worker = nullptr;  // of this task
  Exchange* exchange = nullptr;
  Membership* membership = nullptr;
  RemoteWorkers* remote_workers = nullptr;
  std::chrono::milliseconds slow_wait{5000};
  JobWireTypes wire = {};  // see ServerOptions::wire
  // If set, running steps keep it alive, so its last reference may be released at any time.
  std::weak_ptr<void> owner = {};
};

struct MasterEnv : MasterOptions {
  explicit MasterEnv(MasterOptions options) : MasterOptions(std::move(options)) {}

  // How long a thread that waits for a step of several tasks polls, yielding the processor, before it sleeps. On a
  // virtual machine, waking a thread whose core has been idle takes some 50 us. A process that may use only one core
  // does not poll: it would keep the threads that it waits for from running.
  const std::chrono::microseconds stay_awake{NumCores() > 1 ? 100 : 0};
  RunningSteps steps;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MASTER_MASTER_ENV_H_
