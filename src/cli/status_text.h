// Turns the report of a cluster into text for a terminal.
#ifndef TENSORBRAID_CLI_STATUS_TEXT_H_
#define TENSORBRAID_CLI_STATUS_TEXT_H_

#include <string>

namespace tensorbraid {

namespace proto {
class ClusterReport;
}

// A table of the tasks, then the steps that have run for more than a second, with everything that they wait for. The
// cluster of the asked task comes first. The clusters that sessions brought follow, each with a headline. Shares and
// rates of bytes are computed from the difference to `before`, an earlier report.
std::string StatusText(const proto::ClusterReport& before, const proto::ClusterReport& report);
// Whether all tasks that have not left answer, in the cluster of the asked task and in those that sessions brought. A
// task that a session has not used yet need not answer.
bool EveryTaskAnswers(const proto::ClusterReport& report);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_STATUS_TEXT_H_
