// Finds programs that compute other values than the kernels of the CPU: `tensorbraid debug compare`.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_HOST_COMPARISON_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_HOST_COMPARISON_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/threads/mutex.h"
#include "executor/clusters/host_substitute.h"
#include "executor/clusters/make.h"
#include "executor/clusters/program_source.h"
#include "pjrt/device.h"
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/random_stream.h"

namespace tensorbraid {

// If this environment variable names a file, each run of a program is compared with the host. Lines are appended to the
// file, also by several processes: "compared NAME" when a program is first compared, "differs TEXT" for a difference,
// "rounding TEXT" for one that rounding can explain, and "skipped TEXT" for a program that cannot be compared.
inline constexpr const char* kCompareVariable = "TENSORBRAID_COMPARE_WITH_HOST";
// The tolerance for float32 (tensor_difference.h); default: 0.001.
inline constexpr const char* kToleranceVariable = "TENSORBRAID_COMPARE_TOLERANCE";

// What one run of a program has got and given. It holds on to the tensors, so that no program consumes them.
struct RunRecord {
  std::vector<Tensor> arguments;            // of the cluster; not valid for a variable without a value
  std::vector<RandomStream::Place> places;  // by stream of the program
  std::vector<Tensor> updates;              // by update of the program
};

// The comparisons of one cluster. Thread-safe.
class HostComparison {
 public:
  // Null if the environment asks for no comparisons.
  static std::unique_ptr<HostComparison> FromEnvironment(std::shared_ptr<const ClusterBody> body,
                                                         pjrt::PjrtDevice& device);

  // Computes the nodes of the run on the host, from the same values, and logs the first node whose value on the device
  // differs: also in a program of its own, with the inputs that it has on the host. If there is none, what differs may
  // be rounding that has grown. A difference is reported once per cluster; later runs are not compared. `ctx` has the
  // outputs of the run. Blocks. Never an error of the run.
  void Compare(const KernelContext& ctx, const Executable& executable, const RunRecord& record,
               const std::vector<RefPtr<VariableResource>>& variables, const std::vector<int>& variable_of);

 private:
  static constexpr int kMostAlone = 16;     // nodes that get a program of their own
  static constexpr int kMostRoundings = 3;  // runs in which only rounding was found
  struct HostValues;
  struct Finding {
    std::string text;  // a sentence without its end; "": nothing differs
    bool may_be_rounding = false;
  };
  HostComparison(std::string file, double tolerance, std::shared_ptr<const ClusterBody> body, pjrt::PjrtDevice& device);

  Status CreateSubstitute() TB_REQUIRES(mu_);
  StatusOr<HostValues> ComputeOnHost(const KernelContext& ctx, const pjrt::ProgramText& text, const RunRecord& record,
                                     const std::vector<RefPtr<VariableResource>>& variables,
                                     const std::vector<int>& variable_of) TB_REQUIRES(mu_);
  // A result of the program, or a variable that it has updated.
  StatusOr<Finding> FindDifference(const KernelContext& ctx, const Executable& executable, const RunRecord& record,
                                   const std::vector<int>& variable_of, const HostValues& host) const;
  // The node at fault. `seen` is the text of FindDifference.
  StatusOr<Finding> FindNode(const std::string& seen, const RunRecord& record, const std::vector<int>& variable_of,
                             const HostValues& host) const;
  // "" if the node gives the host's values in a program of its own.
  StatusOr<std::string> DifferenceAlone(const Node& node, const HostValues& host) const;
  // Runs a program of these nodes, which updates no variable and returns the wanted tensors, in host memory. `values`
  // are those of the arguments, in memory of the host or of the device.
  StatusOr<std::vector<Tensor>> RunOnDevice(const std::vector<const Node*>& nodes,
                                            const std::vector<pjrt::ProgramArgument>& arguments,
                                            const std::vector<Tensor>& values, const std::vector<Output>& wanted,
                                            const std::vector<RandomStream::Place>& places) const;
  void Report(const std::string& line) const;

  const std::string file_;
  const double tolerance_;
  const std::shared_ptr<const ClusterBody> body_;
  pjrt::PjrtDevice& device_;
  Mutex mu_;
  bool has_begun_ TB_GUARDED_BY(mu_) = false;
  bool has_ended_ TB_GUARDED_BY(mu_) = false;  // no more runs are compared
  int roundings_ TB_GUARDED_BY(mu_) = 0;
  std::unique_ptr<HostSubstitute> substitute_ TB_GUARDED_BY(mu_);
  std::map<const Node*, std::shared_ptr<Kernel>> drawing_ TB_GUARDED_BY(mu_);  // kernels with random streams
};

// The last argument of a program with random streams: key and counter (low, high) of each.
Tensor StreamsTensor(const pjrt::ProgramText& text, const std::vector<RandomStream::Place>& places);

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_HOST_COMPARISON_H_
