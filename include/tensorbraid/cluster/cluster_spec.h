// The tasks of a cluster and the addresses on which they listen.
#ifndef TENSORBRAID_CLUSTER_CLUSTER_SPEC_H_
#define TENSORBRAID_CLUSTER_CLUSTER_SPEC_H_

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// A set of jobs ("ps", "worker"). Each job is a set of tasks, numbered from 0, with addresses "host:port". Indices may
// have gaps: a task needs to know only the tasks that it talks to. Value type; reading from several threads is safe.
//
//   ClusterSpec cluster({{"ps", {"ps0:2222"}}, {"worker", {"w0:2222", "w1:2222"}}});
class ClusterSpec {
 public:
  using Tasks = std::map<int, std::string>;

  ClusterSpec() = default;
  // The n-th address of a job is its task n.
  ClusterSpec(std::initializer_list<std::pair<const std::string, std::vector<std::string>>> jobs)
      : ClusterSpec(std::map<std::string, std::vector<std::string>>(jobs)) {}
  ClusterSpec(const std::map<std::string, std::vector<std::string>>& jobs);  // NOLINT
  // Makes a cluster whose task indices are given: Sparse({{"worker", {{1, "w1:2222"}}}}).
  static ClusterSpec Sparse(std::map<std::string, Tasks> jobs);

  // Checks what Server::Create requires. Returns InvalidArgument, naming the task, for an empty cluster, a job name
  // that is not a letter followed by letters, digits and '_', a negative index, an address that is not host:port, or
  // two tasks with the same address. Port 0 ("any free port") may occur more than once.
  Status Validate() const;

  bool empty() const { return jobs_.empty(); }
  // Names of the jobs, sorted.
  std::vector<std::string> jobs() const;
  // 0 for a job that the cluster does not have.
  int num_tasks(const std::string& job) const;
  // Ascending; empty for a job that the cluster does not have.
  std::vector<int> task_indices(const std::string& job) const;
  // InvalidArgument, listing the jobs or indices that exist, when the task is not in the cluster.
  StatusOr<std::string> task_address(const std::string& job, int index) const;

  // JSON: {"ps":["ps0:2222"],"worker":{"1":"w1:2222"}}. A job whose indices have gaps is written as an object keyed by
  // index.
  std::string ToString() const;

  // TensorFlow's ClusterDef message, in protobuf's binary form.
  std::string ToClusterDef() const;
  // InvalidArgument when `bytes` is not a ClusterDef or names a job twice. Does not call Validate.
  static StatusOr<ClusterSpec> FromClusterDef(std::string_view bytes);

  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;

 private:
  std::map<std::string, Tasks> jobs_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_CLUSTER_SPEC_H_
