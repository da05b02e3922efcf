#include "cli/launch/agent_engine.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>

#include "absl/strings/str_replace.h"
#include "cli/launch/run_command.h"
#include "core/system/clock.h"
#include "core/text/host_port.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// Certificates of a job are valid from an hour before the launcher's time on.
constexpr int64_t kMaxClockDifferenceMs = 3600 * 1000;
constexpr int64_t kNotableClockDifferenceMs = 60 * 1000;

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(WallClock::now().time_since_epoch()).count();
}

}  // namespace

struct AgentEngine::Node {
  AgentNode what;
  std::vector<size_t> tasks = {};  // their numbers
  std::vector<int> ports = {};     // of the tasks, once they are known
  std::map<std::string, std::string> checksums = {};
  // The connection. No process: the node is not connected.
  std::optional<ChildProcess> process = {};
  bool is_prepared = false;
  std::string unsent = "";    // requests
  std::string unparsed = "";  // the beginning of an event
  std::string last_error = "";
  std::unique_ptr<LineSplitter> error_lines = nullptr;
  std::vector<StartTask> waiting = {};  // tasks to start once the node is prepared
};

StatusOr<std::vector<size_t>> AssignNodes(const std::vector<AgentNode>& nodes, size_t tasks) {
  std::vector<int> used(nodes.size());
  std::vector<size_t> assigned;
  for (size_t task = 0; task < tasks; ++task) {
    std::optional<size_t> best;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const bool is_free = nodes[i].slots == 0 || used[i] < nodes[i].slots;
      if (is_free && (!best.has_value() || used[i] < used[*best])) best = i;
    }
    if (!best.has_value()) {
      return InvalidArgument("the job has ", tasks, " tasks, and the machines have slots for ", task,
                             ": ask for fewer tasks, more machines, or more slots");
    }
    ++used[*best];
    assigned.push_back(*best);
  }
  return assigned;
}

AgentEngine::AgentEngine(AgentEngineOptions options) : options_(std::move(options)) {}

AgentEngine::~AgentEngine() {
  // An agent whose input ends stops its tasks. It is waited for, so that nothing is left when this returns; a
  // connection that does not end by itself is cut.
  for (Node& node : nodes_) {
    if (node.process.has_value()) node.process->in().Close();
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (Node& node : nodes_) {
    if (!node.process.has_value()) continue;
    for (;;) {
      // Output that nobody reads could keep the agent from ending.
      std::array<pollfd, 3> events = {{{node.process->end_event().get(), POLLIN, 0},
                                       {node.process->out().get(), POLLIN, 0},
                                       {node.process->err().get(), POLLIN, 0}}};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0 || ::poll(events.data(), events.size(), static_cast<int>(left.count())) == 0) break;
      std::array<char, 4096> ignored;
      for (Fd* fd : {&node.process->out(), &node.process->err()}) {
        if (!fd->is_open()) continue;
        const ssize_t got = ::read(fd->get(), ignored.data(), ignored.size());
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) fd->Close();
      }
      if (events[0].revents != 0) break;
    }
  }
}

StatusOr<std::string> AgentEngine::Describe(const std::vector<std::string>& tasks) const {
  TF_ASSIGN_OR_RETURN(const std::vector<size_t> assigned, AssignNodes(options_.nodes, tasks.size()));
  std::string text;
  for (size_t i = 0; i < options_.nodes.size(); ++i) {
    const AgentNode& node = options_.nodes[i];
    std::vector<std::string> here;
    for (size_t task = 0; task < tasks.size(); ++task) {
      if (assigned[task] == i) here.push_back(tasks[task]);
    }
    if (here.empty()) {
      text += StrCat(node.name, ": no tasks\n");
      continue;
    }
    std::vector<std::string> words;
    for (const std::string& word : options_.command(node)) words.push_back(ShellWord(word));
    text += StrCat(node.name, " (", node.host, "): ", StrJoin(here, ", "), ", each with a free port, in ",
                   options_.directory.empty() ? "the login's directory" : options_.directory, ", through\n    ",
                   StrJoin(words, " "), "\n");
  }
  return text;
}

