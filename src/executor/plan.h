// A plan: a partition (one task's part of a graph) compiled for execution. It has the nodes in arrays, numbered input
// slots, and a kernel for each node.
#ifndef TENSORBRAID_EXECUTOR_PLAN_H_
#define TENSORBRAID_EXECUTOR_PLAN_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/threads/still_wanted.h"
#include "executor/clusters/changing_values.h"
#include "graph/control_flow/control_flow.h"
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/kernel_state.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Kernels of stateful ops by node name, shared by all plans of a session on a task, so that their state survives from
// one plan to the next. Thread-safe.
class KernelCache final : public KernelStates {
 public:
  // Returns the kernel of this node and creates it on first use. If the cached kernel belongs to a node of the same
  // name with a different op, device or attributes, replaces it.
  StatusOr<std::shared_ptr<Kernel>> GetOrCreate(const Node& node, const KernelDef& def, const KernelConstruction& c);

  Tensor Save(const std::string& node) override;
  Status Restore(const std::string& node, const Tensor& state) override;
  std::map<std::string, Tensor> SaveAll() override;
  StatusOr<std::shared_ptr<Kernel>> KernelOnHost(const Node& node) override;

 private:
  struct Slot {
    std::string fingerprint;
    std::shared_ptr<Kernel> kernel;
  };
  Mutex mu_;
  std::map<std::string, Slot> kernels_ TB_GUARDED_BY(mu_);
  std::map<std::string, Tensor> restored_ TB_GUARDED_BY(mu_);  // for kernels that do not exist yet
};

// Immutable; any number of steps can run on it at once.
class Plan {
 public:
  enum class Kind : uint8_t { kSync, kAsync, kRetval };
  // Whether a kernel takes long enough to run it on another thread (see scheduling.h).
  enum class Weight : uint8_t {
    kLight,
    kHeavy,
    kAsk,  // depends on the sizes of the inputs, which are known only in a step
  };
  // How long a kernel may use its inputs. An input that the caller may change in that time is copied first.
  enum class Keeps : uint8_t {
    kNothing,  // until the kernel has run
    kMemory,   // longer, while it is sent to another task or to a device, perhaps beyond a cancelled step
    kValue,    // for later steps
  };
  // An edge to an input slot.
  struct DataEdge {
    int output;  // output number of the producer
    int slot;    // index into the step's input slots
    int node;    // number of the consumer
  };
  struct PlanNode {
    const Node* node = nullptr;
    Kernel* kernel = nullptr;
    AsyncKernel* async = nullptr;
    const NodeMemory* memory = nullptr;  // null for kRetval
    Kind kind = Kind::kSync;
    Weight weight = Weight::kLight;
    CostFn cost = nullptr;  // set if the weight is kAsk
    bool derefs = false;    // inputs must go through Dereference(): one may be a reference or is declared as one
    Keeps keeps_inputs = Keeps::kNothing;
    bool derefs_for_neighbours = false;  // for a _Send: reads references by VariableResource::ReadFrom
    int may_keep_references = 0;         // how many inputs, from the first on, may stay references
    int first_input = 0;
    int num_inputs = 0;
    int num_outputs = 0;
    int pending = 0;                         // number of incoming data and control edges
    int retval = -1;                         // for kRetval: the number of the return value
    int async_number = -1;                   // for kAsync: the index of this node in async_nodes()
    int data_begin = 0, data_end = 0;        // range of outgoing edges in data_edges, sorted by output
    int control_begin = 0, control_end = 0;  // range of outgoing edges in control_edges
  };

  // What the propagator for plans with control flow (frame_step.h) needs to know of a node: the frame in which the node
  // runs, and the numbers of the node and its slots within that frame. Because of these numbers, an iteration holds
  // state for the nodes of its own frame only.
  struct FlowNode {
    FlowKind kind = FlowKind::kNone;
    bool is_constant = false;    // for an Enter: every iteration of the loop gets its value
    bool is_transfer = false;    // a _Send or _Recv, which also runs if an input is dead; see frame_step.h
    bool may_give_dead = false;  // outputs that the kernel does not set are dead
    int frame = 0;               // the frame in which the node runs
    int child = -1;              // for an Enter: the frame that it enters
    int local = 0;               // number of the node within its frame
    int first_slot = 0;          // slot of its first input within its frame
    int num_controls = 0;
    int num_forward = 0;  // number of inputs that are not back edges
  };
  struct FlowFrame {
    uint64_t name_hash = 0;  // hash of the loop's name; equal on every task
    int parallel_iterations = 1;
    int num_nodes = 0;
    int num_slots = 0;
    int num_enters = 0;
    std::vector<int> exits;
    std::vector<int> pending;  // indexed by local number: edges that a node waits for; for a Merge, control edges only
  };
  struct Flow {
    std::vector<FlowNode> nodes;  // parallel to Plan::nodes()
    std::vector<FlowFrame> frames;
  };

