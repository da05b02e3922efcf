// Helpers that the public op functions and the gradients share.
#ifndef TENSORBRAID_OPS_BUILDER_H_
#define TENSORBRAID_OPS_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <string>
#include <vector>

#include "graph/model/node.h"
#include "graph/model/op_registry.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Returns the graph of the first operand that belongs to a graph. If no operand does, returns null and logs an error of
// the op, unless an operand is an invalid tensor: then its error has been reported already.
Graph* GraphOf(const char* op, std::initializer_list<const Operand*> operands);
// The same for a list of operands in a call at `loc`. An empty list is an error, too.
Graph* GraphOf(const char* op, const std::vector<Operand>& operands, const std::source_location& loc);

// Adds a node with one operand, or with two operands of the same dtype. A plain number takes the dtype of the other
// operand.
Output UnaryOp(const char* op, const Operand& x, const std::string& name);
Output BinaryOp(const char* op, const Operand& x, const Operand& y, const std::string& name);

// The complex conjugate; x itself if it is real. Gradients of functions of complex numbers multiply by conjugates, as
// TensorFlow's do: the gradient of f at x is dy * conj(f'(x)).
Output Conjugated(Output x);

// The two seeds of a random op.
struct SeedPair {
  int64_t seed;
  int64_t seed2;
};

// Combines the seed of the graph and the seed of the op (0: none) as tf.compat.v1.get_seed does. If only the graph has
// a seed, the number of nodes in the graph replaces the seed of the op, so that ops without a seed differ. If neither
// has one, both results are 0.
SeedPair SeedsOf(Graph& graph, int64_t seed);

// Adds a constant int32 vector.
Output ConstantVector(Graph& graph, const std::vector<int64_t>& values);

// For gradients of ops that broadcast their operands x and y. SumToOperand reduces `grad`, which has the shape of the
// result, to the shape of x, by summing over the axes along which x was broadcast. It adds no node if the static shapes
// show that x was not broadcast. SumToOperands does this for both operands.
Output SumToOperand(Output grad, Output x, Output y);
void SumToOperands(Output x, Output y, Output grad_x, Output grad_y, std::vector<Output>* input_grads);

// As SumToOperand, for an op on batches of matrices that broadcasts only the batch dimensions of x and y. Sums only
// over batch dimensions.
Output SumToBatch(Output grad, Output x, Output y);

// Returns `grads` with zeros in place of the invalid gradients, which belong to outputs that nothing depends on.
std::vector<Output> FilledGradients(const Operation& op, const std::vector<Output>& grads);

// UnaryOp and BinaryOp with default node names, for nodes in gradients.
inline Output Node1(const char* op, Output x) { return UnaryOp(op, x, ""); }
inline Output Node2(const char* op, Output x, Output y) { return BinaryOp(op, x, y, ""); }

// Gradient of an op that passes input i to output i: input i gets the gradient of output i.
Status PassGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads);
// As PassGradient, but a gradient that consists of slices (IndexedSlices) is not made dense. For ops that pass the
// value of a variable to lookups of its rows.
Status PassSlices(const Operation& op, const std::vector<Gradient>& grads, std::vector<Gradient>* input_grads);

// Gradient of an op of one operand: `gradient` gets its input x, its output y and the output's gradient g.
template <Output (*gradient)(Output x, Output y, Output g)>
Status UnaryGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = gradient(NodeOf(op)->inputs()[0], op.output(0), grads[0]);
  return OkStatus();
}

// Shape rule: all inputs and the output have the same shape.
Status SameShapes(ShapeContext& c);

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_BUILDER_H_
