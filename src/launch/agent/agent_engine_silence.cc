// How an AgentEngine notices that an agent has become silent, and sends the messages by which agents notice the same of
// the launcher.
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include "core/text/strings.h"
#include "launch/agent/agent_engine.h"
#include "launch/agent/agent_engine_node.h"
#include "launch/agent/agent_messages.h"

namespace tensorbraid {
namespace {

// An agent may be silent for so many periods.
constexpr int kMostSilent = 6;

}  // namespace

std::chrono::milliseconds AgentEngine::alive() const {
  const std::chrono::milliseconds usual = options_.shared.has_value() ? options_.shared->alive : options_.alive;
  if (usual.count() == 0 || options_.silence.count() == 0) return usual;
  return std::clamp(options_.silence / kMostSilent, std::chrono::milliseconds(1), usual);
}

Status AgentEngine::StartAliveTimer() {
  const auto nanoseconds = std::chrono::nanoseconds(alive()).count();
  if (nanoseconds == 0) return OkStatus();
  alive_timer_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const timespec every = {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  const itimerspec times = {every, every};
  if (!alive_timer_.is_open() || ::timerfd_settime(alive_timer_.get(), 0, &times, nullptr) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a timer");
  }
  return OkStatus();
}

bool AgentEngine::IsSilent(const Node& node) const {
  const bool should_speak = node.is_prepared || (node.is_coming && !node.is_gone);
  return should_speak && node.silent > kMostSilent;
}

void AgentEngine::OnAliveTimer() {
  if (!alive_timer_.is_open()) return;
  // After the launcher was stopped for a while, this is called once, after the messages that have arrived meanwhile.
  uint64_t expirations = 0;
  if (::read(alive_timer_.get(), &expirations, sizeof expirations) != sizeof expirations) return;
  TellThatItIsThere();
  for (Node& node : nodes_) ++node.silent;
  if (std::none_of(nodes_.begin(), nodes_.end(), [this](const Node& node) { return IsSilent(node); })) return;
  const bool can_ask = options_.shared.has_value() && options_.shared->state_command != nullptr && !job_.empty();
  if (!can_ask) return LoseSilentNodes();
  if (!state_.is_open()) AskForState();
}

void AgentEngine::TellThatItIsThere() {
  for (Node& node : nodes_) {
    if (node.is_gone) continue;
    // A message that still waits to be sent has the same effect, and further ones would pile up while the other end is
    // suspended.
    if (AgentChannel& channel = ChannelOf(node); channel.is_open() && !channel.has_unsent()) {
      channel.Send(ToLine(node.what.name, LauncherAlive{}));
    }
  }
}

void AgentEngine::AskForState() {
  state_text_.clear();
  if (!state_.Open(options_.shared->state_command(job_)).ok()) LoseSilentNodes();
}

void AgentEngine::OnState() {
  const auto how = state_.Handle([this](std::string_view line) { state_text_ += line; });
  if (!how.has_value()) return;
  if (state_text_ != options_.shared->suspended_state) return LoseSilentNodes();
  for (Node& node : nodes_) node.silent = 0;  // the state is asked for again when they have been silent as long again
  if (std::exchange(is_suspended_, true)) return;
  listener_->OnMessage(StrCat(options_.shared->engine, " has suspended the job; '", options_.shared->resume_command,
                              " ", job_, "' lets it go on"));
}

void AgentEngine::LoseSilentNodes() {
  for (Node& node : nodes_) {
    if (!IsSilent(node)) continue;
    // The machine may only be cut off. Then the signal ends its tasks when it is reachable again.
    for (size_t task : node.tasks) Send(node, SignalTask{task, SIGKILL});
    const auto silence = alive() * kMostSilent;
    Disconnect(node, StrCat("its agent has said nothing for ", silence.count() / 1000.0, " s"));
  }
}

}  // namespace tensorbraid
