// Rows of the op table: see README.md.
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
    bool is_list = false;  // of an argument like "values: N * T"
  };
  std::vector<Input> inputs;
  std::vector<Tensor> outputs;
  std::vector<int> variables;  // inputs that are variables with these values, by reference or by handle
  std::vector<Tensor> values;  // which they have afterwards
  std::string error;           // "INVALID_ARGUMENT": it must fail so
  std::vector<int> gradient;   // of inputs, checked by finite differences
  // The gradients of inputs that TensorFlow gives. A tensor is invalid where no gradient flows.
  struct TensorFlowGradient {
    std::vector<int> inputs;
    std::vector<Tensor> grad_ys;  // of the outputs
    std::vector<Tensor> values;   // of the inputs
  };
  TensorFlowGradient tf_gradient;
  double tolerance = 0;  // relative; 0: the dtype's
};

// All rows of references/*.jsonl, or a message in *error.
std::vector<OpCase> LoadCases(std::string* error);
// The lines of a file of the references folder.
std::vector<std::string> ReferenceLines(const std::string& file);

// A node with these inputs. Empty and a mistake in g.status() when that is refused.
Operation AddCase(Graph& g, const OpCase& c, const std::vector<Output>& inputs);

// Why the tensors differ, or "".
std::string Difference(const Tensor& got, const Tensor& want, double tolerance);

// Elements of a floating tensor; of a complex one the real and imaginary parts in turn.
std::vector<double> Doubles(const Tensor& t);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_OPS_OP_CASE_H_
