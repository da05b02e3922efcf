#include "launch/agent/agent_engine.h"

#include <string.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include "absl/strings/str_replace.h"
#include "core/system/clock.h"
#include "core/text/host_port.h"
#include "core/text/strings.h"
#include "launch/agent/agent_engine_node.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {
namespace {

// Certificates of a job are valid from an hour before the launcher's time on.
constexpr int64_t kMaxClockDifferenceMs = 3600 * 1000;
constexpr int64_t kNotableClockDifferenceMs = 60 * 1000;

// How long the engine waits for the agents to end.
constexpr std::chrono::seconds kEndWait{5};

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(WallClock::now().time_since_epoch()).count();
}

}  // namespace

Status AddJobCredentials(AgentEngineOptions* options) {
  TF_ASSIGN_OR_RETURN(JobCredentials made, JobCredentials::Make());
  options->credentials = std::make_shared<const JobCredentials>(std::move(made));
  return OkStatus();
}

AgentEngine::AgentEngine(AgentEngineOptions options)
    : options_(std::move(options)), state_([](std::string_view) {}), spares_(options_.spares) {}

AgentEngine::~AgentEngine() {
  // An agent whose input ends stops its tasks. It is waited for, so that nothing is left when this returns; a
  // channel that does not end by itself is cut.
  if (shared_.has_value()) {
    if (placed_) {
      shared_->CloseInput();
      shared_->AwaitEnd(std::chrono::steady_clock::now() + kEndWait);
    }
    // It may still wait for its turn in a queue, or for a node that does not answer.
    shared_->Signal(SIGTERM);
    shared_->AwaitEnd(std::chrono::steady_clock::now() + kEndWait);
  }
  for (Node& node : nodes_) {
    if (node.channel != nullptr) node.channel->CloseInput();
  }
  const auto deadline = std::chrono::steady_clock::now() + kEndWait;
  for (Node& node : nodes_) {
    if (node.channel != nullptr) node.channel->AwaitEnd(deadline);
  }
}

StatusOr<std::vector<size_t>> AgentEngine::Assign(const std::vector<AgentNode>& nodes, size_t tasks) const {
  auto assigned = AssignNodes(nodes, tasks);
  if (assigned.ok() || !options_.shared.has_value()) return assigned;
  return Status(assigned.status().code(),
                StrCat(std::string(assigned.status().message()), ": ", options_.shared->room_hint));
}

StatusOr<std::string> AgentEngine::Describe(const std::vector<std::string>& tasks) const {
  std::vector<AgentNode> nodes = options_.nodes;
  if (options_.shared.has_value()) {
    for (int i = 0; i < options_.shared->agents - options_.shared->spares; ++i) {
      nodes.push_back({StrCat("node ", i + 1, " of ", options_.shared->agents), "any", options_.shared->SlotsOf(i)});
    }
  }
  TF_ASSIGN_OR_RETURN(const std::vector<size_t> assigned, Assign(nodes, tasks.size()));
  std::string text = DescribeNodes(nodes, assigned, tasks, options_.directory, options_.command);
  for (const AgentNode& spare : options_.spares) text += StrCat(spare.name, " (", spare.host, "): a spare\n");
  if (options_.shared.has_value() && options_.shared->spares > 0) {
    text += StrCat("the other ", options_.shared->spares, options_.shared->spares == 1 ? ": a spare\n" : ": spares\n");
  }
  if (!options_.shared.has_value()) return text;
  return StrCat(text, options_.shared->engine, " chooses them, through\n    ", ShellWords(options_.shared->command),
                "\n");
}

void AgentEngine::Place(const std::vector<std::string>& tasks, EngineListener* listener) {
  listener_ = listener;
  names_ = tasks;
  is_running_.resize(tasks.size());
  has_output_.resize(tasks.size());
  has_started_.resize(tasks.size());
  if (options_.shared.has_value()) return OpenShared();
  const auto assigned = Assign(options_.nodes, tasks.size());
  if (!assigned.ok()) return listener_->OnFailure(assigned.status());
  if (const Status status = StartAliveTimer(); !status.ok()) return listener_->OnFailure(status);
  std::vector<Node*> by_index(options_.nodes.size());
  for (size_t task = 0; task < tasks.size(); ++task) {
    Node*& node = by_index[(*assigned)[task]];
    if (node == nullptr) {
      node = &nodes_.emplace_back();
      node->what = options_.nodes[(*assigned)[task]];
    }
    node->tasks.push_back(task);
    node_of_task_.push_back(node);
  }
  std::vector<std::string> names;
  for (const Node& node : nodes_) names.push_back(node.what.name);
  listener_->OnMessage(StrCat("connecting to ", StrJoin(names, ", ")));
  for (Node& node : nodes_) Connect(node);
}