  // `graph` is one task's partition, in which every node has a device. `cache` provides the kernels of stateful ops,
  // which the plan and the cache own together. Kernels that use the states of others (KernelStatesUser) keep a pointer
  // to `cache`, which must then outlive the plan. `devices` are the devices of this task, and must also outlive the
  // plan; null stands for the CPU. The plan copies tensors between devices with different memories
  // (InsertDeviceCopies). NotFound, naming the node, if a node has no kernel. InvalidArgument if the loops are
  // malformed (see AssignFrames) or a value inside a loop is fetched. Returns the error of `still_wanted`, which is
  // called before every kernel is created.
  //
  // If a device runs programs, steps add to `changing`, which may be null, and the plan has no program for the values
  // that are there already. When it becomes outdated, a plan of the same graph and the same `changing` can take its
  // place.
  static StatusOr<std::shared_ptr<const Plan>> Create(std::shared_ptr<const Graph> graph, ResourceManager* resources,
                                                      KernelCache* cache, const DeviceSet* devices = nullptr,
                                                      const StillWanted& still_wanted = nullptr,
                                                      std::shared_ptr<ChangingValues> changing = nullptr);
  // Whether steps have found values that change too often since the plan was made.
  bool is_outdated() const { return changing_ != nullptr && changing_->size() > num_changing_; }

  // The partition that the plan was created from, with what the plan has added.
  const Graph& graph() const { return *graph_; }
  const std::vector<PlanNode>& nodes() const { return nodes_; }
  const std::vector<DataEdge>& data_edges() const { return data_edges_; }
  const std::vector<int>& control_edges() const { return control_edges_; }
  // Nodes without data or control inputs, _Recv nodes first.
  const std::vector<int>& roots() const { return roots_; }
  // By node: of several ready nodes, the one with the lowest rank runs first. Empty if the order does not matter; see
  // RankBySends (send_order.h).
  const std::vector<int>& ranks() const { return ranks_; }
  // The numbers of the nodes of kind kAsync.
  const std::vector<int>& async_nodes() const { return async_nodes_; }
  int num_slots() const { return num_slots_; }
  // For each argument, the edges to its consumers; their `output` is 0.
  const std::vector<std::vector<DataEdge>>& args() const { return args_; }
  const std::vector<int>& arg_controls(int i) const { return arg_controls_[i]; }
  int num_retvals() const { return num_retvals_; }
  // The devices of this plan whose kernels may return before their work is done. A step ends when that work is done.
  const std::vector<Device*>& streams() const { return streams_; }
  // Null if no tensor of this plan can be dead. Then the propagator without frames (executor.h) suffices.
  const Flow* flow() const { return flow_.get(); }

 private:
  friend class Executor;
  Plan() = default;
  // Finds or adds the memory for a node on `device`. `output_on_device` says which outputs are in the memory of the
  // device, `output_leaves` which outputs are sent to another task (empty: none).
  const NodeMemory* MemoryFor(Device& device, const std::vector<bool>& output_on_device,
                              const std::vector<bool>& output_leaves);
  // Sets flow_. `index` maps the id of a graph node to its number in nodes_, or to -1 for an argument.
  // REQUIRES: nodes_ is complete.
  Status AddFlow(const std::vector<int>& index);

  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<ChangingValues> changing_;
  size_t num_changing_ = 0;  // of `changing_`, when the plan was made
  std::vector<Device*> streams_;
  std::vector<std::unique_ptr<const NodeMemory>> memories_;
  std::vector<std::shared_ptr<Kernel>> kernels_;
  std::vector<PlanNode> nodes_;
  std::vector<DataEdge> data_edges_;
  std::vector<int> control_edges_;
  std::vector<int> roots_;
  std::vector<int> ranks_;
  std::vector<int> async_nodes_;
  std::vector<std::vector<DataEdge>> args_;
  std::vector<std::vector<int>> arg_controls_;
  int num_slots_ = 0;
  int num_retvals_ = 0;
  std::unique_ptr<Flow> flow_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_PLAN_H_
