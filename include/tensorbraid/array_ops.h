// Ops that make, shape, join, cut and rearrange tensors. Semantics are TensorFlow's, where they are named.
//
// All take the name of the node last ("": the op's name). After a mistake an invalid Output comes back and the graph
// keeps the mistake (Graph::status); invalid operands give invalid outputs without another message.
#ifndef TENSORBRAID_ARRAY_OPS_H_
#define TENSORBRAID_ARRAY_OPS_H_

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "tensorbraid/graph.h"
#include "tensorbraid/variable.h"

namespace tensorbraid {

// A list of integers that an op takes as a tensor: a shape, a permutation, axes, positions. Written as a literal
// ({-1, 784}), a shape, a vector, or a tensor of the graph (int32 or int64).
class Integers {
 public:
  Integers(std::initializer_list<int64_t> values) : values_(values) {}                  // NOLINT
  Integers(std::vector<int64_t> values) : values_(std::move(values)) {}                 // NOLINT
  Integers(const Shape& shape) : values_(shape.dims().begin(), shape.dims().end()) {}   // NOLINT
  Integers(Output tensor) : tensor_(tensor), is_tensor_(true) {}                        // NOLINT
  Integers(Tensor tensor, std::source_location loc = std::source_location::current());  // NOLINT

  bool is_tensor() const { return is_tensor_; }
  // Null for literals.
  Graph* graph() const { return tensor_.graph(); }
  // kInvalid for literals, which take any.
  DType dtype() const { return tensor_.dtype(); }
  // The tensor; a literal becomes a constant vector named `name`, of `type` (kInvalid: int32 if it fits, else int64).
  Output ToOutput(Graph& graph, const std::string& name, DType type = DType::kInvalid) const;

