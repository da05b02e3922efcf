#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "CLI/CLI.hpp"
#include "cli/at_least.h"
#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/plan_flags.h"
#include "cli/profiled_program.h"
#include "cli/slow_work.h"
#include "core/text/strings.h"
#include "core/threads/thread.h"
#include "io/file.h"
#include "planner/advice.h"
#include "planner/model/calibration.h"
#include "planner/model/devices.h"
#include "planner/model/machine.h"
#include "planner/model/profile.h"
#include "planner/model/wake_up.h"
#include "planner/planner.h"
#include "planner/report.h"

namespace tensorbraid {
namespace {

using planner::Configuration;
using planner::Mode;
using planner::Placement;
using planner::PlanInput;
using planner::PlanRow;

struct PlanFlags {
  std::string graph, train_op, profile;
  std::string workers = "1-16";
  std::string ps = "1";
  std::string mode = "async";
  int spares = 0, max_ahead = 4;
  std::string stragglers = "measured";
  int64_t seed = 1;
  std::string batch;
  std::vector<std::string> shapes, wire;
  std::string placement = "round_robin";
  double cores = 0;
  int workers_per_machine = 1;
  bool one_machine = false, link_per_task = false, sum_per_host = false;
  std::string link = "10gbit", allpairs;
  double link_burst_kb = 0;
  std::optional<double> latency_us, message_us, send_gb_s, receive_gb_s, local_message_us;
  std::string protocol, measured_on = "here";
  std::string device, ps_device;
  double efficiency = 0.5;
  int steps = 20;
  bool search = false, json = false, measure_machine = false;
  std::string svg;
};

// A directory that is removed with what is in it.
class TemporaryDirectory {
 public:
  ~TemporaryDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Status Create() {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "tensorbraid-plan-XXXXXX").string();
    if (error || ::mkdtemp(path.data()) == nullptr) {
      return FailedPrecondition("cannot create a directory like ", path, "; set TMPDIR to a directory");
    }
    path_ = path;
    return OkStatus();
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Mode ModeOf(const std::string& name) {
  return name == "sync" ? Mode::kSync : name == "bounded" ? Mode::kBounded : Mode::kAsync;
}
Placement PlacementOf(const std::string& name) {
  return name == "even" ? Placement::kEven : name == "least_bytes" ? Placement::kLeastBytes : Placement::kRoundRobin;
}

Status SetHardware(const PlanFlags& flags, planner::Hardware* hardware) {
  hardware->host_cores = flags.cores > 0 ? flags.cores : NumCores();
  hardware->one_machine = flags.one_machine || flags.link_per_task;
  hardware->link_per_task = flags.link_per_task;
  hardware->workers_per_machine = flags.workers_per_machine;
  double bytes_per_s = 0;
  if (flags.allpairs.empty()) {
    TF_ASSIGN_OR_RETURN(bytes_per_s, ParseBandwidth(flags.link));
  } else {
    TF_ASSIGN_OR_RETURN(bytes_per_s, ReadAllPairs(flags.allpairs));
  }
  hardware->link = {
      .out_bytes_per_s = bytes_per_s, .in_bytes_per_s = bytes_per_s, .burst_bytes = flags.link_burst_kb * 1e3};
  planner::WayCosts& remote = hardware->remote;
  if (flags.latency_us) remote.latency_ns = *flags.latency_us * 1e3;
  if (flags.message_us) remote.message_ns = *flags.message_us * 1e3;
  if (flags.send_gb_s) remote.send_byte_ns = 1 / *flags.send_gb_s;
  if (flags.receive_gb_s) remote.receive_byte_ns = 1 / *flags.receive_gb_s;
  if (flags.local_message_us) hardware->local.message_ns = *flags.local_message_us * 1e3;
  if (flags.protocol == "grpc") hardware->local = remote;
  if (!flags.device.empty()) {
    TF_ASSIGN_OR_RETURN(hardware->worker_device, planner::SpeedOf(flags.device, flags.efficiency));
    if (!hardware->worker_device->is_gpu && flags.cores == 0) hardware->host_cores = hardware->worker_device->cores;
  }
  if (!flags.ps_device.empty()) {
    TF_ASSIGN_OR_RETURN(hardware->server_device, planner::SpeedOf(flags.ps_device, flags.efficiency));
  }
  return OkStatus();
}

StatusOr<PlanInput> InputOf(const PlanFlags& flags, const std::vector<std::string>& program) {
  PlanInput input;
  TF_RETURN_IF_ERROR(SetHardware(flags, &input.hardware));
  for (const std::string& text : flags.shapes) {
    TF_ASSIGN_OR_RETURN(auto shape, ParseShapeFlag(text));
    input.shapes.insert(std::move(shape));
  }
  if (flags.stragglers != "measured") {
    TF_ASSIGN_OR_RETURN(input.training.stragglers, planner::Stragglers::Parse(flags.stragglers));
  }
  input.training.seed = static_cast<uint64_t>(flags.seed);
  input.training.steps = flags.steps;
  input.training.max_ahead = flags.max_ahead;
  const int given = !flags.graph.empty() + !flags.profile.empty() + !program.empty();
  const bool keeps_profile = !program.empty() && given == 2 && flags.graph.empty();
  if (given != 1 && !keeps_profile) {
    return InvalidArgument(given == 0 ? "nothing to plan" : "more than one training to plan",
                           ": give its program after '--', its graph with --graph=FILE, or its profile with "
                           "--profile=DIR");
  }
  if (!flags.graph.empty()) {
    TF_ASSIGN_OR_RETURN(input.graph, planner::ReadTrainingGraph(flags.graph, flags.train_op));
    return input;
  }
  TemporaryDirectory temporary;
  if (flags.profile.empty()) TF_RETURN_IF_ERROR(temporary.Create());
  const std::string& profile = flags.profile.empty() ? temporary.path() : flags.profile;
  if (!program.empty()) {
    TF_ASSIGN_OR_RETURN(const ProfiledRun run, RunProfiled(program, profile));
    input.machine.others_share = run.others_share;
  } else {
    TF_ASSIGN_OR_RETURN(input.machine, planner::ReadMachine(profile));
  }
  TF_ASSIGN_OR_RETURN(input.graph, planner::ReadProfile(profile, NumCores()));
  if (!program.empty() || flags.measure_machine) {
    input.machine.wake = planner::MeasureWakeUp();
    TF_RETURN_IF_ERROR(planner::WriteMachine(profile, input.machine));
    // As a later plan reads it, so that both print the same.
    TF_ASSIGN_OR_RETURN(input.machine, planner::ReadMachine(profile));
  }
  planner::SetWakeUps(input.machine, &input.hardware);
  planner::Hardware measured_on = input.hardware;
  if (flags.measured_on == "here") measured_on = planner::ThisMachine(NumCores(), planner::SharedMemoryCosts());
  planner::SetWakeUps(input.machine, &measured_on);
  const planner::MeasuredStep measured = input.graph.measured;
  TF_ASSIGN_OR_RETURN(const double model_ns, planner::Calibrate(&input, measured_on));
  if (flags.stragglers == "measured") input.training.stragglers = planner::MeasuredStragglers(input.graph.measured);
  if (!flags.json) std::printf("%s", planner::MeasuredText(measured, input.machine, model_ns).c_str());
  // In JSON, each row has the figure.
  std::fputs(planner::BusyWarning(input.machine).c_str(), flags.json ? stderr : stdout);
  if (!flags.json) std::printf("\n");
  return input;
}

// Says on standard error which simulation takes long.
class Progress {
 public:
  void Begin(size_t number, size_t of, const Configuration& c) {
    slow_.Begin(StrCat("tensorbraid plan: ", c.workers, " workers, ", c.servers, " PS, ", planner::ModeName(c.mode),
                       " (", number, " of ", of, ")"));
  }

