// Reads the rows of the op table, the JSON files of test cases that README.md describes, and builds their nodes.
#ifndef TENSORBRAID_TESTS_OPS_OP_CASE_H_
#define TENSORBRAID_TESTS_OPS_OP_CASE_H_

#include <map>
#include <string>
#include <vector>

#include "tensorbraid/core/tensor.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

struct OpCase {
  std::string where;  // "math.jsonl:12", for messages
  std::string op;
  std::map<std::string, AttrValue> attrs;
  struct Input {
    std::vector<Tensor> tensors;
    bool is_list = false;  // whether the argument is a list, like "values: N * T"
  };
  std::vector<Input> inputs;
  std::vector<Tensor> outputs;
  std::vector<int> variables;  // the inputs that are variables, by reference or by handle; `inputs` has their values
  std::vector<Tensor> values;  // the values of these variables after the op has run
  std::string error;           // the code of the error that is expected, such as "INVALID_ARGUMENT"; "" if none is
  std::vector<int> gradient;   // the inputs whose gradients are checked by finite differences
  // The gradients of `inputs` in TensorFlow, which ours must equal. A tensor is invalid where no gradient flows.
  struct TensorFlowGradient {
    std::vector<int> inputs;
    std::vector<Tensor> grad_ys;  // of the outputs
    std::vector<Tensor> values;   // of the inputs
  };
  TensorFlowGradient tf_gradient;
  double tolerance = 0;  // relative; 0: the default of the dtype
};

// Returns all rows of references/*.jsonl. If a row is not valid, sets *error to a message.
std::vector<OpCase> LoadCases(std::string* error);
// The lines of a file of the references folder.
std::vector<std::string> ReferenceLines(const std::string& file);

// Adds the node of a case to the graph, with these inputs. If the graph refuses the node, returns an empty Operation,
// and g.status() has the error.
Operation AddCase(Graph& g, const OpCase& c, const std::vector<Output>& inputs);

// Returns why the tensors differ, or "" if they do not. `tolerance` is as in OpCase.
std::string Difference(const Tensor& got, const Tensor& want, double tolerance);

// The elements of a floating tensor as doubles. Each element of a complex tensor gives its real and its imaginary part.
std::vector<double> Doubles(const Tensor& t);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_OPS_OP_CASE_H_