void AgentEngine::Place(const std::vector<std::string>& tasks, EngineListener* listener) {
  listener_ = listener;
  names_ = tasks;
  is_running_.resize(tasks.size());
  has_output_.resize(tasks.size());
  has_started_.resize(tasks.size());
  const auto assigned = AssignNodes(options_.nodes, tasks.size());
  if (!assigned.ok()) return listener_->OnFailure(assigned.status());
  std::vector<Node*> by_index(options_.nodes.size());
  for (size_t task = 0; task < tasks.size(); ++task) {
    Node*& node = by_index[(*assigned)[task]];
    if (node == nullptr) node = &nodes_.emplace_back(Node{options_.nodes[(*assigned)[task]]});
    node->tasks.push_back(task);
    node_of_task_.push_back(node);
  }
  std::vector<std::string> names;
  for (const Node& node : nodes_) names.push_back(node.what.name);
  listener_->OnMessage(StrCat("connecting to ", StrJoin(names, ", ")));
  for (Node& node : nodes_) Connect(node);
}

void AgentEngine::Connect(Node& node) {
  auto process =
      ChildProcess::Start(options_.command(node.what), {}, ChildProcess::Stdout::kPipe, ChildProcess::Stdin::kPipe);
  if (!process.ok()) return Disconnect(node, std::string(process.status().message()), process.status().code());
  node.process = *std::move(process);
  node.is_prepared = false;
  node.unsent.clear();
  node.unparsed.clear();
  node.last_error.clear();
  node.error_lines = std::make_unique<LineSplitter>([this, &node](std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);  // ssh writes for a terminal
    node.last_error = line;
    listener_->OnMessage(StrCat(node.what.name, ": ", line));
  });
  PrepareNode prepare{.version = options_.version,
                      .directory = options_.directory,
                      .tasks = {},
                      .numbers = node.tasks,
                      .ports = node.ports,
                      .files = {},
                      .checked_files = options_.checked_files};
  for (size_t task : node.tasks) prepare.tasks.push_back(names_[task]);
  if (options_.files != nullptr) {
    auto files = options_.files(node.what);
    if (!files.ok()) return listener_->OnFailure(files.status());
    prepare.files = *std::move(files);
  }
  Send(node, prepare);
}

void AgentEngine::Disconnect(Node& node, const std::string& why, absl::StatusCode code) {
  node.process.reset();
  node.is_prepared = false;
  const std::string message = StrCat(node.what.name, ": ", why);
  if (!placed_) return listener_->OnFailure(Status(code, message));
  for (size_t task : node.tasks) {
    const bool was_waiting =
        std::any_of(node.waiting.begin(), node.waiting.end(), [task](const auto& w) { return w.task == task; });
    if (has_output_[task]) {
      has_output_[task] = false;
      listener_->OnOutputEnd(task);
    }
    if (!is_running_[task]) continue;
    is_running_[task] = false;
    if (was_waiting) {
      listener_->OnStartFailed(task, Status(code, message));
    } else {
      listener_->OnEnd(task, {.process = {}, .lost = message});
    }
  }
  node.waiting.clear();
}

void AgentEngine::Start(size_t task, const ProgramCall& call, bool knows_flags) {
  Node& node = *node_of_task_[task];
  is_running_[task] = has_output_[task] = true;
  has_started_[task] = false;
  if (node.process.has_value() && node.is_prepared) return Send(node, StartTask{task, call, knows_flags});
  node.waiting.push_back({task, call, knows_flags});
  if (!node.process.has_value()) Connect(node);
}

void AgentEngine::Signal(size_t task, int signal) {
  Node& node = *node_of_task_[task];
  if (!is_running_[task]) return;
  if (node.is_prepared) return Send(node, SignalTask{task, signal});
  // It is to be started once the node is there again.
  std::erase_if(node.waiting, [task](const auto& waiting) { return waiting.task == task; });
  is_running_[task] = has_output_[task] = false;
  listener_->OnOutputEnd(task);
  listener_->OnEnd(task, {.process = {}, .lost = StrCat("not started again on ", node.what.name)});
}

void AgentEngine::CloseOutput(size_t task) {
  if (has_output_[task]) Send(*node_of_task_[task], CloseTaskOutput{task});
}

void AgentEngine::Send(Node& node, const AgentRequest& request) {
  if (!node.process.has_value()) return;
  node.unsent += ToLine(node.what.name, request);
  Write(node);
}

