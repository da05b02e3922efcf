#include "cluster/status/task_report.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "cluster/exchange/exchange.h"
#include "cluster/master/master.h"
#include "cluster/membership/membership.h"
#include "cluster/protobuf/report.pb.h"
#include "cluster/worker/worker.h"
#include "core/system/cpu_time.h"
#include "core/system/env.h"
#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "core/threads/polling_time.h"
#include "io/file.h"
#include "pjrt/accelerator.h"
#include "pjrt/compile_log.h"
#include "pjrt/find_plugins.h"
#include "runtime/replicas/update_clock.h"
#include "runtime/tables/embedding_table.h"
#include "runtime/variables/variable_resource.h"

namespace tensorbraid {
namespace {

// A rate is taken over this time.
constexpr std::chrono::seconds kRateWindow{10};
// The most running steps in a report, so that a report stays small.
constexpr int kMostSteps = 64;

double Seconds(std::chrono::duration<double> duration) { return duration.count(); }
double SecondsSince(MonotonicClock::time_point then, MonotonicClock::time_point now) {
  return std::max(0.0, Seconds(now - then));
}

void FillUsage(WorkerEnv& env, MonotonicClock::time_point now, proto::TaskReport* report) {
  report->set_up_seconds(SecondsSince(env.started(), now));
  report->set_busy_seconds(Seconds(env.work()->of_all_threads()));
  report->set_working_seconds(Seconds(env.work()->of_any_thread()));
  report->set_cores(Env::Default().NumCores());
  report->set_cpu_seconds(Seconds(ProcessCpuTime()));
  report->set_polling_seconds(Seconds(PollingTime::OfProcess()));
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    report->set_peak_memory_bytes(static_cast<double>(usage.ru_maxrss) * 1024);
  }
  // The second number in this file is the resident memory in pages.
  if (const auto statm = ReadFile("/proc/self/statm"); statm.ok()) {
    const auto numbers = StrSplit(*statm, ' ');
    int64_t pages = 0;
    if (numbers.size() > 1) {
      std::from_chars(numbers[1].data(), numbers[1].data() + numbers[1].size(), pages);
    }
    report->set_memory_bytes(static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  }
}

void FillAccelerators(WorkerEnv& env, MonotonicClock::time_point now, proto::TaskReport* report) {
  const CompileLog::Totals totals = CompileLog::Global().totals();
  report->set_programs(static_cast<double>(totals.programs));
  report->set_compile_seconds(totals.time.count());
  report->set_host_runs(static_cast<double>(totals.host_runs));
  for (const CompileLog::Compile& compile : CompileLog::Global().running()) {
    auto* out = report->add_compiling();
    out->set_program(compile.program);
    out->set_seconds(SecondsSince(compile.since, now));
  }
  for (const auto& device : env.devices().devices()) {
    if (!pjrt::IsAcceleratorType(device->type())) continue;
    pjrt::Client* const client = pjrt::Accelerator::OfType(device->type()).client_if_made();
    if (client == nullptr || device->id() >= client->num_devices()) continue;
    auto* out = report->add_accelerators();
    out->set_device(StrCat(device->type(), ":", device->id()));
    out->set_tensor_bytes(static_cast<double>(device->allocator().stats().bytes_in_use));
    if (const auto memory = client->MemoryOf(device->id()); memory.ok()) {
      out->set_memory_bytes(static_cast<double>(memory->bytes_in_use));
      out->set_memory_limit(static_cast<double>(std::max<int64_t>(memory->bytes_limit, 0)));
    }
  }
}

// The variable with this name in the default container; null if there is none.
RefPtr<VariableResource> FindVariable(ResourceManager& resources, const std::string& name) {
  if (auto found = resources.Lookup<VariableResource>("", name); found.ok()) return *std::move(found);
  auto found = resources.Lookup<ReferenceVariable>("", name);
  if (!found.ok()) return {};
  return RefPtr<VariableResource>::Share(found->get());
}

void FillTable(const EmbeddingTable& table, proto::TableReport* report) {
  const TableNumbers numbers = table.Numbers();
  report->set_table(table.name());
  report->set_rows(static_cast<double>(numbers.rows));
  report->set_bytes(static_cast<double>(numbers.bytes));
  report->set_growth_per_minute(static_cast<double>(numbers.growth_per_minute));
  report->set_admissions(static_cast<double>(numbers.admissions));
  report->set_lookups(static_cast<double>(numbers.lookups));
  report->set_hits(static_cast<double>(numbers.hits));
  report->set_evictions(static_cast<double>(numbers.evictions));
  report->set_waiting(static_cast<double>(numbers.waiting));
}

// Adds the variables and growing tables in `resources`.
void FillVariables(ResourceManager& resources, proto::TaskReport* report) {
  double count = report->variables(), bytes = report->variable_bytes();
  auto* staleness = report->mutable_staleness();
  const std::vector<std::string> all = resources.Names("");
  for (const std::string& name : std::set<std::string>(all.begin(), all.end())) {
    if (const auto clock = resources.Lookup<UpdateClock>("", name); clock.ok()) {
      const UpdateClock::Ages ages = (*clock)->ages();
      staleness->set_accepted(staleness->accepted() + static_cast<double>(ages.accepted));
      staleness->set_dropped(staleness->dropped() + static_cast<double>(ages.dropped));
      staleness->set_age_sum(staleness->age_sum() + static_cast<double>(ages.sum));
      staleness->set_age_max(std::max(staleness->age_max(), static_cast<double>(ages.max)));
    }
    if (const auto table = resources.Lookup<EmbeddingTable>("", name); table.ok())
      FillTable(**table, report->add_tables());
    const auto variable = FindVariable(resources, name);
    if (!variable) continue;
    ++count;
    const auto shape = variable->ReadShape();
    if (shape.ok())
      bytes += static_cast<double>(shape->num_elements()) * static_cast<double>(DTypeSize(variable->dtype()));
    if (name != "global_step") continue;
    const auto value = variable->Read();
    if (!value.ok() || value->num_elements() != 1) continue;
    if (value->dtype() == kInt64) report->set_global_step(static_cast<double>(value->data<int64_t>()[0]));
    if (value->dtype() == kInt32) report->set_global_step(value->data<int32_t>()[0]);
  }
  report->set_variables(count);
  report->set_variable_bytes(bytes);
}

void FillCounts(const RunningSteps::State& state, MonotonicClock::time_point now, proto::TaskReport* report) {
  report->set_steps(static_cast<double>(state.ended));
  report->set_step_seconds(Seconds(state.spanning));
  report->set_stepping_seconds(Seconds(state.first_to_last));
  const auto& history = state.history;
  if (history.empty()) return;
  size_t begin = 0;  // the rate begins at the last count that is older than the window, or else at the oldest one
  for (size_t i = 0; i < history.size(); ++i) {
    if (now - history[i].at >= kRateWindow) begin = i;
    auto* out = report->add_history();
    out->set_seconds(SecondsSince(history[i].at, now));
    out->set_steps(static_cast<double>(history[i].ended));
  }
  // If no step has ended since the count at `begin`, the rate would be 0. Counts are taken when steps begin. So if the
  // previous count is older by a whole window, steps usually take that long: they are slow rather than blocked. The
  // rate then begins at the previous count.
  if (history[begin].ended == state.ended && begin > 0 && history[begin].at - history[begin - 1].at >= kRateWindow) {
    --begin;
  }
  const double seconds = SecondsSince(history[begin].at, now);
  if (seconds > 0) report->set_steps_per_second(static_cast<double>(state.ended - history[begin].ended) / seconds);
}

void FillStaleness(const Worker::Parts& parts, proto::StalenessReport* staleness) {
  staleness->set_parts(static_cast<double>(parts.ended));
  staleness->set_overtaken_sum(static_cast<double>(parts.overtaken));
  staleness->set_overtaken_max(static_cast<double>(parts.overtaken_max));
}

// The names of the tasks that can be masters, by incarnation. A StepId contains the incarnation of its master.
std::map<uint64_t, std::string> Masters(const TaskParts& task) {
  std::map<uint64_t, std::string> names;
  const auto view = task.membership.view();
  for (const auto& other : view->others) {
    if (other->incarnation != 0) names[other->incarnation] = ShortTaskName(other->name);
  }
  names[task.master.incarnation()] = ShortTaskName(task.master.task());
  return names;
}

void FillSteps(const TaskParts& task, const RunningSteps::State& state, proto::TaskReport* report) {
  std::map<const CancellationManager*, std::vector<WaitingOperation>> waits;
  for (auto& step : task.worker.Waits()) waits[step.cancellation] = std::move(step.operations);
  const auto now = MonotonicClock::now();  // read after Waits, so that no wait begins later than `now`
  const auto masters = Masters(task);
  std::map<std::pair<std::string, uint64_t>, proto::StepReport> steps;  // by master and number
  const auto step_of = [&](StepId id) -> proto::StepReport& {
    const auto master = masters.find(id.master);
    proto::StepReport& step = steps[{master == masters.end() ? "" : master->second, id.counter}];
    if (master != masters.end()) step.set_master(master->second);
    step.set_number(static_cast<double>(id.counter));
    return step;
  };
  const auto add_waits = [&](const CancellationManager* which, proto::StepReport* step) {
    for (const WaitingOperation& wait : waits[which]) {
      auto* out = step->add_waits();
      out->set_task(report->task());
      out->set_op(wait.op);
      out->set_node(wait.node);
      out->set_resource(wait.resource);
      out->set_tensor(wait.tensor);
      out->set_peer(ShortTaskName(wait.peer));
      out->set_seconds(SecondsSince(wait.since, now));
      out->set_text(wait.text);
    }
    waits.erase(which);
  };
  for (const auto& running : state.running) {
    const MasterStep::Progress progress = running->progress();
    if (progress.tasks.empty()) continue;  // has ended
    proto::StepReport& step = step_of(running->id);
    step.set_seconds(SecondsSince(running->begun, now));
    for (const std::string& name : progress.tasks) step.add_unfinished_tasks(ShortTaskName(name));
    if (progress.cancellation != nullptr) add_waits(progress.cancellation, &step);
  }
  for (const auto& [id, cancellation] : task.exchange.Steps()) {
    if (waits.contains(cancellation)) add_waits(cancellation, &step_of(id));
  }
  for (auto& [key, step] : steps) {
    if (report->running_size() < kMostSteps) *report->add_running() = std::move(step);
  }
}

}  // namespace

void FillTaskReport(const TaskParts& task, proto::TaskReport* report) {
  const auto now = MonotonicClock::now();
  report->set_task(ShortTaskName(task.master.task()));
  report->set_state("up");
  FillUsage(task.env, now, report);
  FillAccelerators(task.env, now, report);
  for (const auto& resources : task.resources) FillVariables(*resources, report);
  const RunningSteps::State state = task.master.steps();
  FillCounts(state, MonotonicClock::now(), report);
  FillStaleness(task.worker.parts(), report->mutable_staleness());
  FillSteps(task, state, report);
  if (const auto joined = task.membership.last_joined(); joined.has_value()) {
    report->set_joined_seconds(SecondsSince(*joined, now));
  }
  for (const Membership::Received& received : task.membership.AllReceived()) {
    auto* out = report->add_received();
    out->set_from(ShortTaskName(received.task));
    out->set_tensor_bytes(static_cast<double>(received.tensor_bytes));
    out->set_messages(static_cast<double>(received.messages));
  }
}

}  // namespace tensorbraid
