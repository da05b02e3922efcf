// Mathematical ops on tensors.
//
// Every function adds one node (some add a few) to the graph of its operands. At least one operand must be a tensor or
// a variable of a graph; numbers take the dtype of the other operand. Two operands are broadcast as in NumPy: they are
// aligned at their last dimensions, where sizes must be equal or 1. Mistakes (dtypes that differ, shapes that do not
// fit) are recorded in Graph::status(); the function then returns an invalid Output, and so does every op that uses it.
//
// A note such as "Real." or "Floating, int32, int64." lists the dtypes that the operands may have. "Real" means every
// integer and floating dtype; "floating" means float16, bfloat16, float32 and float64. In the notes on gradients, g is
// the gradient with respect to the op's result; "g and -g" means g for the first operand and -g for the second. 16-bit
// floats are computed in float32 and rounded. Integers wrap around. Arithmetic, and functions that TensorFlow defines
// for complex numbers, take complex64 and complex128 as well. Gradients exist for floating and complex dtypes. Where a
// formula below multiplies g by a complex derivative, the gradient is g times the conjugate of this derivative, as in
// TensorFlow.
#ifndef TENSORBRAID_OPS_MATH_H_
#define TENSORBRAID_OPS_MATH_H_

#include <initializer_list>
#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// x + y, broadcast. Real. Gradient: g and g.
Output Add(const Operand& x, const Operand& y, const std::string& name = "");
// x - y, broadcast. Real. Gradient: g and -g.
Output Sub(const Operand& x, const Operand& y, const std::string& name = "");
// x * y, broadcast. Real. Gradient: g y and g x.
Output Mul(const Operand& x, const Operand& y, const std::string& name = "");
// x / y, broadcast. Real. Floating dtypes: IEEE division. Integers: truncated towards zero; a step with y = 0 fails
// with InvalidArgument. Gradient: g / y and -g x / y².
Output Div(const Operand& x, const Operand& y, const std::string& name = "");
// x / y, and 0 where y is 0. Floating. Gradient as for Div, and 0 where y is 0.
Output DivNoNan(const Operand& x, const Operand& y, const std::string& name = "");
// floor(x / y). Real; a step with an integer y = 0 fails with InvalidArgument. Not differentiable.
Output FloorDiv(const Operand& x, const Operand& y, const std::string& name = "");
// x - y floor(x / y): the remainder with the sign of y. Real; errors as for FloorDiv. Gradient: g and -g floor(x / y).
Output FloorMod(const Operand& x, const Operand& y, const std::string& name = "");
// x to the power of y. Floating, int8 to int64; a step with an integer y < 0 fails with InvalidArgument.
// Gradient: g y x^(y-1), and g x^y log x where x > 0, else 0.
Output Pow(const Operand& x, const Operand& y, const std::string& name = "");
// (x - y)². Floating, int32, int64. Gradient: 2 g (x - y) and its negation.
Output SquaredDifference(const Operand& x, const Operand& y, const std::string& name = "");
// The larger of x and y; NaN if either is NaN. Real. The gradient goes to the larger operand, to x if they are equal.
Output Maximum(const Operand& x, const Operand& y, const std::string& name = "");
// The smaller of x and y; NaN if either is NaN. Real. The gradient goes to the smaller operand, to x if they are equal.
Output Minimum(const Operand& x, const Operand& y, const std::string& name = "");

Output operator+(const Operand& x, const Operand& y);  // Add
Output operator-(const Operand& x, const Operand& y);  // Sub
Output operator*(const Operand& x, const Operand& y);  // Mul
Output operator/(const Operand& x, const Operand& y);  // Div
Output operator-(const Operand& x);                    // Neg
Output operator%(const Operand& x, const Operand& y);  // FloorMod
// Comparisons; x == y compares handles, so use Equal and NotEqual for tensors.
Output operator<(const Operand& x, const Operand& y);   // Less
Output operator<=(const Operand& x, const Operand& y);  // LessEqual
Output operator>(const Operand& x, const Operand& y);   // Greater
Output operator>=(const Operand& x, const Operand& y);  // GreaterEqual