 private:
  std::vector<int64_t> values_;
  Output tensor_;
  bool is_tensor_ = false;
};

// --- Making tensors ---

// A tensor that must be fed. -1 in `shape` stands for any size. Running without a feed is InvalidArgument.
Output Placeholder(Graph& graph, DType dtype, const Shape& shape = Shape::Unknown(), const std::string& name = "",
                   std::source_location loc = std::source_location::current());
// A tensor that may be fed, else is `input`. The shape of `input` must fit `shape`. Gradient: passes.
Output PlaceholderWithDefault(const Operand& input, const Shape& shape, const std::string& name = "");
// A constant.
Output Const(Graph& graph, Tensor value, const std::string& name = "",
             std::source_location loc = std::source_location::current());
// A tensor of shape `dims` with `value` (a scalar) everywhere. Gradient: the sum, to `value`.
Output Fill(Graph& graph, const Integers& dims, const Operand& value, const std::string& name = "");
Output Zeros(Graph& graph, const Shape& shape, DType dtype = kFloat32, const std::string& name = "zeros");
Output Ones(Graph& graph, const Shape& shape, DType dtype = kFloat32, const std::string& name = "ones");
// Zeros (ones) of the shape and dtype of `x`. No gradient flows.
Output ZerosLike(const Operand& x, const std::string& name = "");
Output OnesLike(const Operand& x, const std::string& name = "");

struct OneHotOptions {
  std::optional<Operand> on_value = {};   // 1
  std::optional<Operand> off_value = {};  // 0
  int64_t axis = -1;                      // the new dimension; -1: the last
  DType dtype = kFloat32;                 // when neither value says it
};
// output[..., j, ...] = on_value where j == indices[...], else off_value: a new dimension of size `depth` at `axis`.
// An index outside [0, depth) gives only off_value. indices: uint8, int8, int32 or int64; any dtype out. No gradient.
Output OneHot(const Operand& indices, int32_t depth, const OneHotOptions& options = {}, const std::string& name = "");

// --- Passing on ---

// `input` itself. Gradient: passes.
Output Identity(const Operand& input, const std::string& name = "");
std::vector<Output> IdentityN(const std::vector<Operand>& input, const std::string& name = "");
// `input` itself; gradients stop here.
Output StopGradient(const Operand& input, const std::string& name = "");
// `input` itself; asking for a gradient through it is an error with `message`.
Output PreventGradient(const Operand& input, const std::string& message, const std::string& name = "");
// Does nothing; something to depend upon.
Operation NoOp(Graph& graph, const std::string& name = "");
// An operation that is done when all of `operations` are. Those of one device are gathered there first, so that one
// edge per device crosses to the device of the group.
Operation Group(Graph& graph, const std::vector<Operation>& operations, const std::string& name = "group_deps");
// `output` itself, after the operations have run.
Output WithDependencies(const std::vector<Operation>& operations, Output output, const std::string& name = "");

// --- Shapes ---

// The shape as a vector of `out_type` (int32 or int64); its length is the rank. No gradient.
Output ShapeOf(const Operand& input, DType out_type = kInt32, const std::string& name = "");
std::vector<Output> ShapeN(const std::vector<Operand>& input, DType out_type = kInt32, const std::string& name = "");
// The number of elements, a scalar. No gradient.
Output Size(const Operand& input, DType out_type = kInt32, const std::string& name = "");
// The number of dimensions, an int32 scalar. No gradient.
Output Rank(const Operand& input, const std::string& name = "");
// The same elements in another shape; one size may be -1 and follows from the others. InvalidArgument when the number
// of elements differs. Gradient: reshaped back. Shares the buffer.
Output Reshape(const Operand& tensor, const Integers& shape, const std::string& name = "");
// A new dimension of size 1 before `axis` (negative: from the end, -1 after the last). Gradient: reshaped back.
Output ExpandDims(const Operand& input, const Operand& axis, const std::string& name = "");
// Without the dimensions of size 1, or without those named, which must have size 1. Gradient: reshaped back.
Output Squeeze(const Operand& input, const std::vector<int64_t>& axes = {}, const std::string& name = "");
// `input` repeated to `shape`, as NumPy broadcasts. Gradient: summed over what was repeated.
Output BroadcastTo(const Operand& input, const Integers& shape, const std::string& name = "");

// --- Joining and cutting ---

// One tensor after the other along dimension `axis` (may be negative); the other sizes must agree.
// Gradient: cut apart again.
Output Concat(const std::vector<Operand>& values, int64_t axis, const std::string& name = "concat");
// `num` equal parts along `axis`; the size must be a multiple of `num`. Gradient: joined again.
std::vector<Output> Split(const Operand& value, int num, int64_t axis = 0, const std::string& name = "split");
// Parts of the given sizes along `axis`, one of which may be -1. Gradient: joined again.
std::vector<Output> SplitV(const Operand& value, const std::vector<int64_t>& sizes, int64_t axis = 0,
                           const std::string& name = "split");
// Tensors of one shape stacked along a new dimension `axis`. Gradient: Unstack.
Output Stack(const std::vector<Operand>& values, int64_t axis = 0, const std::string& name = "stack");
// The slices along `axis`, one dimension less each. `num`: their number, if the shape does not tell.
// Gradient: Stack.
std::vector<Output> Unstack(const Operand& value, int64_t axis = 0, int num = -1, const std::string& name = "unstack");
// input[begin[0] : begin[0] + size[0], ...]; a size of -1 goes to the end. InvalidArgument when out of bounds.
// Gradient: padded with zeros.
Output Slice(const Operand& input, const Integers& begin, const Integers& size, const std::string& name = "");

// Bit i of each mask is for entry i of begin, end and strides.
struct StridedSliceOptions {
  int64_t begin_mask = 0;        // from the first (last, for a negative stride) element on
  int64_t end_mask = 0;          // to the last (first)
  int64_t ellipsis_mask = 0;     // here stand as many full dimensions as are not named; one bit at most
  int64_t new_axis_mask = 0;     // a new dimension of size 1; begin, end and stride are ignored
  int64_t shrink_axis_mask = 0;  // only element begin; the dimension goes
};
// NumPy's input[begin : end : stride, ...]. Gradient: StridedSliceGrad.
Output StridedSlice(const Operand& input, const Integers& begin, const Integers& end, const Integers& strides,
                    const StridedSliceOptions& options = {}, const std::string& name = "");

// --- Rearranging ---

// `input` repeated multiples[i] times along dimension i. Gradient: summed over the repetitions.
Output Tile(const Operand& input, const Integers& multiples, const std::string& name = "");
// Dimension i of the result is dimension perm[i] of x. Gradient: transposed back.
Output Transpose(const Operand& x, const Integers& perm, const std::string& name = "transpose");
// All dimensions in reverse order.
Output Transpose(const Operand& x);
// y[x[i]] = i. InvalidArgument unless x is a permutation of 0, 1, ... No gradient.
Output InvertPermutation(const Operand& x, const std::string& name = "");
// The elements of these dimensions in reverse order. Gradient: reversed.
Output Reverse(const Operand& tensor, const Integers& axes, const std::string& name = "");
// Zeros (PadV2: `constant`) around: paddings is [rank, 2], before and after each dimension. Gradient: sliced.
Output Pad(const Operand& tensor, const Operand& paddings, const std::string& name = "");
Output PadV2(const Operand& tensor, const Operand& paddings, const Operand& constant, const std::string& name = "");

// --- Looking up ---

// Slices of `params` along dimension `axis`: output[a..., i..., b...] = params[a..., indices[i...], b...].
// InvalidArgument for an index out of range. Gradient: added up at the indices, dense.
Output Gather(const Operand& params, const Operand& indices, int64_t axis = 0, const std::string& name = "");
// output[i...] = params[indices[i..., :]]: the last dimension of indices is a position in the first dimensions.
Output GatherNd(const Operand& params, const Operand& indices, const std::string& name = "");
// The positions of the elements that are true (not zero), [number, rank] int64, in row-major order. No gradient.
Output Where(const Operand& condition, const std::string& name = "");

}  // namespace tensorbraid

#endif  // TENSORBRAID_ARRAY_OPS_H_
