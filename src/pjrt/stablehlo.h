// Writes programs as StableHLO, the language that PJRT plugins compile: text in MLIR's generic form, with ops of
// StableHLO 1.0 only, so that plugins old and new read it.
#ifndef TENSORBRAID_PJRT_STABLEHLO_H_
#define TENSORBRAID_PJRT_STABLEHLO_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensorbraid/core/dtype.h"
#include "tensorbraid/core/shape.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid::stablehlo {

// The type of a tensor.
struct TensorType {
  TensorType(DType dtype, const Shape& shape = {}) : dtype(dtype), shape(shape) {}  // NOLINT: converts
  DType dtype;
  Shape shape;  // fully defined
};

// A tensor of a program: what an op computes, or a parameter. A handle, valid for the builder that made it.
struct Value {
  int id = -1;
  DType dtype = DType::kInvalid;
  Shape shape;      // fully defined
  int result = -1;  // of an op with several results: the number of this one
  bool valid() const { return id >= 0; }
  int rank() const { return shape.rank(); }
  TensorType type() const { return {dtype, shape}; }
};

// Whether tensors of this dtype can be in a program: bool, integers, floating and complex numbers.
bool HasType(DType dtype);

// "tensor<2x3xf32>".
std::string TypeText(DType dtype, const Shape& shape);
// "array<i64: 1, 2>".
std::string ArrayText(std::span<const int64_t> numbers);

// Writes the ops of one program. The text depends only on the calls, so equal calls give equal text. Not thread-safe.
//
// Unless a function says otherwise, operands have equal dtypes and shapes. The functions check nothing: a caller that
// breaks a rule gets a text that the plugin refuses. Numbers of dimensions must exist.
class Builder {
 public:
  // A new value that is a parameter of the program if Module says so.
  Value Parameter(DType dtype, const Shape& shape) { return {next_id_++, dtype, shape}; }

  // Writes `%n = "stablehlo.NAME"(operands) <{attributes}> (regions) : types`, for ops that have no function below. A
  // region is what Region returns.
  Value Op(std::string_view name, const std::vector<Value>& operands, DType dtype, const Shape& shape,
           std::string_view attributes = "", const std::vector<std::string>& regions = {});
  // The same for an op with several results.
  std::vector<Value> Ops(std::string_view name, const std::vector<Value>& operands,
                         const std::vector<TensorType>& results, std::string_view attributes = "",
                         const std::vector<std::string>& regions = {});
  // The text of a region: a function of tensors of these types. `body` writes its ops, also by this builder, and
  // returns its results.
  using Body = std::function<std::vector<Value>(const std::vector<Value>&)>;
  std::string Region(const std::vector<TensorType>& parameters, const Body& body);

  // REQUIRES: HasType(value.dtype()), and the elements are in host memory.
  Value Constant(const Tensor& value);
  // `number`, converted to the dtype, in each element.
  Value Splat(DType dtype, double number, const Shape& shape = {});
  // The least (-infinity, false) and the greatest value of a dtype that is ordered.
  Value Lowest(DType dtype, const Shape& shape = {});
  Value Highest(DType dtype, const Shape& shape = {});
  // The indices along dimension `dim`.
  Value Iota(DType dtype, const Shape& shape, int dim);

  // An elementwise op that has no attributes: "exponential", "add".
  Value Unary(std::string_view name, const Value& x) { return Op(name, {x}, x.dtype, x.shape); }
  Value Binary(std::string_view name, const Value& x, const Value& y) { return Op(name, {x, y}, x.dtype, x.shape); }
  // `direction` is EQ, NE, GE, GT, LE or LT; the result is bool.
  Value Compare(std::string_view direction, const Value& x, const Value& y);
  // `condition` is bool, of the shape of the others or a scalar.
  Value Select(const Value& condition, const Value& if_true, const Value& if_false);
  // Converts as C++ does; returns x itself if it has this dtype.
  Value Convert(const Value& x, DType dtype);

  // Returns x itself if it has this shape. `shape` has as many elements as x.
  Value Reshape(const Value& x, const Shape& shape);
  // Dimension i of x becomes dimension dims[i] of the result; a dimension of size 1 is repeated.
  Value BroadcastInDim(const Value& x, const Shape& shape, const std::vector<int64_t>& dims);
  // Broadcasts as NumPy does, from the last dimension backwards. Returns x itself if it has this shape.
  Value BroadcastTo(const Value& x, const Shape& shape);
  // Dimension i of the result is dimension permutation[i] of x.
  Value Transpose(const Value& x, const std::vector<int64_t>& permutation);
  // Returns the only part itself if there is one.
  Value Concatenate(const std::vector<Value>& parts, int dim);
  // Elements starts[i], starts[i] + strides[i], ... below limits[i] of dimension i; strides are positive.
  Value Slice(const Value& x, const std::vector<int64_t>& starts, const std::vector<int64_t>& limits,
              const std::vector<int64_t>& strides);
  // `low` and `high` are the numbers of elements to add at the ends of each dimension, negative to remove some;
  // `interior` is the number to add between two elements. `value` is a scalar.
  Value Pad(const Value& x, const Value& value, const std::vector<int64_t>& low, const std::vector<int64_t>& high,
            const std::vector<int64_t>& interior);
  Value Reverse(const Value& x, const std::vector<int64_t>& dims);

  // Combines the elements along `dims`, which the result does not have, from `initial`, a scalar. `combine` writes a
  // function of two scalars.
  using Combine = std::function<Value(const Value&, const Value&)>;
  Value Reduce(const Value& x, const Value& initial, const std::vector<int64_t>& dims, const Combine& combine);

  // Replaces the tensors of `state` by what `body` makes of them, as long as `condition` returns true, a bool scalar.
  // Both are functions of the state, and use no other values of the program.
  std::vector<Value> While(const std::vector<Value>& state,
                           const std::function<Value(const std::vector<Value>&)>& condition, const Body& body);
  // Sorts along `dim` all tensors in the order of the first, and keeps the order of equal elements. `comes_before`
  // writes a function of two scalars of the first tensor.
  std::vector<Value> Sort(const std::vector<Value>& tensors, int dim, const Combine& comes_before);

  // Products of elements, summed over the contracting dimensions. The result has the batch dimensions, then the free
  // dimensions of x, then those of y. It has the dtype of the operands unless `dtype` says otherwise.
  struct DotDimensions {
    std::vector<int64_t> x_batch = {}, y_batch = {}, x_contracting = {}, y_contracting = {};
  };
  Value Dot(const Value& x, const Value& y, const DotDimensions& dims, DType dtype = DType::kInvalid);

  // The program: a module with the function "main" of `parameters`, which returns `results`. Result aliases[i].second
  // takes over the memory of parameter aliases[i].first, unless a run forbids it; both have one dtype and shape.
  std::string Module(const std::vector<Value>& parameters, const std::vector<Value>& results,
                     const std::vector<std::pair<int, int>>& aliases = {}) const;

 private:
  int next_id_ = 0;
  std::string text_;  // the ops so far, of the innermost region that is being written
};

}  // namespace tensorbraid::stablehlo

#endif  // TENSORBRAID_PJRT_STABLEHLO_H_