// Element-wise functions. The result has the shape and dtype of x.
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
// ln(1 + x), exact near 0; floating. Gradient: g / (1 + x).
Output Log1p(const Operand& x, const std::string& name = "");
Output Sin(const Operand& x, const std::string& name = "");      // floating. Gradient: g cos x.
Output Cos(const Operand& x, const std::string& name = "");      // floating. Gradient: -g sin x.
Output Tanh(const Operand& x, const std::string& name = "");     // floating. Gradient: g (1 - tanh² x).
Output Sigmoid(const Operand& x, const std::string& name = "");  // s = 1 / (1 + e^-x), floating. Gradient: g s (1 - s).
Output Floor(const Operand& x, const std::string& name = "");    // floating. Not differentiable.
Output Ceil(const Operand& x, const std::string& name = "");     // floating. Not differentiable.
Output Round(const Operand& x, const std::string& name = "");    // ties to even; floating, signed. Not differentiable.
Output IsNan(const Operand& x, const std::string& name = "");    // the result is bool; floating
Output IsInf(const Operand& x, const std::string& name = "");    // the result is bool; floating
Output IsFinite(const Operand& x, const std::string& name = "");  // the result is bool; floating

// Comparisons, broadcast; the result is bool. Equal and NotEqual take real, bool and string; the others take real. Not
// differentiable.
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

// The elements of `t` where the bool `condition` is true, and of `e` elsewhere. All three are broadcast. Any dtype
// except resource. Gradient: g for the operand that the element came from, 0 for the other.
Output Select(const Operand& condition, const Operand& t, const Operand& e, const std::string& name = "");

// x converted to `dtype`. Floats become integers by truncation; as bool, every value except 0 is true. Real and bool.
// If x has the dtype already, x itself is returned. Gradient: g cast back between floating dtypes, otherwise none.
Output Cast(const Operand& x, DType dtype, const std::string& name = "");

// The sum of one or more tensors of equal shape and dtype. Real. Gradient: g to each. An empty list is a mistake that
// is logged, since there is no graph that could record it. The same is true of every function that takes a list of
// operands.
Output AddN(const std::vector<Output>& values, const std::string& name = "",
            std::source_location loc = std::source_location::current());

struct MatMulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  std::string name = {};
};
// The product of two matrices: [m, k] times [k, n], after the optional transposes. Floating, int32, int64.
// Gradient: g bᵀ and aᵀ g. InvalidArgument unless both have rank 2 and their sizes match.
Output MatMul(const Operand& a, const Operand& b, const MatMulOptions& options = {});

struct BatchMatMulOptions {
  bool adj_x = false;
  bool adj_y = false;
  std::string name = {};
};
// The products of the matrices in the last two dimensions; the dimensions before them are broadcast. Dtypes and
// gradient as for MatMul.
Output BatchMatMul(const Operand& x, const Operand& y, const BatchMatMulOptions& options = {});

// The sum of products that `equation` describes in Einstein's notation: "ij,jk->ik" is a product of matrices. Each
// letter is a dimension; "..." stands for dimensions that are broadcast. One or two operands of one dtype: floating,
// complex, int32, int64.
Output Einsum(const std::string& equation, const std::vector<Operand>& inputs, const std::string& name = "",
              std::source_location loc = std::source_location::current());

// The axes of a reduction: numbers (negative ones count from the last axis), a tensor of numbers, or All(). An empty
// list reduces no axis.
class Axes {
 public:
  static Axes All() {
    Axes axes({});
    axes.is_all_ = true;
    return axes;
  }
  Axes(int axis) : numbers_{axis} {}  // NOLINT: converts
  Axes(std::initializer_list<int64_t> axes) : numbers_(axes) {}
  Axes(std::vector<int64_t> axes) : numbers_(std::move(axes)) {}  // NOLINT: converts
  Axes(Output axes) : tensor_(axes), is_tensor_(true) {}          // NOLINT: converts; int32 or int64, scalar or vector
  // The axes of a reduction of x as an int32 vector, or the tensor that was given.
  Output ToOutput(Graph& graph, Output x) const;

 private:
  std::vector<int64_t> numbers_;
  Output tensor_;
  bool is_tensor_ = false;
  bool is_all_ = false;
};

