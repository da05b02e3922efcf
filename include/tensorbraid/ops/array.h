// Ops that create, reshape, join, split and rearrange tensors. They do what TensorFlow's ops of the same names do.
//
// `name` is the node's name; "" stands for the op's name. After a mistake a function returns an invalid Output and the
// graph records the mistake (Graph::status). Invalid operands yield invalid outputs without a further message. In the
// notes on gradients, g is the gradient with respect to the op's result.
#ifndef TENSORBRAID_OPS_ARRAY_H_
#define TENSORBRAID_OPS_ARRAY_H_

#include <initializer_list>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"

namespace tensorbraid {

// A list of integers that an op takes as a tensor: a shape, a permutation, axes or positions. Can be written as
// values (a literal {-1, 784}, a shape, a vector, or a constant), or as a tensor of the graph (int32 or int64).
class Integers {
 public:
  Integers(std::initializer_list<int64_t> values) : values_(values) {}                  // NOLINT
  Integers(std::vector<int64_t> values) : values_(std::move(values)) {}                 // NOLINT
  Integers(const Shape& shape) : values_(shape.dims().begin(), shape.dims().end()) {}   // NOLINT
  Integers(Output tensor) : tensor_(tensor), is_tensor_(true) {}                        // NOLINT
  Integers(Tensor tensor, std::source_location loc = std::source_location::current());  // NOLINT

  bool is_tensor() const { return is_tensor_; }
  // Null if this list was given as values.
  Graph* graph() const { return tensor_.graph(); }
  // kInvalid if this list was given as values, which can become int32 or int64.
  DType dtype() const { return tensor_.dtype(); }
  // Returns the tensor. Values become a constant vector named `name`, of `type`; kInvalid stands for int32 if all
  // values fit, else int64.
  Output ToOutput(Graph& graph, const std::string& name, DType type = DType::kInvalid) const;