void AgentEngine::Write(Node& node) {
  while (!node.unsent.empty()) {
    const ssize_t written = ::write(node.process->in().get(), node.unsent.data(), node.unsent.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // later; or the connection has ended, which Handle sees
    node.unsent.erase(0, static_cast<size_t>(written));
  }
}

void AgentEngine::AddEvents(std::vector<pollfd>* events) {
  for (Node& node : nodes_) {
    if (!node.process.has_value()) continue;
    events->push_back({node.process->end_event().get(), POLLIN, 0});
    events->push_back({node.process->out().get(), POLLIN, 0});
    events->push_back({node.process->err().get(), POLLIN, 0});
    if (!node.unsent.empty()) events->push_back({node.process->in().get(), POLLOUT, 0});
  }
}

void AgentEngine::Handle() {
  for (Node& node : nodes_) {
    if (!node.process.has_value()) continue;
    pollfd end = {node.process->end_event().get(), POLLIN, 0};
    const bool has_ended = ::poll(&end, 1, 0) == 1;  // asked first, so that all of its output is read below
    Write(node);
    Read(node);
    if (!has_ended || !node.process.has_value()) continue;
    Read(node);
    if (!node.process.has_value()) continue;
    const std::string how = node.process->Reap().ToString();
    const std::string program = options_.command(node.what)[0];
    const std::string hint =
        placed_ || options_.hint.empty() ? "" : absl::StrReplaceAll(options_.hint, {{"NODE", node.what.name}});
    Disconnect(node,
               StrCat("the connection has ended (", program, " ", how,
                      node.last_error.empty() ? "" : ": " + node.last_error, ")", hint.empty() ? "" : "; ", hint));
  }
}

void AgentEngine::Read(Node& node) {
  std::array<char, 65536> bytes;
  for (int i = 0; i < 16 && node.process->err().is_open(); ++i) {
    const ssize_t got = ::read(node.process->err().get(), bytes.data(), bytes.size());
    if (got > 0) {
      node.error_lines->Add({bytes.data(), static_cast<size_t>(got)});
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      node.process->err().Close();
      node.error_lines->Finish();
    } else {
      break;
    }
  }
  // Bounded, so that tasks that write endlessly do not keep the launcher from handling signals.
  for (int i = 0; i < 16 && node.process->out().is_open(); ++i) {
    const ssize_t got = ::read(node.process->out().get(), bytes.data(), bytes.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (got <= 0) {
      node.process->out().Close();
      break;
    }
    node.unparsed.append(bytes.data(), static_cast<size_t>(got));
  }
  size_t begin = 0;
  const std::string lines = std::move(node.unparsed);
  node.unparsed.clear();
  for (size_t end; (end = lines.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string_view line = std::string_view(lines).substr(begin, end - begin);
    auto event = ParseAgentEvent(line);
    if (event.ok() && event->node == node.what.name) {
      OnMessage(node, event->message);
      if (!node.process.has_value()) return;  // the node was refused
    } else {
      // Shells print things when they start, such as the message of the day.
      listener_->OnMessage(StrCat(node.what.name, ": ", line));
    }
  }
  node.unparsed = lines.substr(begin);
}

void AgentEngine::OnMessage(Node& node, const AgentEvent& event) {
  const bool is_known = std::visit(
      [&node](const auto& m) {
        if constexpr (requires { m.task; }) return std::count(node.tasks.begin(), node.tasks.end(), m.task) == 1;
        return true;
      },
      event);
  if (!is_known) return Disconnect(node, "the agent reports a task of another node", absl::StatusCode::kInternal);
  if (const auto* prepared = std::get_if<NodePrepared>(&event)) {
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
  } else if (const auto* ended = std::get_if<TaskEnded>(&event)) {
    is_running_[ended->task] = false;
    listener_->OnEnd(ended->task, {ended->end});
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
  if (placed_) {
    for (const StartTask& start : node.waiting) Send(node, start);
    node.waiting.clear();
    return;
  }
  if (!std::all_of(nodes_.begin(), nodes_.end(), [](const Node& n) { return n.is_prepared; })) return;
  if (const Status status = CheckNodes(); !status.ok()) return listener_->OnFailure(status);
  placed_ = true;
  std::vector<TaskPlace> places(names_.size());
  for (const Node& n : nodes_) {
    for (size_t i = 0; i < n.tasks.size(); ++i) {
      places[n.tasks[i]] = {.node = n.what.name, .address = HostPort{n.what.host, n.ports[i]}.ToString()};
    }
  }
  listener_->OnPlaced(std::move(places));
}

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
