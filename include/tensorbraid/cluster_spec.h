// Which tasks make up a cluster, and where each of them listens.
#ifndef TENSORBRAID_CLUSTER_SPEC_H_
#define TENSORBRAID_CLUSTER_SPEC_H_

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensorbraid/status.h"

namespace tensorbraid {

// A set of jobs ("ps", "worker"), each a set of tasks numbered from 0 with an address "host:port". Indices may have
// gaps: a task needs to know only those tasks that it talks to. Value type; reading from several threads is safe.
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
  // Task indices as given: Sparse({{"worker", {{1, "w1:2222"}}}}).
  static ClusterSpec Sparse(std::map<std::string, Tasks> jobs);

  // What Server::Create asks of a cluster. InvalidArgument, naming the task, for: no task at all, a job name that is
  // not a letter followed by letters, digits and '_', a negative index, an address that is not host:port, two tasks at
  // one address. Port 0, "any free port", may stand more than once.
  Status Validate() const;

  bool empty() const { return jobs_.empty(); }
  // Names of the jobs, sorted.
  std::vector<std::string> jobs() const;
  // 0 for a job that the cluster does not have.
  int num_tasks(const std::string& job) const;
  // Ascending; empty for a job that the cluster does not have.
  std::vector<int> task_indices(const std::string& job) const;
  // InvalidArgument names the jobs, or the indices, that exist.
  StatusOr<std::string> task_address(const std::string& job, int index) const;

  // As JSON: {"ps":["ps0:2222"],"worker":{"1":"w1:2222"}}; a job with gaps is written with its indices.
  std::string ToString() const;

  // TensorFlow's ClusterDef message, in protobuf's binary form.
  std::string ToClusterDef() const;
  // InvalidArgument for bytes that are no ClusterDef or name a job twice. The cluster is not validated further.
  static StatusOr<ClusterSpec> FromClusterDef(std::string_view bytes);

  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;

 private:
  std::map<std::string, Tasks> jobs_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_SPEC_H_