 private:
  std::vector<int64_t> values_;
  Output tensor_;
  bool is_tensor_ = false;
};

// --- Creating tensors ---

// A tensor whose value must be fed. -1 in `shape` stands for any size. A run that needs the placeholder without a feed
// for it fails with InvalidArgument.
Output Placeholder(Graph& graph, DType dtype, const Shape& shape = Shape::Unknown(), const std::string& name = "",
                   std::source_location loc = std::source_location::current());
// A tensor that has the value of `input` unless it is fed. The shape of `input` must be compatible with `shape`.
// Gradient: passes through unchanged.
Output PlaceholderWithDefault(const Operand& input, const Shape& shape, const std::string& name = "");
// A constant.
Output Const(Graph& graph, Tensor value, const std::string& name = "",
             std::source_location loc = std::source_location::current());
// A tensor of shape `dims` in which every element is `value` (a scalar). Gradient for `value`: the sum of g.
Output Fill(Graph& graph, const Integers& dims, const Operand& value, const std::string& name = "");
Output Zeros(Graph& graph, const Shape& shape, DType dtype = kFloat32, const std::string& name = "zeros",
             std::source_location loc = std::source_location::current());
Output Ones(Graph& graph, const Shape& shape, DType dtype = kFloat32, const std::string& name = "ones",
            std::source_location loc = std::source_location::current());
// Zeros (ones) of the shape and dtype of `x`. Not differentiable.
Output ZerosLike(const Operand& x, const std::string& name = "");
Output OnesLike(const Operand& x, const std::string& name = "");

struct OneHotOptions {
  std::optional<Operand> on_value = {};   // unset: 1
  std::optional<Operand> off_value = {};  // unset: 0
  int64_t axis = -1;                      // where the new dimension goes; -1: last
  DType dtype = kFloat32;                 // used if neither value is given
};
// output[..., j, ...] = on_value where j == indices[...], else off_value: adds a dimension of size `depth` at `axis`.
// For an index outside [0, depth) all elements are off_value. `indices` is uint8, int8, int32 or int64; the result can
// have any dtype. Not differentiable.
Output OneHot(const Operand& indices, int32_t depth, const OneHotOptions& options = {}, const std::string& name = "");

// --- Passing values through ---

// `input`, unchanged. Gradient: passes through unchanged.
Output Identity(const Operand& input, const std::string& name = "");
std::vector<Output> IdentityN(const std::vector<Operand>& input, const std::string& name = "",
                              std::source_location loc = std::source_location::current());
// `input`, unchanged. No gradient flows back through it.
Output StopGradient(const Operand& input, const std::string& name = "");
// `input`, unchanged. Taking a gradient through it is an error with the text `message`.
Output PreventGradient(const Operand& input, const std::string& message, const std::string& name = "");
// An operation that computes nothing and can be used in control dependencies.
Operation NoOp(Graph& graph, const std::string& name = "", std::source_location loc = std::source_location::current());
// An operation that completes when all of `operations` have. If they are on several devices, the operations of each
// device are grouped there first, so that only one control edge per device leads to the device of the group.
Operation Group(Graph& graph, const std::vector<Operation>& operations, const std::string& name = "group_deps",
                std::source_location loc = std::source_location::current());
// `output`, available only after `operations` have run.
Output WithDependencies(const std::vector<Operation>& operations, Output output, const std::string& name = "",
                        std::source_location loc = std::source_location::current());

// --- Shapes ---

// The shape as a vector of `out_type` (int32 or int64); its length is the rank. Not differentiable.
Output ShapeOf(const Operand& input, DType out_type = kInt32, const std::string& name = "");
std::vector<Output> ShapeN(const std::vector<Operand>& input, DType out_type = kInt32, const std::string& name = "",
                           std::source_location loc = std::source_location::current());
// The number of elements, a scalar of `out_type`. Not differentiable.
Output Size(const Operand& input, DType out_type = kInt32, const std::string& name = "");
// The number of dimensions, an int32 scalar. Not differentiable.
Output Rank(const Operand& input, const std::string& name = "");
// The same elements in another shape. One size may be -1 and is then computed from the others. InvalidArgument when the
// number of elements differs. Shares the buffer. Gradient: g reshaped to the input's shape.
Output Reshape(const Operand& tensor, const Integers& shape, const std::string& name = "");
// Adds a dimension of size 1 before `axis`; a negative `axis` counts from the end (-1: after the last dimension).
// Gradient: g reshaped to the input's shape.
Output ExpandDims(const Operand& input, const Operand& axis, const std::string& name = "");
// Removes all dimensions of size 1, or only those in `axes`, which must have size 1. Gradient: g reshaped to the
// input's shape.
Output Squeeze(const Operand& input, const std::vector<int64_t>& axes = {}, const std::string& name = "");
// `input` broadcast to `shape` by NumPy's rules. Gradient: g summed over the repeated dimensions.
Output BroadcastTo(const Operand& input, const Integers& shape, const std::string& name = "");

// --- Joining and splitting ---

// Concatenates tensors along dimension `axis` (may be negative). All other sizes must agree. Gradient: g split again.
Output Concat(const std::vector<Operand>& values, int64_t axis, const std::string& name = "concat",
              std::source_location loc = std::source_location::current());
// Splits into `num` equal parts along `axis`, whose size must be a multiple of `num`. Gradient: the parts concatenated.
std::vector<Output> Split(const Operand& value, int num, int64_t axis = 0, const std::string& name = "split");
// Splits into parts of the given sizes along `axis`; one size may be -1. Gradient: the parts concatenated.
std::vector<Output> SplitV(const Operand& value, const std::vector<int64_t>& sizes, int64_t axis = 0,
                           const std::string& name = "split");
// Stacks tensors of equal shape along a new dimension `axis`. Gradient: Unstack.
Output Stack(const std::vector<Operand>& values, int64_t axis = 0, const std::string& name = "stack",
             std::source_location loc = std::source_location::current());
// Returns the slices along `axis`, each without that dimension. `num` is the number of slices; it is needed only if the
// static shape does not show it. Gradient: Stack.
std::vector<Output> Unstack(const Operand& value, int64_t axis = 0, int num = -1, const std::string& name = "unstack");
// input[begin[0] : begin[0] + size[0], ...]. A size of -1 means "to the end". InvalidArgument when out of bounds.
// Gradient: g padded with zeros.
Output Slice(const Operand& input, const Integers& begin, const Integers& size, const std::string& name = "");

// Bit i of each mask applies to entry i of begin, end and strides.
struct StridedSliceOptions {
  int64_t begin_mask = 0;        // begin at the first element (the last, for a negative stride)
  int64_t end_mask = 0;          // end after the last element (the first, for a negative stride)
  int64_t ellipsis_mask = 0;     // "...": all dimensions without an entry, in full; at most one bit
  int64_t new_axis_mask = 0;     // insert a dimension of size 1; begin, end and stride are ignored
  int64_t shrink_axis_mask = 0;  // take only element `begin` and remove the dimension
};
// NumPy's input[begin : end : stride, ...]. Gradient: g at the elements that were taken, 0 elsewhere.
Output StridedSlice(const Operand& input, const Integers& begin, const Integers& end, const Integers& strides,
                    const StridedSliceOptions& options = {}, const std::string& name = "");

// --- Rearranging ---

// `input` repeated multiples[i] times along dimension i. Gradient: g summed over the repetitions.
Output Tile(const Operand& input, const Integers& multiples, const std::string& name = "");
// Dimension i of the result is dimension perm[i] of x. Gradient: g transposed back.
Output Transpose(const Operand& x, const Integers& perm, const std::string& name = "transpose");
// All dimensions in reverse order.
Output Transpose(const Operand& x);
// y[x[i]] = i. InvalidArgument unless x is a permutation of 0, 1, ... Not differentiable.
Output InvertPermutation(const Operand& x, const std::string& name = "");
// Reverses the order of the elements along `axes`. Gradient: g reversed.
Output Reverse(const Operand& tensor, const Integers& axes, const std::string& name = "");
// Adds zeros (PadV2: `constant`) around `tensor`. `paddings` has shape [rank, 2]: the numbers of elements before and
// after each dimension. Gradient: the slice of g without the padding.
Output Pad(const Operand& tensor, const Operand& paddings, const std::string& name = "");
Output PadV2(const Operand& tensor, const Operand& paddings, const Operand& constant, const std::string& name = "");

// --- Looking up ---

// Takes slices of `params` along dimension `axis`: output[a..., i..., b...] = params[a..., indices[i...], b...].
// InvalidArgument for an index out of range. Gradient: slices (IndexedSlices) if `axis` is 0, otherwise a dense tensor,
// in which the elements of g are added at the indices.
Output Gather(const Operand& params, const Operand& indices, int64_t axis = 0, const std::string& name = "");
// As above, for a variable. If `axis` is 0, only the rows that are looked up are sent to other devices.
Output Gather(const Variable& params, const Operand& indices, int64_t axis = 0, const std::string& name = "");
// output[i...] = params[indices[i..., :]]: the last dimension of `indices` is a position in the first dimensions of
// `params`. Gradient: g, added at the positions.
Output GatherNd(const Operand& params, const Operand& indices, const std::string& name = "");
// A tensor of the given shape that is 0 except for output[indices[i..., :]] += updates[i...]: the inverse of GatherNd.
// Values with equal indices are summed. A step fails with InvalidArgument for an index out of range. Gradient for
// `updates`: the elements of g at the indices.
Output ScatterNd(const Operand& indices, const Operand& updates, const Integers& shape, const std::string& name = "");
// The positions of the elements that are true (nonzero): int64 [number, rank], in row-major order. Not differentiable.
Output Where(const Operand& condition, const std::string& name = "");

// --- Sorting ---

struct TopKResult {
  Output values;
  Output indices;  // int32, the positions of the values in the last dimension
};
// The `k` largest elements of the last dimension, in descending order; of equal elements, the one of the lower index is
// first. x must have a real dtype (an integer or floating dtype) and rank 1 or more. Gradient: g at the elements that
// were taken, 0 elsewhere.
TopKResult TopK(const Operand& x, const Operand& k = 1, const std::string& name = "");

enum class SortOrder { kAscending, kDescending };
// The elements of x in order along dimension `axis`, which may be negative. x must have a real dtype and a known rank.
// Gradient: each element of g goes to the place that the sorted element came from.
Output Sort(const Operand& x, int axis = -1, SortOrder order = SortOrder::kAscending, const std::string& name = "");
// Where in x the elements of Sort(x) come from: their positions along `axis`, int32.
Output ArgSort(const Operand& x, int axis = -1, SortOrder order = SortOrder::kAscending, const std::string& name = "");

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_ARRAY_H_
