// Mathematics on tensors.
//
// Every function adds one node (some a few) to the graph of its operands, at least one of which must be a tensor or a
// variable of a graph; numbers take the dtype of the other operand. Two operands are broadcast as in NumPy: aligned at
// their last dimensions, where sizes must be the same or 1. Mistakes (dtypes that differ, shapes that do not fit) are
// kept in Graph::status(); what comes back is then invalid, and so is all that is made from it.
//
// "real" below is every integer and floating dtype, "floating" is float16, bfloat16, float32 and float64. 16-bit floats
// are computed in float32 and rounded. Integers wrap round. Gradients exist for floating dtypes.
#ifndef TENSORBRAID_MATH_OPS_H_
#define TENSORBRAID_MATH_OPS_H_

#include <initializer_list>
#include <string>
#include <vector>

#include "tensorbraid/graph.h"

namespace tensorbraid {

// x + y, broadcast. Real. Gradient: g and g.
Output Add(const Operand& x, const Operand& y, const std::string& name = "");
// x - y, broadcast. Real. Gradient: g and -g.
Output Sub(const Operand& x, const Operand& y, const std::string& name = "");
// x * y, broadcast. Real. Gradient: g y and g x.
Output Mul(const Operand& x, const Operand& y, const std::string& name = "");
// x / y, broadcast. Floating: IEEE division; integers: truncated towards zero, InvalidArgument when run with y = 0.
// Gradient: g / y and -g x / y².
Output Div(const Operand& x, const Operand& y, const std::string& name = "");
// x / y, and 0 where y is 0. Floating. Gradient as Div, 0 where y is 0.
Output DivNoNan(const Operand& x, const Operand& y, const std::string& name = "");
// floor(x / y). Real; InvalidArgument when run with an integer y = 0. Not differentiable.
Output FloorDiv(const Operand& x, const Operand& y, const std::string& name = "");
// x - y floor(x / y), the remainder with the sign of y. Real; errors as FloorDiv. Gradient: g and -g floor(x / y).
Output FloorMod(const Operand& x, const Operand& y, const std::string& name = "");
// x to the power of y. Floating, int8 to int64; InvalidArgument when run with an integer y < 0.
// Gradient: g y x^(y-1), and g x^y log x where x > 0, else 0.
Output Pow(const Operand& x, const Operand& y, const std::string& name = "");
// (x - y)². Floating, int32, int64. Gradient: 2 g (x - y) and its negation.
Output SquaredDifference(const Operand& x, const Operand& y, const std::string& name = "");
// The larger; NaN if either is. Real. The gradient goes to the larger, of equals to x.
Output Maximum(const Operand& x, const Operand& y, const std::string& name = "");
// The smaller; NaN if either is. Real. The gradient goes to the smaller, of equals to x.
Output Minimum(const Operand& x, const Operand& y, const std::string& name = "");

Output operator+(const Operand& x, const Operand& y);  // Add
Output operator-(const Operand& x, const Operand& y);  // Sub
Output operator*(const Operand& x, const Operand& y);  // Mul
Output operator/(const Operand& x, const Operand& y);  // Div
Output operator-(const Operand& x);                    // Neg

// Functions of each element; the result has x's shape and dtype.
Output Neg(const Operand& x, const std::string& name = "");         // -x; floating and signed. Gradient: -g.
Output Abs(const Operand& x, const std::string& name = "");         // |x|; floating and signed. Gradient: g sign(x).
Output Sign(const Operand& x, const std::string& name = "");        // -1, 0 or 1; floating and signed. Gradient: 0.
Output Reciprocal(const Operand& x, const std::string& name = "");  // 1 / x; floating. Gradient: -g / x².
Output Square(const Operand& x, const std::string& name = "");      // x²; real. Gradient: 2 g x.
Output Sqrt(const Operand& x, const std::string& name = "");        // √x; floating. Gradient: g / (2√x).
Output Rsqrt(const Operand& x, const std::string& name = "");       // 1 / √x; floating. Gradient: -g x^(-3/2) / 2.
Output Exp(const Operand& x, const std::string& name = "");         // e^x; floating. Gradient: g e^x.
Output Expm1(const Operand& x, const std::string& name = "");       // e^x - 1, exact near 0; floating. Gradient: g e^x.
Output Log(const Operand& x, const std::string& name = "");         // ln x; floating. Gradient: g / x.
Output Log1p(const Operand& x, const std::string& name = "");       // ln(1 + x), exact near 0; floating. g / (1 + x).
Output Sin(const Operand& x, const std::string& name = "");         // floating. Gradient: g cos x.
Output Cos(const Operand& x, const std::string& name = "");         // floating. Gradient: -g sin x.
Output Tanh(const Operand& x, const std::string& name = "");        // floating. Gradient: g (1 - tanh² x).
Output Sigmoid(const Operand& x, const std::string& name = "");     // s = 1 / (1 + e^-x); floating. g s (1 - s).
Output Floor(const Operand& x, const std::string& name = "");       // floating. Not differentiable.
Output Ceil(const Operand& x, const std::string& name = "");        // floating. Not differentiable.
Output Round(const Operand& x, const std::string& name = "");     // ties to even; floating, signed. Not differentiable.
Output IsNan(const Operand& x, const std::string& name = "");     // bool of floating
Output IsInf(const Operand& x, const std::string& name = "");     // bool of floating
Output IsFinite(const Operand& x, const std::string& name = "");  // bool of floating

// Comparisons, broadcast, bool. Equal and NotEqual: real, bool, string; the others: real. Not differentiable.
Output Equal(const Operand& x, const Operand& y, const std::string& name = "");
Output NotEqual(const Operand& x, const Operand& y, const std::string& name = "");
Output Less(const Operand& x, const Operand& y, const std::string& name = "");
Output LessEqual(const Operand& x, const Operand& y, const std::string& name = "");
Output Greater(const Operand& x, const Operand& y, const std::string& name = "");
Output GreaterEqual(const Operand& x, const Operand& y, const std::string& name = "");

// Logic on bools, broadcast. Not differentiable.
Output LogicalAnd(const Operand& x, const Operand& y, const std::string& name = "");
Output LogicalOr(const Operand& x, const Operand& y, const std::string& name = "");
Output LogicalNot(const Operand& x, const std::string& name = "");

// `t` where the bool `condition` holds, `e` elsewhere; all three broadcast. Any dtype but resource.
// Gradient: g where the element was taken, 0 elsewhere.
Output Select(const Operand& condition, const Operand& t, const Operand& e, const std::string& name = "");

// x converted: floats to integers truncate, anything but 0 is true. Real and bool. A cast to the dtype x has already is
// x itself. Gradient between floating dtypes: g cast back; none otherwise.
Output Cast(const Operand& x, DType dtype, const std::string& name = "");

// The sum of tensors of one shape and dtype; at least one. Real. Gradient: g to each.
Output AddN(const std::vector<Output>& values, const std::string& name = "");

struct MatMulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  std::string name = {};
};
// The product of two matrices, [m, k] times [k, n] after the transposes asked for. Floating, int32, int64.
// Gradient: g bᵀ and aᵀ g. InvalidArgument unless both have rank 2 and the sizes fit.
Output MatMul(const Operand& a, const Operand& b, const MatMulOptions& options = {});

