#include "simulation/fault_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using std::chrono::microseconds;

std::string Name(const FaultyTask& task) { return StrCat(task.job, "/", task.index); }

std::string Milliseconds(microseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", static_cast<double>(time.count()) / 1000);
  return text;
}

// Draws from a generator in the same way on all systems, unlike the distributions of the standard library.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15u + 1) {}
  uint64_t Below(uint64_t n) { return random_() % n; }
  // Short times are as likely as long ones: the logarithm is distributed evenly.
  microseconds Time(double least_us, double most_us) {
    const double share = static_cast<double>(Below(1 << 20)) / (1 << 20);
    return microseconds(std::llround(least_us * std::pow(most_us / least_us, share)));
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace

std::string Fault::ToString() const {
  const std::string from = StrCat(" at ", Milliseconds(at));
  const std::string during = StrCat(from, ", for ", Milliseconds(lasts));
  const std::string again = StrCat(", and starts again after ", Milliseconds(lasts));
  switch (kind) {
    case Kind::kKill:
      return StrCat(Name(task), " is killed", from, again);
    case Kind::kKillAtMessage:
      return StrCat(Name(task), " is killed before the message ", n, " after ", Milliseconds(at), again);
    case Kind::kKillAtChange:
      return StrCat("the task that makes the change ", n, " of a file after ", Milliseconds(at), " is killed", again);
    case Kind::kStop:
      return StrCat(Name(task), " is stopped", during);
    case Kind::kCut:
      return StrCat("no message passes between ", Name(task), " and ", Name(other), during);
    case Kind::kCutOneWay:
      return StrCat("no message passes from ", Name(task), " to ", Name(other), during);
    case Kind::kSlow:
      return StrCat("messages from ", Name(task), " to ", Name(other), " are slow", during);
    case Kind::kLoseLinks:
      return StrCat("links break", during);
    case Kind::kConnects:
      return StrCat("connections come late or twice", during);
    case Kind::kClockJump:
      return StrCat("the wall clock of ", Name(task), " jumps by ", static_cast<int64_t>(n) - 500, " s", from);
    case Kind::kDiskFails:
      return StrCat("the disk fails", during);
    case Kind::kDiskFull:
      return StrCat("the disk is full", during);
    case Kind::kDiskSlow:
      return StrCat("the disk is slow", during);
    case Kind::kPowerLoss:
      return StrCat("the power fails", from, ", and all tasks start again after ", Milliseconds(lasts));
  }
  return "";
}

FaultPlan DrawFaultPlan(uint64_t seed, const FaultPlanOptions& options) {
  Draw draw(seed);
  const auto any_task = [&]() -> FaultyTask {
    const auto all = static_cast<uint64_t>(options.num_ps + options.num_workers);
    const int i = static_cast<int>(draw.Below(all));
    return i < options.num_ps ? FaultyTask{"ps", i} : FaultyTask{"worker", i - options.num_ps};
  };
  FaultPlan plan(1 + draw.Below(static_cast<uint64_t>(options.max_faults)));
  for (Fault& fault : plan) {
    fault.kind = options.kinds[draw.Below(options.kinds.size())];
    fault.task = any_task();
    do {
      fault.other = any_task();
    } while (fault.other == fault.task);
    fault.at = microseconds(draw.Below(static_cast<uint64_t>(microseconds(options.during).count())));
    fault.lasts = draw.Time(500, 5'000'000);
    fault.n = 1 + draw.Below(fault.kind == Fault::Kind::kClockJump ? 1000 : 100);
  }
  std::sort(plan.begin(), plan.end(), [](const Fault& a, const Fault& b) { return a.at < b.at; });
  return plan;
}

std::string ToString(const FaultPlan& plan) {
  std::string text;
  for (size_t i = 0; i < plan.size(); ++i) text += StrCat("  ", i, ": ", plan[i].ToString(), "\n");
  return text;
}

FaultPlan Select(const FaultPlan& plan, const std::vector<size_t>& numbers) {
  FaultPlan some;
  for (const size_t i : numbers) {
    if (i < plan.size()) some.push_back(plan[i]);
  }
  return some;
}

std::vector<size_t> ShortestFailingPlan(const FaultPlan& plan, const std::function<bool(const FaultPlan&)>& fails) {
  std::vector<size_t> kept(plan.size());
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = i;
  // Tries to remove halves first, then quarters and so on. Ends when no single fault can be removed.
  for (size_t size = std::max<size_t>(1, kept.size() / 2);;) {
    bool removed = false;
    for (size_t begin = 0; begin < kept.size();) {
      std::vector<size_t> rest = kept;
      const size_t end = std::min(begin + size, rest.size());
      rest.erase(rest.begin() + static_cast<int64_t>(begin), rest.begin() + static_cast<int64_t>(end));
      if (fails(Select(plan, rest))) {
        kept = std::move(rest);
        removed = true;
      } else {
        begin = end;
      }
    }
    if (size == 1 && !removed) return kept;
    size = std::max<size_t>(1, size / 2);
  }
}

}  // namespace tensorbraid
