// Runs the nodes of a cluster on the host, by the kernels of the CPU, while there is no program for them.
#ifndef TENSORBRAID_EXECUTOR_CLUSTERS_HOST_SUBSTITUTE_H_
#define TENSORBRAID_EXECUTOR_CLUSTERS_HOST_SUBSTITUTE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "executor/clusters/host_variables.h"
#include "executor/clusters/make.h"
#include "executor/plan.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {

// When clusters run on the host. The environment variable TENSORBRAID_HOST_SUBSTITUTE chooses.
enum class HostSubstituteUse : uint8_t {
  kFurther,  // "further", the default: while the program of a further signature is compiled
  kAlways,   // "always": instead of programs; for comparisons with the CPU
  kNever,    // "never": every step waits for its programs
};
inline constexpr const char* kHostSubstituteVariable = "TENSORBRAID_HOST_SUBSTITUTE";
// What the environment says now. A wrong value counts as the default; the log then tells the choices, once.
HostSubstituteUse HostSubstituteFromEnvironment();

// A kernel of the CPU for a node of a cluster, of its own. Errors of making it.
StatusOr<std::shared_ptr<Kernel>> MakeKernelOfHost(const Node& node);

// The nodes of a cluster with a kernel of the CPU for each. Immutable; several steps may run it at once.
class HostSubstitute {
 public:
  // Gives the kernel of a node that draws random numbers: for Run, the one whose state the session keeps.
  using KernelOfSession = std::function<StatusOr<std::shared_ptr<Kernel>>(const Node& node)>;
  // Errors of making the kernels, about the node. Unimplemented if a kernel is asynchronous: such a kernel could wait
  // for a step that waits for this one's variables.
  static StatusOr<std::unique_ptr<HostSubstitute>> Create(std::shared_ptr<const ClusterBody> body,
                                                          const KernelOfSession& kernel_of_session);

  // Does what the program would do in one run of the `_Cluster` node. `variables` are those of the cluster, each once;
  // `variable_of` has the number of its variable for each argument, -1 if the argument is none.
  //
  // The nodes run one after the other, in the order in which they take effect. The variables are locked from before the
  // first node until they have their new values, and get these after all nodes have succeeded. After an error they are
  // as before. The error is that of the node's kernel, the reason of a cancellation, or Aborted for a variable that is
  // lost. Blocks.
  Status Run(KernelContext& ctx, const std::vector<RefPtr<VariableResource>>& variables,
             const std::vector<int>& variable_of) const;

  // Called after each node, with its outputs.
  using Observer = std::function<void(const Node& node, const std::vector<Entry>& outputs)>;
  // Computes the nodes without any effect: with variables of its own, and no outputs of `ctx`. `arguments` are those of
  // the cluster, in host memory; those that are variables are not used. The nodes run as in Run. Blocks.
  Status Replay(const KernelContext& ctx, const std::vector<Tensor>& arguments, const PrivateVariables& variables,
                const std::vector<int>& variable_of, const Observer& observer) const;

 private:
  // A value has a slot from when it is made until its last use.
  static constexpr int kNoSlot = -1;
  struct Input {
    int slot;
    bool is_last;  // no later use
  };
  struct NodeRun {
    Plan::PlanNode node;  // for Dereference (scheduling.h)
    std::shared_ptr<Kernel> kernel;
    bool changes_variables;
    std::vector<Input> inputs;
    std::vector<int> outputs;  // slots; kNoSlot: not used
  };

  explicit HostSubstitute(std::shared_ptr<const ClusterBody> body) : body_(std::move(body)) {}
  Status AddNode(const Node& node, const KernelOfSession& kernel_of_session);
  void AssignSlots();
  // Runs the nodes, whose arguments are in `slots`. Marks the variables that change.
  Status RunNodes(const KernelContext& ctx, const PrivateVariables& variables, std::vector<Entry>& slots,
                  std::vector<bool>& changed, const Observer& observer) const;
  // Runs the kernel for `cluster`, the context of the `_Cluster` node.
  static Status RunNode(const NodeRun& run, std::vector<Entry> inputs, const KernelContext& cluster,
                        std::vector<Entry>& slots, const Observer& observer);
  Status SetOutputs(KernelContext& ctx, const std::vector<Entry>& slots) const;

  const std::shared_ptr<const ClusterBody> body_;
  std::vector<NodeRun> runs_;
  std::vector<int> results_;  // slots
  int num_slots_ = 0;         // the first are those of the arguments
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_CLUSTERS_HOST_SUBSTITUTE_H_
