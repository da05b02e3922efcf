// Small random graphs: descriptions of graphs that can be built for any device, run with random inputs, and be made
// smaller.
#ifndef TENSORBRAID_TESTS_ACCELERATORS_RANDOM_GRAPH_H_
#define TENSORBRAID_TESTS_ACCELERATORS_RANDOM_GRAPH_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {

// A graph whose tensors may have the size of the batch as their first dimension. Each variable goes through states, one
// for each update of a step; control edges order the updates and the reads of the states.
struct RandomGraph {
  using Dims = std::vector<int64_t>;  // -1 is the size of the batch

  struct Value {
    DType dtype;
    Dims dims;
    // No element is larger than this.
    double bound = 2;
    // The elements are the same on each device: ops that are not continuous may use them.
    bool exact = true;
  };
  struct Source {
    int node;
    int output = 0;
  };
  struct Argument {
    std::vector<Source> sources;
    bool is_list = false;
  };
  struct Node {
    std::string op;
    std::vector<Argument> inputs = {};
    std::map<std::string, AttrValue> attrs = {};
    std::vector<Value> outputs = {};
    std::vector<int> controls = {};
    bool fed = false;  // its outputs are inputs of the graph
    bool fetched = false;
    bool on_host = false;
    bool draws = false;    // has random numbers, so two runs differ
    bool changes = false;  // depends on a variable that the step updates, or on random numbers
  };
  struct Variable {
    int node;
    bool reference;
    Value value;
    std::vector<int> reads = {};    // of each of its states
    std::vector<int> updates = {};  // one fewer
    int unordered_read = -1;        // sees one of the states
  };

  // The same graph for the same seed. Implemented in random_graph_generator.cc.
  static RandomGraph Make(uint64_t seed);
  // A tensor of numbers that depend on the seed only. Floats are multiples of 1/4.
  static Tensor RandomTensor(DType dtype, const Dims& dims, int64_t batch, uint64_t seed);

  struct Built {
    std::vector<std::vector<Output>> outputs;  // of each node
    std::vector<Operation> operations;         // of each node; not valid for inputs
    std::vector<Fetch> initializers;
  };
  // Adds the graph's nodes, those that are not on the host on `device`.
  Built Build(Graph& graph, const std::string& device) const;
  // Values for the inputs of a step.
  std::vector<Feed> Feeds(const Built& built, int step) const;
  // Whether a node uses output `output` of node `node`.
  bool Uses(int node, int output) const;
  // One line for each node.
  std::string ToString() const;

  uint64_t seed = 0;
  std::vector<Node> nodes;
  std::vector<Variable> variables;
  std::vector<int64_t> batches;  // of the steps
  int threads = 0;               // that run steps at the same time, after the others
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_ACCELERATORS_RANDOM_GRAPH_H_
