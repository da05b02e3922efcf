// The machines of a cluster, and the same machines in a simulation.
#ifndef TENSORBRAID_PLANNER_SIMULATION_MACHINES_H_
#define TENSORBRAID_PLANNER_SIMULATION_MACHINES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "planner/simulation/event_queue.h"
#include "planner/simulation/network.h"
#include "planner/simulation/shared_cores.h"

namespace tensorbraid::planner {

constexpr double kControlBytes = 100;  // of a message without a tensor

// The machines of a cluster, and where its tasks are.
struct ClusterModel {
  struct TaskPlace {
    int host = 0;  // index into host_cores
    int link = 0;  // index into links; tasks with the same link exchange messages without a network
  };
  std::vector<double> host_cores;
  std::vector<LinkSpeed> links;
  std::vector<TaskPlace> servers, workers;
  WayCosts local;   // between tasks of the same link
  WayCosts remote;  // between tasks of different links
};
// A machine with `cores` and a link for each task.
ClusterModel SeparateMachines(int servers, int workers, double cores, const LinkSpeed& link, const WayCosts& remote);
// All tasks on one machine.
ClusterModel OneMachine(int servers, int workers, double cores, const WayCosts& local);

// The cores that simulated tasks compute on, and the messages between them. Used by one thread.
class SimulatedMachines {
 public:
  // Both must outlive this object.
  SimulatedMachines(const ClusterModel& cluster, EventQueue* events);

  // The numbers of tasks.
  int ServerTask(int server) const { return server; }
  int WorkerTask(int worker) const { return static_cast<int>(cluster_.servers.size()) + worker; }

  SharedCores& CoresOf(int task) { return *hosts_[PlaceOf(task).host]; }
  const WayCosts& WayOf(int from, int to) const {
    return PlaceOf(from).link == PlaceOf(to).link ? cluster_.local : cluster_.remote;
  }
  // Sends a message; calls `arrived` when the receiver has it. SendTensor is for tensors above the eager limit, which
  // other messages do not wait for.
  void SendMessage(int from, int to, double bytes, std::function<void()> arrived);
  void SendTensor(int from, int to, double bytes, std::function<void()> arrived);

  // The shares of the time since StartMeasuring in which the busiest link or machine was in use.
  void StartMeasuring();
  double WorkerLinkUse() const { return LinkUse(cluster_.workers); }
  double ServerLinkUse() const { return LinkUse(cluster_.servers); }
  double ServerCpuUse();
  // Whether the tasks of a machine compete for its cores: it has more than one, and nearly no core was ever idle.
  bool TasksCompete();
  // The time that all cores of all machines together have worked since StartMeasuring.
  double BusyNs();
  // Messages that were sent since StartMeasuring.
  int64_t Messages() const { return network_.messages() - before_.messages; }

 private:
  const ClusterModel::TaskPlace& PlaceOf(int task) const {
    const int servers = static_cast<int>(cluster_.servers.size());
    return task < servers ? cluster_.servers[task] : cluster_.workers[task - servers];
  }
  double LinkUse(const std::vector<ClusterModel::TaskPlace>& places) const;

  // What had been counted when the measurement began.
  struct Before {
    double ns = 0;
    int64_t messages = 0;
    std::vector<double> bytes_out = {}, bytes_in = {};  // by link
    std::vector<double> busy_ns = {};                   // by host
  };

  const ClusterModel& cluster_;
  EventQueue* const events_;
  std::vector<std::unique_ptr<SharedCores>> hosts_;
  Network network_;
  Before before_;
};

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_SIMULATION_MACHINES_H_
