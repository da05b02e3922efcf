#include "launch/launcher/restart_policy.h"

#include <charconv>
#include <string_view>

#include "core/text/strings.h"
#include "launch/launcher/job_names.h"

namespace tensorbraid {
namespace {

// The exit code of a program that would fail again after a restart, because of a wrong flag or an error in the graph.
constexpr int kMistake = 2;

}  // namespace

StatusOr<RestartPolicy> ParseRestartPolicy(const std::string& text) {
  constexpr std::string_view kOnFailure = "on-failure";
  if (text == "no") return RestartPolicy{};
  if (text == kOnFailure) return RestartPolicy{.max_restarts = -1};
  if (text.starts_with("on-failure:")) {
    const char* first = text.data() + kOnFailure.size() + 1;
    RestartPolicy policy;
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), policy.max_restarts);
    if (error == std::errc() && end == text.data() + text.size() && policy.max_restarts >= 0) return policy;
  }
  return InvalidArgument("--restart=", text,
                         " must be no, on-failure, or on-failure:N, where N is the largest number of",
                         " restarts of each task; for example on-failure:5");
}

std::string JobIsOver(const std::string& ended_server) {
  return StrCat(ended_server, " has ended with 0, which ends the training, so no task is started again");
}

std::optional<std::string> ObstacleToRestart(const RestartPolicy& policy, const TaskFailure& failure) {
  const TaskEnd& end = failure.end;
  if (policy.max_restarts == 0) return "";
  if (end.lost_for_good) {
    return "its machine does not come back to this job, and there is no other one (--spare_nodes), so it is not "
           "started again";
  }
  if (end.lost.empty() && end.process.signal == 0 && end.process.exit_code == kMistake) {
    return "exit code 2 means an error in its arguments or its program, so it is not started again";
  }
  // A task that begins now would wait for ever for the server, which has seen the end of the work.
  if (!failure.ended_server.empty() && IsInCluster(failure.job)) return JobIsOver(failure.ended_server);
  if (failure.job == "ps" && !failure.any_worker_unfinished) return "no worker is left, so it is not started again";
  if (policy.max_restarts > 0 && failure.restarts >= policy.max_restarts) {
    return StrCat("it has been started again ", policy.max_restarts, policy.max_restarts == 1 ? " time" : " times",
                  ", which is the limit");
  }
  return std::nullopt;
}

}  // namespace tensorbraid
