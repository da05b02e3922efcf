// A function for every op that a graph may use: raw_ops::MatMul adds a node of the op MatMul.
//
//   auto product = raw_ops::MatMul(a, b, {.transpose_a = true, .name = "product"});
//   auto best = raw_ops::TopKV2(product, 3);            // best.values, best.indices
//   raw_ops::AssignAddVariableOp(weights.handle(), 1.0f);  // an Operation
//
// The functions of ops.h have formulas, checks and shorter calls; use these for ops that have no such function. A
// header of one family, such as raw_ops/math.h, compiles faster than this one. docs/ops.md lists the ops of each
// family. For the meaning of an op, see its documentation in TensorFlow.
//
// Parameters come in this order: the graph, if the op can be called without inputs; the inputs; the attributes without
// default values; the options, which are the attributes with default values and the node's name, or the name alone.
// They have the names of the op's definition in lower case, with "_" after a reserved word. Attributes that follow from
// the inputs, such as T and N, are no parameters.
//
// An input is an Operand: a tensor, a variable (its value), a constant, or a number. A number takes the dtype that the
// op prescribes, or else that of the inputs with the same type attribute, or else this attribute's default. One input
// or more must belong to a graph; Const makes such a tensor of a value. Handles, variants and references must be
// tensors (Output), not variables. An input that takes several tensors is a vector of them.
//
// A function returns the op's output, or its Operation if it has none. If the op has several outputs or a list of them,
// the result has a member for each, and the operation. Mistakes are recorded as those of ops.h are (see ops/math.h).
//
// In the comments, "floats" means float16, bfloat16, float32 and float64; "ints" int8 to int64 and uint8 to uint64;
// "complex" complex64 and complex128; "reals" floats and ints; "numbers" reals and complex; "quantized" qint8, quint8,
// qint16, quint16 and qint32; "any" all of these, bool, string, resource and variant. The kernels accept these dtypes.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_H_
#define TENSORBRAID_RAW_OPS_H_

#include "tensorbraid/raw_ops/array.h"
#include "tensorbraid/raw_ops/control_flow.h"
#include "tensorbraid/raw_ops/data_flow.h"
#include "tensorbraid/raw_ops/dataset.h"
#include "tensorbraid/raw_ops/embedding.h"
#include "tensorbraid/raw_ops/image.h"
#include "tensorbraid/raw_ops/io.h"
#include "tensorbraid/raw_ops/linalg.h"
#include "tensorbraid/raw_ops/list.h"
#include "tensorbraid/raw_ops/logging.h"
#include "tensorbraid/raw_ops/math.h"
#include "tensorbraid/raw_ops/nn.h"
#include "tensorbraid/raw_ops/parsing.h"
#include "tensorbraid/raw_ops/random.h"
#include "tensorbraid/raw_ops/reduction.h"
#include "tensorbraid/raw_ops/rnn.h"
#include "tensorbraid/raw_ops/sparse.h"
#include "tensorbraid/raw_ops/state.h"
#include "tensorbraid/raw_ops/string.h"
#include "tensorbraid/raw_ops/summary.h"
#include "tensorbraid/raw_ops/training.h"

#endif  // TENSORBRAID_RAW_OPS_H_
