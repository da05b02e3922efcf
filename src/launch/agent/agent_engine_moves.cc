// How an AgentEngine puts other machines in place of those that are lost.
#include <algorithm>
#include <utility>

#include "core/text/strings.h"
#include "launch/agent/agent_engine.h"
#include "launch/agent/agent_engine_node.h"

namespace tensorbraid {
namespace {

bool HasRoom(const AgentNode& machine, size_t tasks) {
  return machine.slots == 0 || static_cast<size_t>(machine.slots) >= tasks;
}

}  // namespace

Status SetSpares(int count, AgentEngineOptions* options) {
  const int nodes = static_cast<int>(options->nodes.size());
  if (count >= nodes) {
    return InvalidArgument("--spare_nodes=", count, " leaves no machine for the tasks: there are ", nodes,
                           "; give more, or fewer spare ones");
  }
  options->spares.assign(options->nodes.end() - count, options->nodes.end());
  options->nodes.resize(static_cast<size_t>(nodes - count));
  return OkStatus();
}

bool AgentEngine::tasks_move() const {
  if (!options_.shared.has_value()) return !options_.spares.empty();
  return options_.shared->spares > 0 || options_.shared->replaces;
}

bool AgentEngine::PlaceAgain(size_t task) {
  Node& node = *node_of_task_[task];
  if (node.is_prepared) return true;
  node.awaiting.push_back(task);
  if (std::exchange(node.is_coming, true)) return false;  // for another task of it
  node.tries = static_cast<int>(spares_.size());
  if (!options_.shared.has_value()) {
    Connect(node);  // perhaps only the connection was lost
  } else if (!Replace(node)) {
    FinishAwaiting(node, "there is no other machine");
  }
  return false;
}

bool AgentEngine::CanReplace(const Node& node) const {
  if (!options_.shared.has_value()) return true;
  return shared_->is_open() && (options_.shared->replaces || SpareFor(node).has_value());
}

std::optional<size_t> AgentEngine::SpareFor(const Node& node) const {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& other = nodes_[i];
    if (other.tasks.empty() && !other.is_gone && HasRoom(other.what, node.tasks.size())) return i;
  }
  return std::nullopt;
}

bool AgentEngine::Replace(Node& node) {
  if (!CanReplace(node)) return false;
  const std::string lost = node.what.name;
  if (options_.shared.has_value() && options_.shared->replaces) {
    node.is_coming = true;
    Send(node, ReplaceNode{});
    return true;
  }
  if (options_.shared.has_value()) {
    Node& spare = nodes_[*SpareFor(node)];
    std::swap(node.what, spare.what);
    std::swap(node.rank, spare.rank);
    std::swap(node.is_gone, spare.is_gone);
    node.silent = 0;
  } else {
    const auto spare = std::find_if(spares_.begin(), spares_.end(),
                                    [&node](const AgentNode& m) { return HasRoom(m, node.tasks.size()); });
    if (node.tries == 0 || spare == spares_.end()) return false;
    --node.tries;
    // The machine that was lost may be a spare for others once it is back.
    std::rotate(spare, spare + 1, spares_.end());
    std::swap(node.what, spares_.back());
  }
  node.ports.clear();
  node.checksums.clear();
  node.is_coming = true;
  listener_->OnMessage(StrCat(node.what.name, " takes the place of ", lost));
  if (options_.shared.has_value()) {
    Prepare(node);
  } else {
    Connect(node);
  }
  return true;
}

void AgentEngine::FinishAwaiting(Node& node, const std::string& why) {
  node.is_coming = false;
  const bool for_good = node.is_gone && !CanReplace(node);
  for (size_t task : std::exchange(node.awaiting, {})) {
    listener_->OnEnd(task, {.process = {}, .lost = StrCat(node.what.name, ": ", why), .lost_for_good = for_good});
  }
}

void AgentEngine::OnPreparedAgain(Node& node) {
  node.is_coming = false;
  if (const Status status = CheckNodes(); !status.ok()) {
    return Disconnect(node, std::string(status.message()), status.code());
  }
  bool has_moved = false;
  for (size_t i = 0; i < node.tasks.size(); ++i) {
    TaskPlace& place = places_[node.tasks[i]];
    const TaskPlace before = std::exchange(place, PlaceOf(node, i));
    if (place.address == before.address) continue;
    has_moved = true;
    for (auto& [from, to] : moves_) {
      if (to == before.address) to = place.address;
    }
    moves_[before.address] = place.address;
    moves_.erase(place.address);
  }
  if (has_moved) {
    for (Node& other : nodes_) {
      if (other.is_prepared) Send(other, TellMoves{moves_});
    }
  } else if (!moves_.empty()) {
    Send(node, TellMoves{moves_});  // to an agent that was started again
  }
  node.awaiting.clear();
  for (size_t task : node.tasks) {
    if (node.is_prepared) listener_->OnPlacedAgain(task, places_[task]);
  }
}

}  // namespace tensorbraid