void AgentEngine::Connect(Node& node) {
  if (node.channel == nullptr) {
    node.channel = std::make_unique<AgentChannel>(
        [this, &node](std::string_view line) { listener_->OnMessage(StrCat(node.what.name, ": ", line)); });
  }
  const Status status = node.channel->Open(options_.command(node.what), options_.death_signal);
  if (!status.ok()) return Disconnect(node, std::string(status.message()), status.code());
  node.is_prepared = false;
  node.silent = 0;
  Prepare(node);
}

void AgentEngine::Prepare(Node& node) {
  PrepareNode prepare{.version = options_.version,
                      .directory = options_.directory,
                      .tasks = {},
                      .numbers = node.tasks,
                      .ports = node.ports,
                      .makes_key = options_.credentials != nullptr,
                      .checked_files = options_.checked_files};
  prepare.alive_ms = static_cast<int>(alive().count());
  prepare.silence_ms = static_cast<int>(options_.silence.count());
  prepare.stop_grace_ms = static_cast<int>(options_.stop_grace.count());
  if (options_.shared.has_value()) prepare.tasks_get_signals = !options_.shared->signals_agents_only;
  prepare.tasks_move = tasks_move();
  for (size_t task : node.tasks) prepare.tasks.push_back(names_[task]);
  Send(node, prepare);
}

void AgentEngine::Disconnect(Node& node, const std::string& why, absl::StatusCode code) {
  if (node.channel != nullptr) node.channel->Close();
  node.is_prepared = false;
  const bool was_asked_for = node.is_gone && node.is_coming;
  node.is_gone = options_.shared.has_value();
  const std::string message = StrCat(node.what.name, ": ", why);
  if (!placed_) return listener_->OnFailure(Status(code, message));
  for (size_t task : node.tasks) {
    if (has_output_[task]) {
      has_output_[task] = false;
      listener_->OnOutputEnd(task);
    }
    if (!is_running_[task]) continue;
    is_running_[task] = false;
    listener_->OnEnd(task, {.process = {}, .lost = message, .lost_for_good = !CanReplace(node), .report = ""});
  }
  if (node.awaiting.empty()) {
    node.is_coming = false;
  } else if (was_asked_for || !Replace(node)) {
    FinishAwaiting(node, why);
  }
}

void AgentEngine::Start(size_t task, const ProgramCall& call, bool knows_flags) {
  Node& node = *node_of_task_[task];
  is_running_[task] = has_output_[task] = true;
  has_started_[task] = false;
  Send(node, StartTask{task, call, knows_flags});
}

void AgentEngine::Signal(size_t task, int signal) {
  if (is_running_[task]) Send(*node_of_task_[task], SignalTask{task, signal});
}

void AgentEngine::CloseOutput(size_t task) {
  if (has_output_[task]) Send(*node_of_task_[task], CloseTaskOutput{task});
}

AgentChannel& AgentEngine::ChannelOf(Node& node) { return node.channel != nullptr ? *node.channel : *shared_; }

void AgentEngine::Send(Node& node, const AgentRequest& request) {
  const std::string line = ToLine(node.what.name, request);
  if (!options_.shared.has_value() || options_.shared->seal == nullptr) return ChannelOf(node).Send(line);
  const auto sealed = options_.shared->seal->Close(AgentSide::kLauncher, line);
  if (!sealed.ok()) return listener_->OnFailure(Annotate(sealed.status(), options_.shared->engine));
  ChannelOf(node).Send(*sealed);
}

void AgentEngine::AddEvents(std::vector<pollfd>* events) {
  if (shared_.has_value()) {
    shared_->AddEvents(events);
    state_.AddEvents(events);
  }
  if (alive_timer_.is_open()) events->push_back({alive_timer_.get(), POLLIN, 0});
  for (Node& node : nodes_) {
    if (node.channel != nullptr) node.channel->AddEvents(events);
  }
}

void AgentEngine::Handle() {
  if (shared_.has_value()) {
    const auto how = shared_->Handle([this](std::string_view line) { OnSharedLine(line); });
    if (how.has_value()) OnSharedEnd(*how);
    OnState();
  }
  for (Node& node : nodes_) {
    if (node.channel == nullptr) continue;
    const auto how = node.channel->Handle([this, &node](std::string_view line) { OnLine(node, line); });
    if (!how.has_value()) continue;
    const std::string hint =
        placed_ || options_.hint.empty() ? "" : absl::StrReplaceAll(options_.hint, {{"NODE", node.what.name}});
    Disconnect(node, StrCat("the connection has ended (", *how, ")", hint.empty() ? "" : "; ", hint));
  }
  OnAliveTimer();  // after all that the agents have said
}

void AgentEngine::OnLine(Node& node, std::string_view line) {
  node.silent = 0;
  auto event = ParseAgentEvent(line);
  if (event.ok() && event->node == node.what.name) return OnMessage(node, event->message);
  // Shells print things when they start, such as the message of the day.
  listener_->OnMessage(StrCat(node.what.name, ": ", line));
}

