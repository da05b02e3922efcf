// What the tasks of a training do in one step of a worker.
#ifndef TENSORBRAID_PLANNER_MODEL_STEP_PROGRAM_H_
#define TENSORBRAID_PLANNER_MODEL_STEP_PROGRAM_H_

#include <string>
#include <vector>

namespace tensorbraid::planner {

// A piece of work on one task. It begins when everything that it waits for has happened.
struct Activity {
  int task = 0;        // 0: the worker; i: parameter server i - 1
  double ns = 0;       // if each of its threads has a core
  double threads = 1;  // cores that it uses
  // The variable that it updates, a number from 0 on; -1: none. Updates of one variable run one after the other.
  int variable = -1;
  // On a server: whether it is an update, or comes after one. In synchronous training it then runs once for all
  // workers.
  bool after_gradients = false;
  // An update with a gradient from the worker. In synchronous training the gradient is added to an accumulator first,
  // which takes accumulate_ns.
  bool accumulates = false;
  double accumulate_ns = 0;
  // The gradient is a list of rows, usually others than those of the other workers (tf.IndexedSlices). Their sum is as
  // long as all of them together. It is written anew with each gradient, which takes accumulate_ns for each gradient
  // that it then has, except for the first one.
  bool by_rows = false;
  // On a worker: what the activity takes in addition in synchronous training, to sort the rows of gradients.
  double sort_ns = 0;
  std::vector<int> next = {};   // activities of the same task that wait for this one
  std::vector<int> sends = {};  // transfers that begin when this one ends
  int waits_for = 0;            // activities and transfers
};

// A tensor that one task sends to another.
struct TensorTransfer {
  int from = 0, to = 0;  // tasks, as in Activity
  double bytes = 0;
  // The receiver learns the size from the sender's announcement, and asks for the tensor then. Otherwise it asks before
  // the tensor exists, so that the request costs no time.
  bool announced = false;
  std::string name = "";
  std::vector<int> next = {};  // activities of the receiver that wait for it
};

// A step in which one worker uses `servers` parameter servers. The step begins with a message to each server that has a
// part in it, and ends when all activities have ended and the worker knows it.
struct StepProgram {
  int servers = 1;
  std::vector<Activity> activities;  // of the worker: those that are ready run in this order
  std::vector<TensorTransfer> transfers;
  // What the worker does between two steps: the input pipeline, the loop of the program.
  double between_steps_ns = 0;
  // How long the worker waits in addition, without using a core.
  double idle_ns = 0;
  // The worker computes on a device of its own, such as a GPU, instead of the cores of its machine.
  bool has_device = false;
  double batch = 1;  // examples of a step
  int workers = 1;   // that make the step together (summed_step.h)

  double ComputeNs(int task) const {
    double ns = 0;
    for (const Activity& a : activities) ns += a.task == task ? a.ns : 0;
    return ns;
  }
  double BytesBetween(int from, int to) const {
    double bytes = 0;
    for (const TensorTransfer& t : transfers) bytes += t.from == from && t.to == to ? t.bytes : 0;
    return bytes;
  }
};

// Divides the work and the tensors of one parameter server evenly over `servers`, as if each large variable were
// partitioned. REQUIRES: program.servers == 1.
StepProgram DividedOver(const StepProgram& program, int servers);

// A model of which only its totals are known.
struct ModelSummary {
  std::vector<double> variable_bytes;  // in the order of the forward pass
  double step_ns = 0;                  // of one device
  double batch = 1;
  // The share of step_ns that the forward pass takes. A backward pass has about twice the arithmetic of a forward pass.
  double forward_share = 1.0 / 3;
  double update_byte_ns = 0;      // of one core of a server, for each byte of a gradient that is applied
  double accumulate_byte_ns = 0;  // for each byte that is added to an accumulator
};
// The step of such a model: one layer for each variable, all of the same time. A layer waits for its variable, and the
// backward pass, from the last layer to the first, sends each gradient when it is ready. Variable v is on server
// place[v], a number from 0 to servers - 1.
StepProgram ProgramOf(const ModelSummary& model, const std::vector<int>& place, int servers);

enum class Placement {
  kRoundRobin,  // variables take turns, as ReplicaDeviceSetter places them by itself
  kLeastBytes,  // each variable goes to the server with the fewest bytes (LeastBytesStrategy)
  kEven,        // all variables are divided evenly over the servers (DividedOver)
};
// The server of each variable. kEven places like kLeastBytes.
std::vector<int> PlaceVariables(const std::vector<double>& variable_bytes, Placement placement, int servers);

}  // namespace tensorbraid::planner

#endif  // TENSORBRAID_PLANNER_MODEL_STEP_PROGRAM_H_