 private:
  SlowWork slow_{[](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }};
};

StatusOr<std::vector<PlanRow>> Scaling(const PlanInput& input, Configuration configuration,
                                       const std::vector<int>& workers) {
  std::vector<PlanRow> rows;
  Progress progress;
  for (size_t i = 0; i < workers.size(); ++i) {
    if (configuration.mode == Mode::kSync && workers[i] <= configuration.spares) continue;
    configuration.workers = workers[i];
    progress.Begin(i + 1, workers.size(), configuration);
    TF_ASSIGN_OR_RETURN(rows.emplace_back(), planner::PlanOne(input, configuration));
  }
  if (rows.empty()) return InvalidArgument("--workers has no number above --spares=", configuration.spares);
  return rows;
}

// The advice for a row. The servers to try are the next number that the plan has, or twice as many.
std::string AdviceFor(const PlanInput& input, const PlanRow& row, const std::vector<int>& servers) {
  const auto next = std::ranges::upper_bound(servers, row.configuration.servers);
  const int more = next == servers.end() ? 2 * row.configuration.servers : *next;
  Progress progress;
  progress.Begin(1, 1, row.configuration);
  return planner::Advice(row, planner::Remedies(input, row, more));
}

Status RunPlan(const PlanFlags& flags, const std::vector<std::string>& program) {
  constexpr int kMostTasks = 10'000;  // their simulation takes some seconds for a small model, and minutes for others
  TF_ASSIGN_OR_RETURN(const std::vector<int> workers, ParseCounts("--workers", flags.workers, kMostTasks));
  TF_ASSIGN_OR_RETURN(const std::vector<int> servers, ParseCounts("--ps", flags.ps, kMostTasks));
  std::vector<int64_t> batches = {0};  // as in the graph
  if (!flags.batch.empty()) {
    TF_ASSIGN_OR_RETURN(const auto counts, ParseCounts("--batch", flags.batch, 1'000'000));
    batches.assign(counts.begin(), counts.end());
  }
  TF_ASSIGN_OR_RETURN(const auto wires, ParseWireRules(flags.wire));
  for (const auto& [job, types] : wires) {
    if (job != "ps") return InvalidArgument("--wire: the plan has no job '", job, "'; use ps:TYPE");
  }
  TF_ASSIGN_OR_RETURN(const PlanInput input, InputOf(flags, program));
  Configuration configuration = {.servers = servers.front(),
                                 .mode = ModeOf(flags.mode),
                                 .spares = flags.spares,
                                 .placement = PlacementOf(flags.placement),
                                 .wire = wires.contains("ps") ? wires.at("ps") : WireTypes(),
                                 .batch = batches.front(),
                                 .sum_per_host = flags.sum_per_host};
  if (batches.size() > 1 && !flags.search) return InvalidArgument("--batch: a list needs --search");
  std::string text;
  if (!flags.search) {
    for (const int count : servers) {
      configuration.servers = count;
      TF_ASSIGN_OR_RETURN(const auto rows, Scaling(input, configuration, workers));
      if (flags.json) {
        text += JsonLines(rows);
      } else {
        if (servers.size() > 1) text += StrCat(count == servers.front() ? "" : "\n", count, " PS\n");
        text += ScalingTable(rows);
        text += StrCat("With ", rows.back().configuration.workers, " workers, ", AdviceFor(input, rows.back(), servers),
                       ".\n", Caution(rows));
      }
      if (count == servers.back() && !flags.svg.empty()) TF_RETURN_IF_ERROR(WriteFile(flags.svg, SpeedUpChart(rows)));
    }
    std::fputs(text.c_str(), stdout);
    return OkStatus();
  }
  configuration.workers = workers.back();
  planner::SearchSpace space;
  space.servers = servers.size() > 1 ? servers : std::vector<int>();
  for (int count = 1; servers.size() == 1 && count <= std::max(1, configuration.workers); count *= 2) {
    space.servers.push_back(count);
  }
  space.modes = {Mode::kAsync, Mode::kSync};
  space.placements = {Placement::kRoundRobin, Placement::kLeastBytes, Placement::kEven};
  space.wires = {Wire::kFloat32, Wire::kBFloat16, {Wire::kInt8, Wire::kInt8}};
  space.batches = batches;
  if (flags.workers_per_machine > 1 && flags.spares == 0) space.sums = {false, true};
  Progress progress;
  TF_ASSIGN_OR_RETURN(const auto rows, planner::Search(input, configuration, space,
                                                       [&](size_t number, size_t of, const Configuration& c) {
                                                         progress.Begin(number, of, c);
                                                       }));
  if (flags.json) {
    text = JsonLines(rows);
  } else {
    text = StrCat("The fastest of ", rows.size(), " configurations with ", configuration.workers, " workers:\n",
                  SearchTable(rows, 12),
                  "Speeds within 2 % count as equal; of these, fewer servers and unchanged arithmetic come first. ",
                  "In the first, ", AdviceFor(input, rows.front(), space.servers), ".\n");
  }
  std::fputs(text.c_str(), stdout);
  if (flags.svg.empty()) return OkStatus();
  TF_ASSIGN_OR_RETURN(const auto best, Scaling(input, rows.front().configuration, workers));
  return WriteFile(flags.svg, SpeedUpChart(best));
}

std::string DeviceNames() {
  std::string names;
  for (const auto& device : planner::KnownDevices()) names += StrCat(names.empty() ? "" : ", ", device.name);
  return names;
}

}  // namespace

void AddPlanCommand(CLI::App& app, Invocation* invocation) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* plan = app.add_subcommand("plan", "Predict how fast a training will be on a cluster");
  plan->add_option("--graph", flags->graph, "a GraphDef, binary or text, instead of a program")->type_name("FILE");
  plan->add_option("--train_op", flags->train_op, "with --graph: the operation that trains")->type_name("NAME");
  plan->add_option("--profile", flags->profile,
                   "with a program: keep what is measured in this directory; without one: plan what it has")
      ->type_name("DIR");
  plan->add_option(
          "--measured_on", flags->measured_on,
          "with --profile alone: whether the worker and its server shared the memory of this machine (here), or "
          "had the links of the plan (cluster)")
      ->check(OneOf({"here", "cluster"}))
      ->capture_default_str();
  plan->add_flag(
      "--measure_machine", flags->measure_machine,
      "with --profile alone: measure what it costs this machine to wake a thread, and keep it in the profile; "
      "this is always done for a program");
  plan->add_option("--batch", flags->batch,
                   "examples of a worker's step: the first dimension of what is fed (default: as measured or as in the "
                   "graph); with --search a list");
  plan->add_option("--shape", flags->shapes, "the shape of a tensor that the graph does not know; may be repeated")
      ->type_name("NAME=DIM,DIM");
  const char* const what = "Cluster";
  plan->add_option("--workers", flags->workers, "numbers of workers, such as 1,2,4 or 1-64 (powers of two in between)")
      ->capture_default_str()
      ->group(what);
  plan->add_option("--ps", flags->ps, "numbers of parameter servers")->capture_default_str()->group(what);
  plan->add_option("--cores", flags->cores, "cores of each machine (default: as many as this one has)")
      ->check(AtLeast(1))
      ->group(what);
  CLI::Option* const per_machine =
      plan->add_option("--workers_per_machine", flags->workers_per_machine,
                       "so many workers share a machine, its cores and its link; servers have machines of their own")
          ->check(AtLeast(1))
          ->capture_default_str()
          ->group(what);
  plan->add_flag("--one_machine", flags->one_machine, "all tasks share the cores of one machine, and its memory")
      ->group(what);
  plan->add_flag("--link_per_task", flags->link_per_task,
                 "all tasks share the cores of one machine, but each has a link of its own, as in network namespaces")
      ->group(what);
  plan->add_option("--link", flags->link, "bandwidth of each machine's link in each direction, such as 10gbit or 1.2GB")
      ->capture_default_str()
      ->group(what);
  plan->add_option("--link_burst_kb", flags->link_burst_kb,
                   "what a link passes at once after a pause, if a token bucket limits it")
      ->check(AtLeast(0))
      ->capture_default_str()
      ->group(what);
  plan->add_option("--allpairs", flags->allpairs,
                   "take the bandwidth from a file with the output of 'tensorbraid bench allpairs --json'")
      ->type_name("FILE")
      ->group(what);
  plan->add_option("--latency_us", flags->latency_us, "one way, without the tasks' own part")
      ->check(AtLeast(0))
      ->group(what);
  plan->add_option("--message_us", flags->message_us, "what a message costs a core at each end (gRPC)")
      ->check(AtLeast(0))
      ->group(what);
  plan->add_option("--send_gb_s", flags->send_gb_s, "bytes that a core can send per second (gRPC)")
      ->check(AtLeast(1e-6))
      ->group(what);
  plan->add_option("--receive_gb_s", flags->receive_gb_s, "bytes that a core can receive per second (gRPC)")
      ->check(AtLeast(1e-6))
      ->group(what);
  plan->add_option("--local_message_us", flags->local_message_us,
                   "what a message through shared memory costs a core at each end")
      ->check(AtLeast(0))
      ->group(what);
  plan->add_option("--protocol", flags->protocol, "grpc: tasks of one machine do not use shared memory")
      ->check(OneOf({"", "grpc"}))
      ->group(what);
  plan->add_option("--device", flags->device, "a processor for the workers instead of the measured times; see below")
      ->type_name("NAME")
      ->group(what);
  plan->add_option("--ps_device", flags->ps_device, "the same for the parameter servers")
      ->type_name("NAME")
      ->group(what);
  plan->add_option("--efficiency", flags->efficiency, "the share of its peak that a given device reaches")
      ->check(CLI::Range(0.001, 1.0))
      ->capture_default_str()
      ->group(what);
  const char* const how = "Training";
  plan->add_option("--mode", flags->mode, "how the workers' gradients are used")
      ->check(OneOf({"async", "sync", "bounded"}))
      ->capture_default_str()
      ->group(how);
  plan->add_option("--spares", flags->spares, "sync: so many of the workers are spare: the others' gradients suffice")
      ->check(AtLeast(0))
      ->group(how);
  plan->add_option("--max_ahead", flags->max_ahead, "bounded: how many steps a worker may be ahead of the slowest")
      ->check(AtLeast(0))
      ->capture_default_str()
      ->group(how);
  plan->add_flag("--sum_per_host", flags->sum_per_host,
                 "the workers of a machine send one sum of their gradients, and fetch the variables once")
      ->needs(per_machine)
      ->group(how);
  plan->add_option("--wire", flags->wire, "how values and gradients travel, such as ps:int8; may be repeated")
      ->type_name("ps:TYPE")
      ->group(how);
  plan->add_option("--placement", flags->placement,
                   "which server has a variable; even: all variables are partitioned over all servers")
      ->check(OneOf({"round_robin", "least_bytes", "even"}))
      ->capture_default_str()
      ->group(how);
  plan->add_option("--stragglers", flags->stragglers,
                   "how the time of a step varies: measured (with --graph: none), none, lognormal:S, exponential:M or "
                   "slow:PROBABILITY:FACTOR")
      ->capture_default_str()
      ->group(how);
  plan->add_option("--seed", flags->seed, "seed of these variations")
      ->check(AtLeast(0))
      ->capture_default_str()
      ->group(how);
  plan->add_option("--steps", flags->steps, "steps of each worker that are simulated")
      ->check(AtLeast(1))
      ->capture_default_str()
      ->group(how);
  plan->add_flag("--search", flags->search,
                 "try numbers of servers, modes, wire types, placements and the batches of --batch for the largest "
                 "number of workers, and list the fastest");
  plan->add_flag("--json", flags->json, "print one line of JSON per row");
  plan->add_option("--svg", flags->svg,
                   "also write a picture: the speed-up over the workers, and the line of each bound")
      ->type_name("FILE");
  plan->footer(StrCat(
      "\nFull usage: tensorbraid plan [OPTIONS] -- PROGRAM [ARGUMENTS]\n\n"
      "PROGRAM runs here with one parameter server and one worker until some 60 of its steps have been measured. It "
      "must\n"
      "train asynchronously (no --issync): the plan itself decides how gradients are used.\n\n"
      "A plan simulates the steps of a training: the graph is placed and divided as a session does it, each task\n"
      "computes on its machine's cores, and each tensor crosses the links. The speed-up compares the examples per "
      "second\n"
      "with those of one worker without a cluster. 'bound' says what to change first: docs/planning.md.\n\n"
      "Devices: ",
      DeviceNames(),
      "\n\n"
      "Examples:\n"
      "  tensorbraid plan --workers=1-32 --ps=2 --link=1gbit -- build/release/examples/mnist_cnn\n"
      "  tensorbraid plan --graph=graph.pb --train_op=train --batch=64 --workers=1-64 --ps=4 --link=10gbit\n"
      "  tensorbraid plan --graph=graph.pb --train_op=train --batch=64 --device=v100 --workers=32 --search"));
  plan->callback([flags, invocation] {
    invocation->run = [flags, invocation] {
      return ExitCode(Annotate(RunPlan(*flags, invocation->program), "tensorbraid plan"));
    };
  });
}

}  // namespace tensorbraid
