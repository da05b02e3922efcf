// The report of a cluster as metrics for Prometheus.
#ifndef TENSORBRAID_CLUSTER_STATUS_METRICS_H_
#define TENSORBRAID_CLUSTER_STATUS_METRICS_H_

#include <string>

namespace tensorbraid {

namespace proto {
class ClusterReport;
}

// The Content-Type of MetricsText.
inline constexpr char kMetricsContentType[] = "text/plain; version=0.0.4; charset=utf-8";
// Returns the metrics in Prometheus's text format; docs/operations.md lists them. Samples have the label "task", except
// the global step's. The metrics of clusters that sessions brought have other names and also the label "cluster".
std::string MetricsText(const proto::ClusterReport& report);
// The report as JSON, with the field names of report.proto.
std::string ReportJson(const proto::ClusterReport& report);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_STATUS_METRICS_H_
