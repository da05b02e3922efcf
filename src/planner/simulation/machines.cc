#include "planner/simulation/machines.h"

#include <algorithm>
#include <utility>

namespace tensorbraid::planner {

ClusterModel SeparateMachines(int servers, int workers, double cores, const LinkSpeed& link, const WayCosts& remote) {
  ClusterModel cluster;
  cluster.remote = remote;
  for (int i = 0; i < servers + workers; ++i) {
    cluster.host_cores.push_back(cores);
    cluster.links.push_back(link);
    (i < servers ? cluster.servers : cluster.workers).push_back({.host = i, .link = i});
  }
  return cluster;
}

ClusterModel OneMachine(int servers, int workers, double cores, const WayCosts& local) {
  ClusterModel cluster;
  cluster.local = local;
  cluster.host_cores = {cores};
  cluster.links = {{}};
  cluster.servers.resize(servers);
  cluster.workers.resize(workers);
  return cluster;
}

SimulatedMachines::SimulatedMachines(const ClusterModel& cluster, EventQueue* events)
    : cluster_(cluster), events_(events), network_(events) {
  for (const double cores : cluster.host_cores) hosts_.push_back(std::make_unique<SharedCores>(events, cores));
  for (const LinkSpeed& link : cluster.links) network_.AddLink(link);
  for (const auto* places : {&cluster.servers, &cluster.workers}) {
    for (const auto& place : *places) {
      network_.AddTask(hosts_[place.host].get(), place.link, /*is_server=*/places == &cluster.servers);
    }
  }
}

void SimulatedMachines::SendMessage(int from, int to, double bytes, std::function<void()> arrived) {
  network_.Send(from, to, bytes, /*bulk=*/false, WayOf(from, to), std::move(arrived));
}

void SimulatedMachines::SendTensor(int from, int to, double bytes, std::function<void()> arrived) {
  network_.Send(from, to, bytes, /*bulk=*/true, WayOf(from, to), std::move(arrived));
}

void SimulatedMachines::StartMeasuring() {
  before_ = {.ns = events_->now_ns(), .messages = network_.messages()};
  for (size_t i = 0; i < cluster_.links.size(); ++i) {
    before_.bytes_out.push_back(network_.bytes_out(static_cast<int>(i)));
    before_.bytes_in.push_back(network_.bytes_in(static_cast<int>(i)));
  }
  for (const auto& host : hosts_) before_.busy_ns.push_back(host->busy_ns());
}

double SimulatedMachines::LinkUse(const std::vector<ClusterModel::TaskPlace>& places) const {
  double most = 0;
  const double s = (events_->now_ns() - before_.ns) / 1e9;
  for (const auto& place : places) {
    const LinkSpeed& speed = network_.speed(place.link);
    const double sent = network_.bytes_out(place.link) - before_.bytes_out[place.link];
    const double received = network_.bytes_in(place.link) - before_.bytes_in[place.link];
    if (speed.out_bytes_per_s > 0) most = std::max(most, sent / s / speed.out_bytes_per_s);
    if (speed.in_bytes_per_s > 0) most = std::max(most, received / s / speed.in_bytes_per_s);
  }
  return std::min(most, 1.0);
}

bool SimulatedMachines::TasksCompete() {
  constexpr double kFull = 0.95;
  std::vector<int> tasks(hosts_.size(), 0);
  for (const auto* places : {&cluster_.servers, &cluster_.workers}) {
    for (const auto& place : *places) ++tasks[place.host];
  }
  const double ns = events_->now_ns() - before_.ns;
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (tasks[i] > 1 && hosts_[i]->busy_ns() - before_.busy_ns[i] > kFull * ns * hosts_[i]->cores()) return true;
  }
  return false;
}

double SimulatedMachines::BusyNs() {
  double ns = 0;
  for (size_t i = 0; i < hosts_.size(); ++i) ns += hosts_[i]->busy_ns() - before_.busy_ns[i];
  return ns;
}

double SimulatedMachines::ServerCpuUse() {
  double most = 0;
  const double ns = events_->now_ns() - before_.ns;
  for (const auto& place : cluster_.servers) {
    const double busy = hosts_[place.host]->busy_ns() - before_.busy_ns[place.host];
    most = std::max(most, busy / ns / hosts_[place.host]->cores());
  }
  return most;
}

}  // namespace tensorbraid::planner
