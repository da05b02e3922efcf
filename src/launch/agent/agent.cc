#include "launch/agent/agent.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "cluster/discovery/moves_file.h"
#include "cluster/discovery/surroundings.h"
#include "cluster/registry/digest.h"
#include "cluster/registry/seal.h"
#include "core/system/clock.h"
#include "core/system/env.h"
#include "core/text/host_port.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "launch/agent/agent_messages.h"
#include "launch/agent/agent_seal.h"
#include "launch/agent/launcher_watch.h"
#include "launch/agent/message_pieces.h"
#include "launch/credentials/certificates.h"
#include "launch/credentials/job_folder.h"
#include "launch/engines/local/local_engine.h"
#include "launch/processes/blocked_signals.h"
#include "launch/processes/output_queue.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kAgentKillAfter{1500};
// How long a SIGTERM of the launcher waits for one of the engine. Programs end at once when they get a second one.
constexpr std::chrono::milliseconds kSignalDelay{1000};

// How long the agent waits at its end for a launcher that does not read its messages.
constexpr std::chrono::milliseconds kLauncherPatience{1000};

std::optional<Clock::time_point> Earlier(std::optional<Clock::time_point> a, std::optional<Clock::time_point> b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() ? a : b;
  return std::min(*a, *b);
}

class Agent final : public EngineListener {
 public:
  explicit Agent(const AgentOptions& options)
      : options_(options),
        output_(options.out_fd, [this](size_t count) { return AsPieces(ToLine(options_.node, LinesLeftOut{count})); }) {
  }

  Status Run() {
    TF_RETURN_IF_ERROR(signals_.status());
    if (!options_.munge.empty()) {
      if (auto made = NewMungeSeal(); made.ok()) {
        seal_.emplace(*std::move(made), options_.munge);
      } else {
        seal_error_ = made.status();
      }
    }
    if (is_one_of_many()) {
      const Surroundings around = Surroundings::OfProcess();
      const auto job = around.variables.find("SLURM_JOB_ID");
      Send(NodeHello{options_.rank, ReachableHost(around, options_.node),
                     job == around.variables.end() ? "" : job->second});
    }
    while (!stopping_ || AnyRunning()) Step();
    engine_.reset();
    FinishOutput();
    return OkStatus();
  }

