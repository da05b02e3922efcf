// A partition made ready to run: nodes in arrays, numbered slots for inputs, kernels chosen.
#ifndef TENSORBRAID_EXECUTOR_PLAN_H_
#define TENSORBRAID_EXECUTOR_PLAN_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/control_flow.h"
#include "runtime/kernel.h"
#include "tensorbraid/graph.h"

namespace tensorbraid {

// Kernels whose state must survive from one plan to the next: those of stateful ops, by node name. One per session and
// task. Thread-safe.
class KernelCache {
 public:
  // The kernel of this node, made on first use. A node of the same name with another op or other attributes replaces
  // it.
  StatusOr<std::shared_ptr<Kernel>> GetOrCreate(const Node& node, const KernelDef& def, const KernelConstruction& c);

 private:
  struct Slot {
    std::string fingerprint;
    std::shared_ptr<Kernel> kernel;
  };
  Mutex mu_;
  std::map<std::string, Slot> kernels_ TB_GUARDED_BY(mu_);
};

// Immutable; any number of steps run on it at once.
class Plan {
 public:
  enum class Kind : uint8_t { kSync, kAsync, kRetval };
  // An edge to an input slot.
  struct DataEdge {
    int output;  // of the producer
    int slot;    // of the step's input slots
    int node;    // the consumer
  };
  struct PlanNode {
    const Node* node = nullptr;
    Kernel* kernel = nullptr;
    AsyncKernel* async = nullptr;
    Kind kind = Kind::kSync;
    bool expensive = false;
    bool derefs = false;           // some input may be a reference where the kernel wants a value, or a value for one
    bool reads_reference = false;  // but not input 0, which the kernel takes either way
    int first_input = 0;
    int num_inputs = 0;
    int num_outputs = 0;
    int pending = 0;                         // data and control edges that come in
    int retval = -1;                         // its number, for kRetval
    int data_begin = 0, data_end = 0;        // out edges, in data_edges, by rising output
    int control_begin = 0, control_end = 0;  // out edges, in control_edges
  };

  // What the propagator with frames wants to know, for plans with control flow: which frame each node runs in, and
  // numbers for nodes and slots within their frame, so that an iteration holds the state of its own nodes only.
  struct FlowNode {
    FlowKind kind = FlowKind::kNone;
    bool is_constant = false;    // an Enter whose value every iteration sees
    bool is_transfer = false;    // _Send or _Recv: runs with dead inputs too, to tell the other side
    bool may_give_dead = false;  // an output that the kernel does not set is dead
    int frame = 0;               // where it runs
    int child = -1;              // of an Enter: where it leads
    int local = 0;               // its number among the frame's nodes
    int first_slot = 0;          // of its inputs, among the frame's slots
    int num_controls = 0;
    int num_forward = 0;  // inputs that are no back edges
  };
  struct FlowFrame {
    uint64_t name_hash = 0;  // the same on every task
    int parallel_iterations = 1;
    int num_nodes = 0;
    int num_slots = 0;
    int num_enters = 0;
    std::vector<int> exits;
    std::vector<int> pending;  // by local number: what a node waits for; of a Merge, its control edges
  };
  struct Flow {
    std::vector<FlowNode> nodes;  // as nodes()
    std::vector<FlowFrame> frames;
  };

  // `graph` is one task's partition; every node has its device. `cache` outlives the plan's steps.
  // NotFound when a node has no kernel, naming it. InvalidArgument when frames are mixed up; see AssignFrames.
  static StatusOr<std::shared_ptr<const Plan>> Create(std::unique_ptr<Graph> graph, ResourceManager* resources,
                                                      KernelCache* cache);

  // What it was made of.
  const Graph& graph() const { return *graph_; }
  const std::vector<PlanNode>& nodes() const { return nodes_; }
  const std::vector<DataEdge>& data_edges() const { return data_edges_; }
  const std::vector<int>& control_edges() const { return control_edges_; }
  // Nodes that nothing comes into, Recv first.
  const std::vector<int>& roots() const { return roots_; }
  int num_slots() const { return num_slots_; }
  // Where argument i goes: edges whose `output` means nothing.
  const std::vector<std::vector<DataEdge>>& args() const { return args_; }
  const std::vector<int>& arg_controls(int i) const { return arg_controls_[i]; }
  int num_retvals() const { return num_retvals_; }
  // Null when nothing can be dead here: the simple propagator will do.
  const Flow* flow() const { return flow_.get(); }

 private:
  friend class Executor;
  Plan() = default;
  // REQUIRES: nodes_ is complete. `index` is the number of a graph's node, by id, -1 for arguments.
  Status AddFlow(const std::vector<int>& index);

  std::unique_ptr<Graph> graph_;
  std::vector<std::shared_ptr<Kernel>> kernels_;
  std::vector<PlanNode> nodes_;
  std::vector<DataEdge> data_edges_;
  std::vector<int> control_edges_;
  std::vector<int> roots_;
  std::vector<std::vector<DataEdge>> args_;
  std::vector<std::vector<int>> arg_controls_;
  int num_slots_ = 0;
  int num_retvals_ = 0;
  std::unique_ptr<Flow> flow_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_EXECUTOR_PLAN_H_