void AgentEngine::OnMessage(Node& node, const AgentEvent& event) {
  const bool is_known = std::visit(
      [&node](const auto& m) {
        if constexpr (requires { m.task; }) return std::count(node.tasks.begin(), node.tasks.end(), m.task) == 1;
        return true;
      },
      event);
  if (!is_known) return Disconnect(node, "the agent reports a task of another node", absl::StatusCode::kInternal);
  if (const auto* stopping = std::get_if<NodeStopping>(&event)) {
    const std::string engine = options_.shared.has_value() ? options_.shared->engine : node.what.name;
    listener_->OnStopRequest(StrCat("SIG", ::sigabbrev_np(stopping->signal), " of ", engine));
  } else if (const auto* prepared = std::get_if<NodePrepared>(&event)) {
    OnPrepared(node, *prepared);
  } else if (const auto* refused = std::get_if<NodeRefused>(&event)) {
    Disconnect(node, std::string(refused->why.message()), refused->why.code());
  } else if (const auto* started = std::get_if<TaskStarted>(&event)) {
    has_started_[started->task] = true;
    listener_->OnStarted(started->task, started->pid);
  } else if (const auto* failed = std::get_if<TaskStartFailed>(&event)) {
    is_running_[failed->task] = has_output_[failed->task] = false;
    listener_->OnStartFailed(failed->task, Annotate(failed->why, node.what.name));
  } else if (const auto* line = std::get_if<TaskLine>(&event)) {
    listener_->OnLine(line->task, line->stream, line->line);
  } else if (const auto* left_out = std::get_if<LinesLeftOut>(&event)) {
    listener_->OnMessage(StrCat(node.what.name, ": ", left_out->count,
                                " lines of its tasks were left out here, because ",
                                "the connection did not take them in time"));
  } else if (const auto* ended = std::get_if<TaskEnded>(&event)) {
    is_running_[ended->task] = false;
    listener_->OnEnd(ended->task, {.process = ended->end, .lost = "", .report = ended->report});
  } else if (const auto* output_ended = std::get_if<TaskOutputEnded>(&event)) {
    if (is_running_[output_ended->task] && !has_started_[output_ended->task]) return;  // of an earlier run
    has_output_[output_ended->task] = false;
    listener_->OnOutputEnd(output_ended->task);
  }
}

void AgentEngine::OnPrepared(Node& node, const NodePrepared& prepared) {
  if (prepared.ports.size() != node.tasks.size()) {
    return Disconnect(node, "the agent holds ports for another number of tasks", absl::StatusCode::kInternal);
  }
  node.is_prepared = true;
  node.ports = prepared.ports;
  node.checksums = prepared.checksums;
  const int64_t ahead_ms = prepared.time_ms - NowMs();
  if (std::abs(ahead_ms) > kNotableClockDifferenceMs) {
    const std::string difference = StrCat("its clock is ", std::abs(ahead_ms) / 1000, " s ",
                                          ahead_ms > 0 ? "ahead of" : "behind", " this machine's");
    if (std::abs(ahead_ms) > kMaxClockDifferenceMs) {
      return Disconnect(node, difference + ", so the certificates of this job are not valid there; set it (NTP)",
                        absl::StatusCode::kFailedPrecondition);
    }
    listener_->OnMessage(StrCat(node.what.name, ": ", difference));
  }
  if (options_.credentials != nullptr) {
    const auto certificate = options_.credentials->CertificateFor(node.what.host, prepared.certificate_request);
    if (!certificate.ok()) {
      return Disconnect(node, std::string(certificate.status().message()), certificate.status().code());
    }
    Send(node, NodeCertificate{*certificate, options_.credentials->authority()});
  }
  if (placed_) return OnPreparedAgain(node);
  if (!std::all_of(nodes_.begin(), nodes_.end(), [this](const Node& n) { return IsReady(n); })) return;
  if (const Status status = CheckNodes(); !status.ok()) return listener_->OnFailure(status);
  placed_ = true;
  places_.resize(names_.size());
  for (const Node& n : nodes_) {
    for (size_t i = 0; i < n.tasks.size(); ++i) places_[n.tasks[i]] = PlaceOf(n, i);
  }
  listener_->OnPlaced(places_);
}

TaskPlace AgentEngine::PlaceOf(const Node& node, size_t nth) const {
  return {.node = node.what.name, .address = HostPort{node.what.host, node.ports[nth]}.ToString()};
}

bool AgentEngine::IsReady(const Node& node) const { return node.is_prepared || node.tasks.empty(); }

Status AgentEngine::CheckNodes() const {
  for (const std::string& path : options_.checked_files) {
    const Node* first = nullptr;
    for (const Node& node : nodes_) {
      const auto checksum = node.checksums.find(path);
      if (checksum == node.checksums.end()) continue;
      if (first == nullptr) first = &node;
      if (checksum->second != first->checksums.at(path)) {
        return absl::FailedPreconditionError(StrCat("'", path, "' on ", node.what.name, " differs from that on ",
                                                    first->what.name,
                                                    ": bring the same to both, for example by --sync"));
      }
    }
  }
  return OkStatus();
}

}  // namespace tensorbraid