struct BatchMatMulOptions {
  bool adj_x = false;
  bool adj_y = false;
  std::string name = {};
};
// Products of the matrices in the last two dimensions; the dimensions before them are broadcast. Dtypes and gradient
// as MatMul.
Output BatchMatMul(const Operand& x, const Operand& y, const BatchMatMulOptions& options = {});

// The axes of a reduction: numbers (negative ones count from the last), a tensor of them, or nothing for all.
class Axes {
 public:
  Axes() = default;                   // all
  Axes(int axis) : numbers_{axis} {}  // NOLINT: converts
  Axes(std::initializer_list<int64_t> axes) : numbers_(axes) {}
  Axes(std::vector<int64_t> axes) : numbers_(std::move(axes)) {}  // NOLINT: converts
  Axes(Output axes) : tensor_(axes), is_tensor_(true) {}          // NOLINT: converts; int32 or int64, scalar or vector
  // The int32 vector (or the tensor given) for a reduction of x.
  Output ToOutput(Graph& graph, Output x) const;

 private:
  std::vector<int64_t> numbers_;
  Output tensor_;
  bool is_tensor_ = false;
};

struct ReduceOptions {
  bool keep_dims = false;  // reduced axes stay, with size 1
  std::string name = {};
};
// Reductions of x over axes. InvalidArgument for axes that x does not have, or named twice.
// Real. Gradient: g, spread over what was summed.
Output ReduceSum(const Operand& x, const Axes& axes = {}, const ReduceOptions& options = {});
// Real; integers are divided as integers; NaN of nothing. Gradient: g / n.
Output ReduceMean(const Operand& x, const Axes& axes = {}, const ReduceOptions& options = {});
// Real; 1 of nothing. Gradient: g times the product of the others.
Output ReduceProd(const Operand& x, const Axes& axes = {}, const ReduceOptions& options = {});
// Real; the lowest value of nothing. The gradient is shared equally by the elements that are the maximum.
Output ReduceMax(const Operand& x, const Axes& axes = {}, const ReduceOptions& options = {});
// Real; the highest value of nothing. Gradient as ReduceMax.
Output ReduceMin(const Operand& x, const Axes& axes = {}, const ReduceOptions& options = {});
// Bool. Not differentiable.
Output ReduceAll(const Operand& x, const Axes& axes = {}, const ReduceOptions& options = {});
Output ReduceAny(const Operand& x, const Axes& axes = {}, const ReduceOptions& options = {});

// Where along `axis` the largest (smallest) element is: the first of equals. The axis disappears. Real and bool in,
// int32 or int64 out. InvalidArgument for an axis that x does not have, or of size 0. Not differentiable.
Output ArgMax(const Operand& x, int axis = 0, DType dtype = kInt64, const std::string& name = "");
Output ArgMin(const Operand& x, int axis = 0, DType dtype = kInt64, const std::string& name = "");

// The vector start, start + delta, ... before limit. Operands of one real dtype; scalars. Not differentiable.
// InvalidArgument when run with delta 0, or one that leads away from limit.
Output Range(Graph& graph, const Operand& start, const Operand& limit, const Operand& delta = 1,
             const std::string& name = "");

// out[s] is the sum of the rows of `data` whose id is s, for s in [0, num_segments). The shape of segment_ids (int32 or
// int64) is a prefix of data's; rows with a negative id are left out. Real. Gradient: the row of g that it went to.
Output UnsortedSegmentSum(const Operand& data, const Operand& segment_ids, const Operand& num_segments,
                          const std::string& name = "");

}  // namespace tensorbraid

#endif  // TENSORBRAID_MATH_OPS_H_