 private:
  void Step() {
    std::vector<pollfd> events = {{signals_.fd().get(), POLLIN, 0}, {stopping_ ? -1 : options_.in_fd, POLLIN, 0}};
    if (engine_ != nullptr) engine_->AddEvents(&events);
    int timeout_ms = -1;
    if (const auto wake = Earlier(Earlier(kill_at_, watch_.wake()), tell_at_); wake.has_value()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*wake - Clock::now());
      timeout_ms = static_cast<int>(std::max<int64_t>(left.count(), 0));
    }
    if (::poll(events.data(), events.size(), timeout_ms) < 0) return;  // EINTR
    signals_.Read([this](int signal) {
      // Ctrl-C reaches all processes of a terminal. The launcher decides what it means.
      if (signal == SIGINT) return;
      if (!is_one_of_many()) return Stop(kAgentKillAfter);
      if (tasks_get_signals_) told_.assign(numbers_.size(), true);
      Send(NodeStopping{signal});
    });
    if (engine_ != nullptr) engine_->Handle();
    if (events[1].revents != 0) ReadRequests();
    if (kill_at_.has_value() && Clock::now() >= *kill_at_) {
      kill_at_.reset();
      SignalAll(SIGKILL);
    }
    if (tell_at_.has_value() && Clock::now() >= *tell_at_) {
      tell_at_.reset();
      for (size_t task : std::exchange(to_tell_, {})) {
        if (!told_[task]) engine_->Signal(task, SIGTERM);
      }
    }
    if (watch_.TakePeriod() && says_alive_ && !stopping_) Send(NodeAlive{});
    if (watch_.is_silent()) StopWithoutLauncher();
  }

  void ReadRequests() {
    std::array<char, 65536> bytes;
    const ssize_t got = ::read(options_.in_fd, bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) return Stop(kAgentKillAfter);  // the launcher or the connection to it has ended
    watch_.Hear();
    input_.append(bytes.data(), static_cast<size_t>(got));
    size_t begin = 0;
    for (size_t end; (end = input_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      HandleLine(std::string_view(input_).substr(begin, end - begin));
    }
    input_.erase(0, begin);
  }

  void HandleLine(std::string_view line) {
    const SealedLine sealed = SplitLine(line);
    auto request = ParseAgentRequest(sealed.message);
    if (!request.ok()) return Send(NodeRefused{request.status()});
    if (request->node != options_.node || std::holds_alternative<LauncherAlive>(request->message)) return;
    if (const Status status = CheckSender(sealed); !status.ok()) return Send(NodeRefused{status});
    if (const auto* prepare = std::get_if<PrepareNode>(&request->message)) {
      if (const Status status = Prepare(*prepare); !status.ok()) Send(NodeRefused{status});
      return;
    }
    if (const auto* certificate = std::get_if<NodeCertificate>(&request->message)) {
      if (const Status status = KeepKeys(*certificate); !status.ok()) Send(NodeRefused{status});
      return;
    }
    if (const auto* tell = std::get_if<TellMoves>(&request->message)) {
      if (const Status status = WriteMoves(tell->moves); !status.ok()) Send(NodeRefused{status});
      return;
    }
    if (std::holds_alternative<ReplaceNode>(request->message)) {
      return Send(NodeRefused{absl::UnimplementedError("an agent starts no other one")});
    }
    const size_t number = std::visit(
        [](const auto& m) {
          if constexpr (requires { m.task; }) return m.task;
          return size_t{0};
        },
        request->message);
    const auto found = std::find(numbers_.begin(), numbers_.end(), number);
    if (engine_ == nullptr || found == numbers_.end()) {
      return Send(NodeRefused{InvalidArgument("task ", number, " is not on this node")});
    }
    const size_t task = static_cast<size_t>(found - numbers_.begin());
    if (const auto* start = std::get_if<StartTask>(&request->message)) {
      if (!key_.empty()) return Send(NodeRefused{FailedPrecondition("the node has no certificate yet")});
      ProgramCall call = start->call;
      for (const std::string& flag : flags_)
        AddFile(flag, StrCat(engine_->folder().path(), "/", flag), start->knows_flags, &call);
      if (tasks_move_) call.environment.emplace_back(MovesFile::kVariable, MovesPath());
      told_[task] = false;
      engine_->Start(task, call, start->knows_flags);
    } else if (const auto* signal = std::get_if<SignalTask>(&request->message)) {
      if (signal->signal != SIGTERM || !tasks_get_signals_) return engine_->Signal(task, signal->signal);
      to_tell_.push_back(task);
      if (!tell_at_.has_value()) tell_at_ = Clock::now() + kSignalDelay;
    } else {
      engine_->CloseOutput(task);
    }
  }

  Status Prepare(const PrepareNode& m) {
    if (engine_ != nullptr) return absl::FailedPreconditionError("the node is already prepared");
    if (m.version != options_.version) {
      return absl::FailedPreconditionError(StrCat("its tensorbraid has version ", options_.version,
                                                  ", the launcher's has ", m.version,
                                                  ": install the same version on all machines"));
    }
    if (m.tasks.size() != m.numbers.size()) return InvalidArgument("each task needs a number");
    if (!m.directory.empty() && ::chdir(m.directory.c_str()) != 0) {
      return absl::ErrnoToStatus(errno, StrCat("cannot enter the directory '", m.directory,
                                               "'; --sync=DIR brings it, --directory names another one"));
    }
    NodePrepared prepared;
    for (const std::string& path : m.checked_files) {
      if (auto checksum = Sha256OfFile(path); checksum.ok()) prepared.checksums[path] = *checksum;
    }
    if (m.makes_key) {
      TF_ASSIGN_OR_RETURN(CertificateRequest made, MakeCertificateRequest());
      prepared.certificate_request = std::move(made.request);
      key_ = std::move(made.key);
    }
    stop_grace_ = std::chrono::milliseconds(m.stop_grace_ms);
    says_alive_ = m.alive_ms > 0;
    watch_.Begin(std::chrono::milliseconds(m.alive_ms), std::chrono::milliseconds(m.silence_ms));
    tasks_get_signals_ = m.tasks_get_signals;
    tasks_move_ = m.tasks_move;
    numbers_ = m.numbers;
    told_.assign(numbers_.size(), false);
    is_running_.assign(numbers_.size(), false);
    const auto now = WallClock::now().time_since_epoch();
    prepared.time_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    prepared_ = std::move(prepared);
    auto engine = std::make_unique<LocalEngine>("localhost", m.ports);
    if (m.makes_key || m.tasks_move) TF_RETURN_IF_ERROR(engine->MakeFolder());
    engine_ = std::move(engine);
    engine_->Place(m.tasks, this);
    return OkStatus();
  }

  Status KeepKeys(const NodeCertificate& m) {
    if (key_.empty()) return FailedPrecondition("the node has asked for no certificate, or has one");
    TF_RETURN_IF_ERROR(CheckCertificate({m.certificate, key_}, m.authority));
    const std::map<std::string, std::string> files = {
        {"tls_cert", m.certificate}, {"tls_key", std::exchange(key_, "")}, {"tls_ca", m.authority}};
    TF_RETURN_IF_ERROR(engine_->folder().Add(files));
    for (const auto& [flag, content] : files) flags_.push_back(flag);
    return OkStatus();
  }

  // Unauthenticated for a request that is not the launcher's, where requests need a proof of it.
  Status CheckSender(const SealedLine& line) {
    TF_RETURN_IF_ERROR(seal_error_);
    return seal_.has_value() ? seal_->Check(AgentSide::kLauncher, line) : OkStatus();
  }

  std::string MovesPath() const { return engine_->folder().path() + "/moves"; }
  // The servers of the tasks see the old text or the new one.
  Status WriteMoves(const AddressMoves& moves) {
    if (!tasks_move_) return absl::FailedPreconditionError("the node does not expect tasks that move");
    const std::string next = MovesPath() + ".new";
    TF_RETURN_IF_ERROR(WriteFile(next, MovesToJson(moves)));
    return Env::Default().RenameFile(next, MovesPath());
  }

  // The reports of the engine.
  void OnPlaced(std::vector<TaskPlace> places) override {
    for (const TaskPlace& place : places) prepared_.ports.push_back(ParseHostPort(place.address)->port);
    Send(prepared_);
  }
  void OnStarted(size_t task, pid_t pid) override {
    is_running_[task] = true;
    Send(TaskStarted{numbers_[task], pid});
  }
  void OnStartFailed(size_t task, const Status& why) override { Send(TaskStartFailed{numbers_[task], why}); }
  void OnLine(size_t task, OutputStream stream, std::string_view line) override {
    Send(TaskLine{numbers_[task], stream, std::string(line)});
  }
  void OnEnd(size_t task, const TaskEnd& end) override {
    is_running_[task] = false;
    Send(TaskEnded{numbers_[task], end.process, end.report});
  }
  void OnOutputEnd(size_t task) override { Send(TaskOutputEnded{numbers_[task]}); }
  void OnFailure(const Status& why) override { Send(NodeRefused{why}); }
  void OnMessage(const std::string& /*text*/) override {}

  bool is_one_of_many() const { return options_.rank >= 0; }
  void Send(const AgentEvent& event) {
    std::string line = ToLine(options_.node, event);
    if (seal_.has_value() && std::holds_alternative<NodePrepared>(event)) {
      auto sealed = seal_->Close(AgentSide::kAgent, line);
      line = sealed.ok() ? *std::move(sealed) : ToLine(options_.node, NodeRefused{sealed.status()});
    }
    const bool is_task_line = std::holds_alternative<TaskLine>(event);
    output_.Add(AsPieces(line), is_task_line ? OutputQueue::Loss::kAllowed : OutputQueue::Loss::kNever);
  }
  std::string AsPieces(const std::string& line) const {
    return is_one_of_many() ? ToPieces(options_.node, line) : line;
  }
  void FinishOutput() {
    for (;;) {
      output_.ReportProgress();
      if (output_.unwritten() == 0) return;
      pollfd event = {output_.event().get(), POLLIN, 0};
      if (::poll(&event, 1, static_cast<int>(kLauncherPatience.count())) == 0) return;
    }
  }

  bool AnyRunning() const { return std::find(is_running_.begin(), is_running_.end(), true) != is_running_.end(); }
  void SignalAll(int signal) {
    for (size_t i = 0; i < numbers_.size() && engine_ != nullptr; ++i) engine_->Signal(i, signal);
  }
  void Stop(std::chrono::milliseconds kill_after) {
    if (std::exchange(stopping_, true)) return;
    SignalAll(SIGTERM);
    kill_at_ = Clock::now() + kill_after;
  }
  // The tasks have the time to save, as if the launcher had stopped the job. A launcher that goes on later reads the
  // reason.
  void StopWithoutLauncher() {
    if (stopping_) return;
    const double seconds = static_cast<double>(watch_.silence().count()) / 1000;
    Send(NodeRefused{absl::DeadlineExceededError(StrCat("its agent has heard nothing from the launcher for ", seconds,
                                                        " s, so it has ended its tasks (--silence_s)"))});
    Stop(stop_grace_);
  }

  const AgentOptions& options_;
  const BlockedSignals signals_;
  OutputQueue output_;  // sends without waiting for the launcher; after `signals_`, which its thread must not get
  std::string input_;   // the beginning of a request
  std::optional<AgentSeal> seal_;
  Status seal_error_;               // why there is none, if there has to be one
  std::string key_;                 // until its certificate is there
  std::vector<std::string> flags_;  // that name the files of the key and the certificates in the folder of the engine
  bool tasks_move_ = false;
  NodePrepared prepared_;
  std::vector<size_t> numbers_;  // of the tasks in the job
  std::vector<bool> is_running_;
  bool tasks_get_signals_ = false;
  std::vector<bool> told_;       // the tasks that have got SIGTERM from the engine
  std::vector<size_t> to_tell_;  // those that get it from the launcher at `tell_at_`
  std::optional<Clock::time_point> tell_at_;
  std::unique_ptr<LocalEngine> engine_;  // null until the node is prepared
  bool stopping_ = false;
  std::optional<Clock::time_point> kill_at_;
  LauncherWatch watch_;
  std::chrono::milliseconds stop_grace_{0};
  bool says_alive_ = false;
};

}  // namespace

Status RunAgent(const AgentOptions& options) { return Agent(options).Run(); }

}  // namespace tensorbraid
