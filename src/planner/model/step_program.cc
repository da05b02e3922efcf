#include "planner/model/step_program.h"

#include <algorithm>
#include <numeric>

namespace tensorbraid::planner {

StepProgram DividedOver(const StepProgram& program, int servers) {
  StepProgram divided = program;
  divided.servers = servers;
  divided.activities.clear();
  divided.transfers.clear();
  const double share = 1.0 / servers;
  // copies[i] is the number of the first copy of activity i. The worker's activities have one copy.
  std::vector<int> copies;
  const auto count = [&](int task) { return task == 0 ? 1 : servers; };
  for (const Activity& a : program.activities) {
    copies.push_back(static_cast<int>(divided.activities.size()));
    for (int s = 0; s < count(a.task); ++s) {
      Activity copy = a;
      copy.next.clear();
      copy.sends.clear();
      copy.waits_for = 0;
      if (a.task != 0) {
        copy.task = 1 + s;
        copy.ns *= share;
        copy.accumulate_ns *= share;
        if (a.variable >= 0) copy.variable = a.variable * servers + s;
      }
      divided.activities.push_back(std::move(copy));
    }
  }
  const auto add_next = [&](std::vector<int>* next, int activity) {
    next->push_back(activity);
    ++divided.activities[activity].waits_for;
  };
  std::vector<int> first_transfer;
  for (const TensorTransfer& t : program.transfers) {
    first_transfer.push_back(static_cast<int>(divided.transfers.size()));
    for (int s = 0; s < servers; ++s) {
      TensorTransfer copy = t;
      copy.next.clear();
      copy.bytes *= share;
      if (t.from != 0) copy.from = 1 + s;
      if (t.to != 0) copy.to = 1 + s;
      for (const int next : t.next) add_next(&copy.next, copies[next] + (t.to == 0 ? 0 : s));
      divided.transfers.push_back(std::move(copy));
    }
  }
  for (size_t i = 0; i < program.activities.size(); ++i) {
    const Activity& a = program.activities[i];
    for (int s = 0; s < count(a.task); ++s) {
      Activity& copy = divided.activities[copies[i] + s];
      for (const int next : a.next) add_next(&copy.next, copies[next] + s);
      for (const int send : a.sends) {
        if (a.task != 0) {
          copy.sends.push_back(first_transfer[send] + s);
        } else {
          for (int to = 0; to < servers; ++to) copy.sends.push_back(first_transfer[send] + to);
        }
      }
    }
  }
  return divided;
}

std::vector<int> PlaceVariables(const std::vector<double>& variable_bytes, Placement placement, int servers) {
  std::vector<int> place;
  std::vector<double> load(servers, 0);
  for (size_t v = 0; v < variable_bytes.size(); ++v) {
    const auto least = std::min_element(load.begin(), load.end());
    const int server =
        placement == Placement::kRoundRobin ? static_cast<int>(v) % servers : static_cast<int>(least - load.begin());
    load[server] += variable_bytes[v];
    place.push_back(server);
  }
  return place;
}

StepProgram ProgramOf(const ModelSummary& model, const std::vector<int>& place, int servers) {
  StepProgram program;
  program.servers = servers;
  program.batch = model.batch;
  const int n = static_cast<int>(model.variable_bytes.size());
  // Activities: n reads, n layers forward, n layers backward, n updates.
  const int forward = n, backward = 2 * n, update = 3 * n;
  program.activities.resize(4 * static_cast<size_t>(n));
  for (int v = 0; v < n; ++v) {
    const double bytes = model.variable_bytes[v];
    const double layer_ns = model.step_ns / n;
    const int server = 1 + place[v];
    program.activities[v] = {.task = server, .sends = {static_cast<int>(program.transfers.size())}};
    program.transfers.push_back({.from = server, .to = 0, .bytes = bytes, .next = {forward + v}});
    Activity& ahead = program.activities[forward + v];
    ahead.ns = layer_ns * model.forward_share;
    ahead.waits_for = v == 0 ? 1 : 2;
    ahead.next = {v + 1 < n ? forward + v + 1 : backward};
    Activity& back = program.activities[backward + n - 1 - v];
    back.ns = layer_ns * (1 - model.forward_share);
    back.waits_for = 1;
    if (v > 0) back.next = {backward + n - v};
    back.sends = {static_cast<int>(program.transfers.size())};
    program.transfers.push_back({.from = 0, .to = server, .bytes = bytes, .next = {update + v}});
    program.activities[update + v] = {.task = server,
                                      .ns = bytes * model.update_byte_ns,
                                      .variable = v,
                                      .after_gradients = true,
                                      .accumulates = true,
                                      .accumulate_ns = bytes * model.accumulate_byte_ns,
                                      .waits_for = 1};
  }
  return program;
}

}  // namespace tensorbraid::planner
