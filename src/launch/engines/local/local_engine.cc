#include "launch/engines/local/local_engine.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "absl/strings/numbers.h"
#include "cluster/status/report_file.h"
#include "core/system/env.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "pjrt/find_plugins.h"

namespace tensorbraid {

StatusOr<std::string> LocalEngine::Describe(const std::vector<std::string>& tasks) const {
  return StrCat(StrJoin(tasks, ", "), ": processes of this machine, each with a free port\n");
}

Status LocalEngine::MakeFolder() {
  if (folder_.has_value()) return OkStatus();
  TF_ASSIGN_OR_RETURN(folder_, JobFolder::Make());
  guard_.emplace(GroupGuardOptions{.folder = folder_->path()});
  return OkStatus();
}

void LocalEngine::Place(const std::vector<std::string>& tasks, EngineListener* listener) {
  listener_ = listener;
  if (const Status made = MakeFolder(); !made.ok()) {
    listener_->OnMessage(StrCat("there will be no table at the end: ", std::string(made.message())));
  }
  if (!guard_.has_value()) guard_.emplace(GroupGuardOptions{});
  std::vector<TaskPlace> places;
  for (size_t i = 0; i < tasks.size(); ++i) {
    auto port = HeldPort::Take(i < wanted_ports_.size() ? wanted_ports_[i] : 0);
    if (!port.ok()) return listener_->OnFailure(port.status());
    places.push_back({.node = "", .address = StrCat(host_, ":", port->port())});
    ports_.push_back(*std::move(port));
    const auto line = [this, i](OutputStream stream) {
      return [this, i, stream](std::string_view text) { listener_->OnLine(i, stream, text); };
    };
    tasks_.push_back({tasks[i], LineSplitter(line(OutputStream::kOut)), LineSplitter(line(OutputStream::kErr))});
  }
  listener_->OnPlaced(std::move(places));
}

void LocalEngine::Start(size_t number, const ProgramCall& call, bool /*knows_flags*/) {
  Task& task = tasks_[number];
  if (task.has_output) FinishOutput(task);
  const std::string report = ReportPath(number);
  if (!report.empty()) ::unlink(report.c_str());  // of an earlier run
  auto environment = call.environment;
  if (const Status added = AddGpus(number, &environment); !added.ok()) return listener_->OnStartFailed(number, added);
  environment.emplace_back(ReportFile::kVariable, report);
  auto process = ChildProcess::Start(call.command, environment, ChildProcess::Stdout::kTerminal);
  if (!process.ok()) return listener_->OnStartFailed(number, process.status());
  task.process = *std::move(process);
  guard_->Add(task.process->pid());
  task.is_running = task.has_output = true;
  listener_->OnStarted(number, task.process->pid());
}

Status LocalEngine::AddGpus(size_t number, std::vector<std::pair<std::string, std::string>>* environment) const {
  const auto given =
      std::ranges::find_if(*environment, [](const auto& variable) { return variable.first == kGpusVariable; });
  size_t gpus = 0;
  if (given == environment->end() || !absl::SimpleAtoi(given->second, &gpus)) return OkStatus();
  if (gpus == 0) {
    environment->emplace_back("CUDA_VISIBLE_DEVICES", "-1");
    return OkStatus();
  }
  // Each task that is no parameter server has the place of its GPUs, whether it runs now or not.
  const auto end = tasks_.begin() + static_cast<std::ptrdiff_t>(number);
  const size_t first = gpus * static_cast<size_t>(std::count_if(
                                  tasks_.begin(), end, [](const Task& t) { return !t.name.starts_with("ps/"); }));
  pjrt::Machine machine = pjrt::ThisMachine();
  // What the user sets for the tasks counts, too.
  machine.variable = [environment, of_machine = std::move(machine.variable)](const char* name) {
    const auto set = std::ranges::find_if(*environment, [name](const auto& v) { return v.first == name; });
    return set == environment->end() ? of_machine(name) : set->second;
  };
  const auto visible = pjrt::VisibleGpus(machine);
  const std::string what = StrCat("--gpus_per_worker=", gpus, ": ", tasks_[number].name);
  if (!visible.ok()) return Annotate(visible.status(), what);
  if (visible->size() < first + gpus) {
    return FailedPrecondition(what, " needs GPU ", first + gpus, " of its machine, which has ", visible->size(),
                              ": start fewer tasks there, or give each fewer GPUs");
  }
  const auto begin = visible->begin() + static_cast<std::ptrdiff_t>(first);
  environment->emplace_back("CUDA_VISIBLE_DEVICES", StrJoin({begin, begin + static_cast<std::ptrdiff_t>(gpus)}, ","));
  return OkStatus();
}

void LocalEngine::Signal(size_t task, int signal) {
  if (tasks_[task].is_running) tasks_[task].process->Signal(signal);
}

void LocalEngine::CloseOutput(size_t number) {
  Task& task = tasks_[number];
  if (!task.has_output) return;
  FinishOutput(task);
  listener_->OnOutputEnd(number);
}

void LocalEngine::FinishOutput(Task& task) {
  task.process->out().Close();
  task.process->err().Close();
  task.out_lines.Finish();
  task.err_lines.Finish();
  task.has_output = false;
}

void LocalEngine::AddEvents(std::vector<pollfd>* events) {
  for (Task& task : tasks_) {
    if (!task.process.has_value()) continue;
    // poll ignores closed descriptors, whose number is -1.
    for (const Fd* fd :
         {&task.process->end_event(), &std::as_const(task.process->out()), &std::as_const(task.process->err())}) {
      events->push_back({fd->get(), POLLIN, 0});
    }
  }
}

void LocalEngine::Handle() {
  for (size_t number = 0; number < tasks_.size(); ++number) {
    Task& task = tasks_[number];
    if (!task.process.has_value()) continue;
    // Asked before the output is read, so that all that the program wrote is passed on before its end.
    pollfd end = {task.process->end_event().get(), POLLIN, 0};
    const bool has_ended = task.is_running && ::poll(&end, 1, 0) == 1;
    ReadOutput(number);
    if (!has_ended) continue;
    task.is_running = false;
    // In this order: if this process is killed in between, the guard still ends the rest of the group.
    task.process->Signal(SIGKILL);
    guard_->Remove(task.process->pid());
    const ProcessEnd how = task.process->Reap();
    ReadOutput(number);
    listener_->OnEnd(number, {.process = how, .lost = "", .report = TakeReport(number)});
  }
}

std::string LocalEngine::ReportPath(size_t number) const {
  return folder_.has_value() ? StrCat(folder_->path(), "/report-", number) : "";
}

std::string LocalEngine::TakeReport(size_t number) const {
  constexpr uint64_t kMostBytes = 1 << 20;  // the file may be anything, because a user's program can write it
  const std::string path = ReportPath(number);
  const auto info = Env::Default().Stat(path);
  if (!info.ok() || !info->is_regular || info->size > kMostBytes) return "";
  return ReadFile(path).value_or("");
}

void LocalEngine::ReadOutput(size_t number) {
  Task& task = tasks_[number];
  if (!task.has_output) return;
  Read(task.process->out(), task.out_lines);
  Read(task.process->err(), task.err_lines);
  if (!task.process->out().is_open() && !task.process->err().is_open()) CloseOutput(number);
}

void LocalEngine::Read(Fd& fd, LineSplitter& lines) {
  std::array<char, 16384> bytes;
  // Bounded, so that a task that writes endlessly does not keep the launcher from handling signals.
  for (int i = 0; i < 16 && fd.is_open(); ++i) {
    const ssize_t got = ::read(fd.get(), bytes.data(), bytes.size());
    if (got > 0) {
      lines.Add({bytes.data(), static_cast<size_t>(got)});
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else if (got < 0 && errno == EAGAIN) {
      return;
    } else {
      fd.Close();
      lines.Finish();
    }
  }
}

}  // namespace tensorbraid
