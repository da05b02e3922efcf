// Measures the overhead of a step: an assign_add in this process whose value is fetched.
#include <chrono>

#include "cli/bench/bench.h"
#include "core/text/strings.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;

template <typename Step>
StatusOr<double> MedianMicroseconds(int steps, const Step& step) {
  std::vector<double> times;
  times.reserve(steps);
  for (int i = 0; i < steps; ++i) {
    const auto start = Clock::now();
    TF_RETURN_IF_ERROR(step().status());
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return MedianOf(times);
}

}  // namespace

StatusOr<BenchResults> BenchStep(const BenchOptions& options) {
  const int steps = options.steps > 0 ? options.steps : options.smoke ? 1000 : 50'000;
  Graph g;
  Variable v(g, {}, Zeros(), {.name = "v"});
  const Operation add = v.AssignAdd(1.0f);
  Output value;
  {
    auto after = g.ControlDependencies({add});
    value = v.Read();
  }
  const Operation init = GlobalVariablesInitializer(g);
  TF_ASSIGN_OR_RETURN(const auto session, Session::Create(g));
  TF_RETURN_IF_ERROR(session->Run({init}).status());
  // The usual way: the fetches are passed to each Run.
  TF_ASSIGN_OR_RETURN(const double plain, MedianMicroseconds(steps, [&] { return session->Run({value}); }));
  TF_ASSIGN_OR_RETURN(const auto prepared, session->Prepare({value}));
  TF_ASSIGN_OR_RETURN(const double by_handle, MedianMicroseconds(steps, [&] { return prepared.Run(); }));
  TF_ASSIGN_OR_RETURN(const auto last, session->Run({v}));
  if (last[0].scalar<float>() != 2.0f * steps) {
    return Internal("the variable is ", last[0].scalar<float>(), " after ", 2 * steps, " steps that each add 1");
  }
  return BenchResults{{{"bench", "step"}, {"median_us", plain}, {"prepared_median_us", by_handle}}};
}

}  // namespace tensorbraid
