// The report of a cluster as text for a terminal.
#ifndef TENSORBRAID_CLI_STATUS_TEXT_H_
#define TENSORBRAID_CLI_STATUS_TEXT_H_

#include <string>

namespace tensorbraid {

namespace proto {
class ClusterReport;
}

// A table of the tasks, then the steps that have run for more than a second, with everything that they wait for. After
// the cluster of the asked task come, each with a headline, the clusters that sessions brought. Shares and rates of
// bytes come from the difference to `before`, an earlier report.
std::string StatusText(const proto::ClusterReport& before, const proto::ClusterReport& report);
// Whether all tasks that have not left answer, in the cluster of the asked task and in those that sessions brought. A
// task that a session has not used yet need not answer.
bool EveryTaskAnswers(const proto::ClusterReport& report);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_STATUS_TEXT_H_
