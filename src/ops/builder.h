// What the public functions of ops are made of, and the pieces their gradients share.
#ifndef TENSORBRAID_OPS_BUILDER_H_
#define TENSORBRAID_OPS_BUILDER_H_

#include <initializer_list>
#include <string>
#include <vector>

#include "graph/op_registry.h"
#include "tensorbraid/graph.h"

namespace tensorbraid {

// The graph of the first operand that has one. Null if none has, which is logged unless an operand is an invalid tensor
// (its mistake is known already).
Graph* GraphOf(const char* op, std::initializer_list<const Operand*> operands);

// A node of one operand, or of two of the same dtype, where numbers take the dtype of the other side.
Output UnaryOp(const char* op, const Operand& x, const std::string& name);
Output BinaryOp(const char* op, const Operand& x, const Operand& y, const std::string& name);

// An int32 vector, as a node.
Output ConstantVector(Graph& graph, const std::vector<int64_t>& values);

// In a gradient: what flows to operands x and y of a broadcast op, from gradients of the result's shape. Each is summed
// over the axes along which its operand was spread. Where the static shapes tell, this costs nothing.
Output SumToOperand(Output grad, Output x, Output y);
void SumToOperands(Output x, Output y, Output grad_x, Output grad_y, std::vector<Output>* input_grads);

// The names that a node of `op` gives its own one- or two-operand nodes in gradients.
inline Output Node1(const char* op, Output x) { return UnaryOp(op, x, ""); }
inline Output Node2(const char* op, Output x, Output y) { return BinaryOp(op, x, y, ""); }

// Shape rule: all inputs have the shape of the output.
Status SameShapes(ShapeContext& c);

// The parts of the mathematical family.
void RegisterUnaryOps(OpRegistry& r);       // math_unary.cc
void RegisterBinaryOps(OpRegistry& r);      // math_binary.cc
void RegisterMatrixOps(OpRegistry& r);      // math_matrix.cc
void RegisterSelectOps(OpRegistry& r);      // math_select.cc
void RegisterSpecialOps(OpRegistry& r);     // math_special.cc
void RegisterSequenceOps(OpRegistry& r);    // math_sequence.cc
void RegisterSegmentOps(OpRegistry& r);     // reduction_segment.cc
void RegisterScanOps(OpRegistry& r);        // reduction_scan.cc
void RegisterActivationOps(OpRegistry& r);  // nn_activation.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_BUILDER_H_
