#include "session/step_profiler.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "checkpoint/files.h"
#include "core/system/cpu_time.h"
#include "core/text/json.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/polling_time.h"
#include "graph/model/node.h"
#include "io/file.h"

namespace tensorbraid {
namespace {

using CpuTime = SessionBackend::CpuTime;

CpuTime OfThisProcess() {
  const auto seconds = [](std::chrono::duration<double> time) { return time.count(); };
  return {.all = seconds(ProcessCpuTime()), .polling = seconds(PollingTime::OfProcess())};
}

// The time of one of `steps` steps.
CpuTime OfStep(const CpuTime& before, const CpuTime& after, int steps) {
  return {.all = (after.all - before.all) / steps, .polling = (after.polling - before.polling) / steps};
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// The mean of those `values` whose interval is at most ten times the median of the intervals.
double MeanOfUsual(const std::vector<double>& values, const std::vector<double>& intervals) {
  constexpr double kUnusual = 10;
  const double most = kUnusual * Median(intervals);
  double sum = 0, count = 0;
  for (size_t i = 0; i < std::min(values.size(), intervals.size()); ++i) {
    if (intervals[i] > most) continue;
    sum += values[i];
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

// The means of equal parts of `intervals`, each without its unusual ones: how far they differ says how steady the
// machine was.
std::vector<double> MeansOfParts(const std::vector<double>& intervals) {
  std::vector<double> means;
  const auto n = static_cast<int64_t>(intervals.size() / StepProfiler::kParts);
  for (int64_t first = 0; n > 0 && means.size() < StepProfiler::kParts; first += n) {
    const std::vector<double> part(intervals.begin() + first, intervals.begin() + first + n);
    means.push_back(MeanOfUsual(part, part));
  }
  return means;
}

// The standard deviation of the logarithms, from the distance of the first and the ninth tenth (2.563 standard
// deviations of a normal distribution), so that a few outliers do not count.
double SigmaOfLogarithm(std::vector<double> values) {
  if (values.size() < 5) return 0;
  std::sort(values.begin(), values.end());
  const double low = values[values.size() / 10], high = values[values.size() - 1 - values.size() / 10];
  return low > 0 ? std::log(high / low) / 2.563 : 0;
}

// What all parameter servers have used for one of `steps` steps; 0 if one of them has not answered.
CpuTime OfServers(const std::map<std::string, CpuTime>& before, const std::map<std::string, CpuTime>& after,
                  int steps) {
  CpuTime sum;
  for (const auto& [task, time] : after) {
    if (!task.starts_with("ps/")) continue;
    const auto then = before.find(task);
    if (then == before.end()) return {};
    const CpuTime of_step = OfStep(then->second, time, steps);
    sum.all += of_step.all;
    sum.polling += of_step.polling;
  }
  return sum;
}

std::string KeyOf(const RunSignature& signature) {
  std::string key;
  for (const Output& feed : signature.feeds) key += StrCat(feed.name(), ",");
  for (const Output& fetch : signature.fetches) key += StrCat(";", fetch.name());
  for (const Operation& target : signature.targets) key += StrCat("^", target.name());
  return key;
}

}  // namespace

std::unique_ptr<StepProfiler> StepProfiler::FromEnvironment(bool local) {
  const char* const directory = std::getenv(kVariable);
  return directory == nullptr || *directory == '\0' ? nullptr : std::make_unique<StepProfiler>(directory, local);
}

StatusOr<std::vector<Tensor>> StepProfiler::Step(const Graph& graph, const RunSignature& signature,
                                                 const std::vector<Tensor>& feeds, const Run& run,
                                                 const CpuTimes& cpu_times) {
  bool trace = false;
  const std::string key = KeyOf(signature);
  {
    MutexLock lock(mu_);
    auto [it, added] = signatures_.try_emplace(key);
    Signature& s = it->second;
    if (added) {
      s.number = static_cast<int>(signatures_.size()) - 1;
      s.fed = signature;
      for (const Tensor& feed : feeds) s.feed_shapes.push_back(feed.shape());
    }
    s.given_up = s.given_up || s.running;
    if (!s.given_up && s.stage < kDone) {
      BeginStep(&s, cpu_times);
      if (s.stage == kDone) EndTiming(graph, cpu_times, &s);
    }
    s.given_up = s.given_up || s.stage == kDone;
    s.running = !s.given_up;
    trace = s.running && s.stage == kTracing;
  }
  SessionBackend::Recording recording{.step_stats = trace, .partition_graphs = false, .metadata = ""};
  const auto start = MonotonicClock::now();
  auto result = run(trace ? &recording : nullptr);
  const double ms = std::chrono::duration<double, std::milli>(MonotonicClock::now() - start).count();
  MutexLock lock(mu_);
  Signature& s = signatures_[key];
  if (s.given_up) return result;
  s.running = false;
  s.given_up = !result.ok();
  ++s.steps;
  if (s.stage == kTracing) s.traces.push_back(std::move(recording.metadata));
  if (s.stage == kTiming) {
    s.run_ms.push_back(ms);
    constexpr int kCountEvery = 10;
    if (s.steps % kCountEvery == 0) {
      s.counted_steps = s.steps;
      s.own_then = OfThisProcess();
    }
  }
  return result;
}

bool StepProfiler::StageIsOver(const Signature& s) {
  const Stage stage = s.stage == kWarmingUp ? kWarmUp : s.stage == kTracing ? kTraced : kTimed;
  const auto lasted = MonotonicClock::now() - s.stage_start;
  return (s.steps >= stage.steps && lasted >= stage.time) || (s.steps >= stage.least && lasted > kStageTime);
}

void StepProfiler::BeginStep(Signature* s, const CpuTimes& cpu_times) {
  if (s->steps > 0 && StageIsOver(*s)) {
    if (s->stage == kTiming) {
      s->counted_steps = s->steps;
      s->own_then = OfThisProcess();
    }
    ++s->stage;
    s->steps = 0;
    if (s->stage == kTiming) {
      s->servers_before = cpu_times();
      s->own_before = OfThisProcess();
    }
  }
  const auto now = MonotonicClock::now();
  if (s->steps == 0) s->stage_start = now;
  // The last timed interval ends where the first step begins that is not timed.
  if (s->stage >= kTiming) s->starts.push_back(now);
}

void StepProfiler::EndTiming(const Graph& graph, const CpuTimes& cpu_times, Signature* s) {
  s->own = OfStep(s->own_before, s->own_then, s->counted_steps);
  s->servers = OfServers(s->servers_before, cpu_times(), s->counted_steps);
  s->stage = kDone;
  if (const Status written = Write(graph, *s); !written.ok()) {
    TB_LOG(Warning, "session") << "the profile of a step is not written: " << written.message();
  }
  s->traces.clear();
}

void StepProfiler::Finish(const Graph& graph, const CpuTimes& cpu_times) {
  MutexLock lock(mu_);
  for (auto& [key, s] : signatures_) {
    if (s.given_up || s.running || s.stage != kTiming || s.counted_steps < kTimed.least) continue;
    // What came after the last count may be something else than training.
    s.starts.resize(std::min(s.starts.size(), static_cast<size_t>(s.counted_steps)));
    EndTiming(graph, cpu_times, &s);
  }
}

Status StepProfiler::Write(const Graph& graph, const Signature& profile) {
  const std::string base = JoinPath(directory_, StrCat("step-", profile.number));
  TF_ASSIGN_OR_RETURN(const std::string def, graph.ToGraphDef());
  TF_RETURN_IF_ERROR(WriteFile(base + ".graph.pb", def));
  for (size_t i = 0; i < profile.traces.size(); ++i) {
    TF_RETURN_IF_ERROR(WriteFile(StrCat(base, ".trace-", i, ".pb"), profile.traces[i]));
  }
  std::vector<double> intervals;
  for (size_t i = 1; i < profile.starts.size(); ++i) {
    intervals.push_back(std::chrono::duration<double, std::milli>(profile.starts[i] - profile.starts[i - 1]).count());
  }
  auto fed = nlohmann::ordered_json::array();
  for (size_t i = 0; i < profile.fed.feeds.size(); ++i) {
    const Shape& shape = profile.feed_shapes[i];
    std::vector<int64_t> dims;
    for (int d = 0; d < shape.rank(); ++d) dims.push_back(shape.dim(d));
    fed.push_back({{"tensor", profile.fed.feeds[i].name()}, {"shape", dims}});
  }
  std::vector<std::string> fetches, targets;
  for (const Output& fetch : profile.fed.fetches) fetches.push_back(fetch.name());
  for (const Operation& target : profile.fed.targets) targets.push_back(target.name());
  const nlohmann::ordered_json json = {{"feeds", fed},
                                       {"fetches", fetches},
                                       {"targets", targets},
                                       {"run_ms", MeanOfUsual(profile.run_ms, intervals)},
                                       {"interval_ms", MeanOfUsual(intervals, intervals)},
                                       {"interval_parts_ms", MeansOfParts(intervals)},
                                       {"interval_sigma", SigmaOfLogarithm(intervals)},
                                       {"cpu_ms", 1e3 * profile.own.all},
                                       {"polling_ms", 1e3 * profile.own.polling},
                                       {"server_cpu_ms", 1e3 * profile.servers.all},
                                       {"server_polling_ms", 1e3 * profile.servers.polling},
                                       {"local", local_},
                                       {"traces", profile.traces.size()}};
  return WriteFileAtomically(base + ".json", JsonText(json) + "\n");
}

}  // namespace tensorbraid
