// The report of a task as a short text, for the launcher.
#ifndef TENSORBRAID_CLUSTER_STATUS_REPORT_TEXT_H_
#define TENSORBRAID_CLUSTER_STATUS_REPORT_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

namespace proto {
class TaskReport;
}

// What Kubernetes keeps of the last message of a container.
inline constexpr size_t kMaxReportText = 4096;

// Returns what the table of a launcher needs of the report: state, times, steps, and the bytes received from each task.
// The text is one line of ASCII with at most kMaxReportText bytes, and has a checksum. A task that has received from
// hundreds of others would need more; these bytes are then rounded, to 1 in 4,000 at most. Returns "" if even that is
// too long, which takes more than a thousand tasks.
std::string ReportToText(const proto::TaskReport& report);

// Finds and reads such a text, which may be a part of a longer one. NotFound if `text` has none, and DataLoss if it is
// damaged: a cut text gives no report, and not a part of one.
StatusOr<proto::TaskReport> ReportFromText(std::string_view text);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_STATUS_REPORT_TEXT_H_
