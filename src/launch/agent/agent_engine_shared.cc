// The agents of an AgentEngine that share one channel.
#include <algorithm>
#include <utility>

#include "core/text/strings.h"
#include "launch/agent/agent_engine.h"
#include "launch/agent/agent_engine_node.h"

namespace tensorbraid {

int SharedChannel::SlotsOf(int node) const {
  if (slots.empty()) return 0;
  return slots[std::min(static_cast<size_t>(node), slots.size() - 1)];
}

void AgentEngine::OpenShared() {
  const SharedChannel& shared = *options_.shared;
  // Known before the engine is asked for machines, if all have the same number of slots.
  std::vector<AgentNode> nodes;
  for (int i = 0; i < shared.agents - shared.spares; ++i) nodes.push_back({"", "", shared.SlotsOf(i)});
  if (const auto assigned = Assign(nodes, names_.size()); !assigned.ok())
    return listener_->OnFailure(assigned.status());
  if (const Status status = StartAliveTimer(); !status.ok()) return listener_->OnFailure(status);
  const std::string own_prefix = (shared.speaker.empty() ? shared.command[0] : shared.speaker) + ": ";
  shared_.emplace([this, own_prefix](std::string_view line) {
    listener_->OnMessage(line.starts_with(own_prefix) ? std::string(line) : StrCat(own_prefix, line));
  });
  const std::string nodes_asked_for = StrCat(shared.agents, shared.agents == 1 ? " node" : " nodes");
  listener_->OnMessage(
      StrCat("asking ", shared.engine, " for ", shared.request.empty() ? nodes_asked_for : shared.request));
  if (const Status status = shared_->Open(shared.command, options_.death_signal); !status.ok())
    listener_->OnFailure(status);
}

void AgentEngine::OnHello(const std::string& name, const NodeHello& hello) {
  const SharedChannel& shared = *options_.shared;
  if (!hello.job.empty()) job_ = hello.job;
  if (placed_) {
    const auto lost = std::find_if(nodes_.begin(), nodes_.end(), [&hello](const Node& node) {
      return node.rank == hello.rank && node.is_gone && node.is_coming;
    });
    if (lost == nodes_.end()) return;
    listener_->OnMessage(StrCat(name, " takes the place of ", lost->what.name));
    lost->what.name = name;
    lost->what.host = hello.host;
    lost->is_gone = false;
    lost->silent = 0;
    lost->ports.clear();
    lost->checksums.clear();
    return Prepare(*lost);
  }
  if (static_cast<int>(nodes_.size()) == shared.agents) return;
  Node& added = nodes_.emplace_back();
  added.what = {.name = name, .host = hello.host};
  added.rank = hello.rank;
  if (static_cast<int>(nodes_.size()) < shared.agents) return;
  std::sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) { return a.rank < b.rank; });
  std::vector<AgentNode> nodes;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].what.slots = shared.SlotsOf(static_cast<int>(i));
    if (i + static_cast<size_t>(shared.spares) < nodes_.size()) nodes.push_back(nodes_[i].what);
  }
  const auto assigned = Assign(nodes, names_.size());
  if (!assigned.ok()) return listener_->OnFailure(assigned.status());
  for (size_t task = 0; task < names_.size(); ++task) {
    Node& node = nodes_[(*assigned)[task]];
    node.tasks.push_back(task);
    node_of_task_.push_back(&node);
  }
  for (Node& node : nodes_) {
    if (!node.tasks.empty()) Prepare(node);
  }
}

void AgentEngine::OnSharedLine(std::string_view line) {
  const auto message = pieces_.Add(line);
  if (!message.has_value()) return listener_->OnMessage(StrCat(options_.shared->engine, ": ", line));
  if (message->empty()) return;
  const SealedLine sealed = SplitLine(*message);
  auto event = ParseAgentEvent(sealed.message);
  if (!event.ok()) return listener_->OnMessage(std::string(event.status().message()));
  if (const auto* hello = std::get_if<NodeHello>(&event->message)) return OnHello(event->node, *hello);
  const auto* const refused = std::get_if<NodeRefused>(&event->message);
  if (refused != nullptr && event->node.empty()) {
    return listener_->OnFailure(Annotate(refused->why, options_.shared->engine));
  }
  const auto node =
      std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& n) { return n.what.name == event->node; });
  if (node == nodes_.end()) return;
  if (node->is_gone) {
    if (refused != nullptr && node->is_coming) Disconnect(*node, std::string(refused->why.message()));
    return;
  }
  node->silent = 0;
  if (std::holds_alternative<NodePrepared>(event->message) && options_.shared->seal != nullptr) {
    const Status status = options_.shared->seal->Check(AgentSide::kAgent, sealed);
    if (!status.ok()) return Disconnect(*node, std::string(status.message()), status.code());
  }
  if (std::exchange(is_suspended_, false))
    listener_->OnMessage(StrCat(options_.shared->engine, " has resumed the job"));
  OnMessage(*node, event->message);
}

void AgentEngine::OnSharedEnd(const std::string& how) {
  std::string why = StrCat("the connection has ended (", how, ")");
  if (!placed_) {
    for (const auto& [text, hint] : options_.shared->error_hints) {
      if (how.find(text) != std::string::npos) why += "; " + hint;
    }
    return listener_->OnFailure(absl::UnavailableError(StrCat(options_.shared->engine, ": ", why)));
  }
  for (Node& node : nodes_) {
    if (!node.is_gone || node.is_coming) Disconnect(node, why);
  }
}

}  // namespace tensorbraid