struct ReduceOptions {
  bool keep_dims = false;  // reduced axes stay, with size 1
  std::string name = {};
};
// Reductions of x over axes. InvalidArgument for an axis that x does not have or that occurs twice.
//
// The sum. Real; 0 if there are no elements. Gradient: g, repeated along the reduced axes.
Output ReduceSum(const Operand& x, const Axes& axes = Axes::All(), const ReduceOptions& options = {});
// The mean. Real; integers use integer division; NaN if there are no elements. Gradient of a mean of n elements: g / n.
Output ReduceMean(const Operand& x, const Axes& axes = Axes::All(), const ReduceOptions& options = {});
// The product. Real; 1 if there are no elements. Gradient: g times the product of the other elements.
Output ReduceProd(const Operand& x, const Axes& axes = Axes::All(), const ReduceOptions& options = {});
// The maximum. Real; the dtype's lowest value if there are no elements. The elements equal to the maximum share the
// gradient equally.
Output ReduceMax(const Operand& x, const Axes& axes = Axes::All(), const ReduceOptions& options = {});
// The minimum. Real; the dtype's highest value if there are no elements. Gradient as for ReduceMax.
Output ReduceMin(const Operand& x, const Axes& axes = Axes::All(), const ReduceOptions& options = {});
// Logical "and" and "or". Bool. Not differentiable.
Output ReduceAll(const Operand& x, const Axes& axes = Axes::All(), const ReduceOptions& options = {});
Output ReduceAny(const Operand& x, const Axes& axes = Axes::All(), const ReduceOptions& options = {});

// The position along `axis` of the largest (smallest) element; of equal elements, the first. Removes the axis. x is
// real or bool; `dtype`, the dtype of the result, is int32 or int64. InvalidArgument for an axis that x does not have
// or that has size 0. Not differentiable.
Output ArgMax(const Operand& x, int axis = 0, DType dtype = kInt64, const std::string& name = "");
Output ArgMin(const Operand& x, int axis = 0, DType dtype = kInt64, const std::string& name = "");

struct CumsumOptions {
  bool exclusive = false;  // element i is the sum of the elements before i only
  bool reverse = false;    // sums from the end
  std::string name = {};
};
// The running sums of x along `axis`. x may have any dtype of numbers. Gradient: the running sums of g in the other
// direction. InvalidArgument for an axis that x does not have.
Output Cumsum(const Operand& x, int axis = 0, const CumsumOptions& options = {});

// The vector start, start + delta, ... up to but not including limit. The operands are scalars of one real dtype. Not
// differentiable. A step fails with InvalidArgument if delta is 0 or points away from limit.
Output Range(Graph& graph, const Operand& start, const Operand& limit, const Operand& delta = 1,
             const std::string& name = "");

// out[s] is the sum of the rows of `data` whose id is s, for s in [0, num_segments). The shape of segment_ids (int32 or
// int64) is a prefix of the shape of `data`. Rows with a negative id are ignored. Real. Gradient: for each row, the row
// of g to which it was added.
Output UnsortedSegmentSum(const Operand& data, const Operand& segment_ids, const Operand& num_segments,
                          const std::string& name = "");
// The same with the product, the maximum or the minimum of the rows. A segment without rows is 1 for the product, the
// dtype's lowest value for the maximum, and its highest value for the minimum.
Output UnsortedSegmentProd(const Operand& data, const Operand& segment_ids, const Operand& num_segments,
                           const std::string& name = "");
Output UnsortedSegmentMax(const Operand& data, const Operand& segment_ids, const Operand& num_segments,
                          const std::string& name = "");
Output UnsortedSegmentMin(const Operand& data, const Operand& segment_ids, const Operand& num_segments,
                          const std::string& name = "");

// out[s] is the sum (mean, product, maximum, minimum) of the rows of `data` whose id is s. If there are no such rows,
// out[s] is 1 for the product and 0 for the others. segment_ids is a vector (int32 or int64) with an id for each row,
// sorted; the result has one row more than the last id. A step fails with InvalidArgument if an id is negative or the
// ids are not sorted.
Output SegmentSum(const Operand& data, const Operand& segment_ids, const std::string& name = "");
Output SegmentMean(const Operand& data, const Operand& segment_ids, const std::string& name = "");
Output SegmentProd(const Operand& data, const Operand& segment_ids, const std::string& name = "");
Output SegmentMax(const Operand& data, const Operand& segment_ids, const std::string& name = "");
Output SegmentMin(const Operand& data, const Operand& segment_ids, const std::string& name = "");

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_MATH_H_
