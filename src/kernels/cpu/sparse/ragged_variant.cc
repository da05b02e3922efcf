// Puts ragged tensors into variants, whole or row by row, and takes them out again.
#include <algorithm>
#include <span>
#include <vector>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/sparse/ragged.h"
#include "runtime/dataset/variant_values.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The row splits of a level as a tensor with elements of type S.
template <typename S>
Tensor SplitsTensor(std::span<const int64_t> splits) {
  Tensor t(DTypeOf<S>::value, {static_cast<int64_t>(splits.size())});
  std::transform(splits.begin(), splits.end(), t.inplace_data<S>().begin(),
                 [](int64_t s) { return static_cast<S>(s); });
  return t;
}

// Row i of the ragged tensor with these splits and values. Without splits, the tensor is dense, and its row i is
// values[i].
template <typename S>
RefPtr<RaggedTensorValue> RaggedRow(const std::vector<IntVector>& splits, const Tensor& values, int64_t i) {
  int64_t begin = i, end = i + 1;
  std::vector<Tensor> inner;
  for (size_t level = 0; level < splits.size(); ++level) {
    if (level > 0) {
      const auto part = std::span(splits[level]).subspan(begin, end - begin + 1);
      std::vector<int64_t> from_zero(part.begin(), part.end());
      for (int64_t& s : from_zero) s -= part[0];
      inner.push_back(SplitsTensor<S>(from_zero));
    }
    begin = splits[level][begin];
    end = splits[level][end];
  }
  Tensor part = values.Slice(begin, end);
  if (splits.empty()) {  // a row of a dense tensor has one dimension less
    auto row = part.Reshaped(Shape(values.shape().dims().subspan(1)));
    TB_CHECK_OK(row.status());
    part = *std::move(row);
  }
  return MakeRef<RaggedTensorValue>(std::move(inner), std::move(part));
}

// Inputs: the splits of each level, the values. Output: a scalar variant with the ragged tensor or, with batched_input,
// a vector of variants, one for each row.
template <typename S>
Status RaggedTensorToVariant(KernelContext& ctx) {
  const int levels = ctx.num_inputs() - 1;
  const Tensor& values = ctx.input(levels);
  if (levels > 0 && values.shape().rank() < 1) return InvalidArgument("the values must have rank 1 or more");
  std::vector<IntVector> splits(levels);
  for (int l = levels - 1; l >= 0; --l) {
    const int64_t count = l == levels - 1 ? values.shape().dim(0) : static_cast<int64_t>(splits[l + 1].size()) - 1;
    auto checked = SplitsOf(ctx.input(l), count);
    if (!checked.ok()) return Annotate(checked.status(), "Invalid ragged splits");
    splits[l] = *std::move(checked);
  }
  if (!ctx.node().attr<bool>("batched_input")) {
    std::vector<Tensor> all;
    for (int l = 0; l < levels; ++l) all.push_back(ctx.input(l));
    ctx.set_output(0, MakeVariantTensor(MakeRef<RaggedTensorValue>(std::move(all), values)));
    return OkStatus();
  }
  if (values.shape().rank() < 1) return InvalidArgument("Can't unbatch rank-0 tensor.");
  const int64_t rows = levels > 0 ? static_cast<int64_t>(splits[0].size()) - 1 : values.shape().dim(0);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {rows}));
  const auto to = out->inplace_data<Variant>();
  for (int64_t i = 0; i < rows; ++i) to[i].value = RaggedRow<S>(splits, values, i);
  return OkStatus();
}

// The ragged tensors in a variant tensor. Returns InvalidArgument unless each has `levels` levels of splits (-1: any
// number) and the dtypes `splits` and `values`.
StatusOr<std::vector<const RaggedTensorValue*>> RaggedValues(const Tensor& t, int64_t levels, DType splits,
                                                             DType values) {
  std::vector<const RaggedTensorValue*> all;
  for (const Variant& v : t.data<Variant>()) {
    const auto* ragged = dynamic_cast<const RaggedTensorValue*>(v.value.get());
    if (ragged == nullptr) {
      return InvalidArgument("Input Variant element at index ", all.size(), " doesn't hold a RaggedTensorVariant: ",
                             v.value.get() == nullptr ? "it is empty" : v.value->DebugString());
    }
    if (levels >= 0 && static_cast<int64_t>(ragged->splits.size()) != levels) {
      return InvalidArgument("Encoded input RaggedTensorVariant has ragged_rank=", ragged->splits.size(),
                             ".  Expected ragged_rank=", levels, ".");
    }
    if (ragged->values.dtype() != values) {
      return InvalidArgument("Expected values Tensor dtype: ", values, ", found: ", ragged->values.dtype());
    }
    for (const Tensor& s : ragged->splits) {
      if (s.dtype() != splits) {
        return InvalidArgument("Expected row_splits Tensor dtype: ", splits, ", found: ", s.dtype());
      }
    }
    all.push_back(ragged);
  }
  return all;
}

// Writes the values of all ragged tensors, one after another, to `out`, which has as many elements.
Status ConcatenateValues(const std::vector<const RaggedTensorValue*>& all, Tensor* out) {
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    E* to = MutableElements<E>(*out);
    for (const RaggedTensorValue* ragged : all) {
      CopyElements(Elements<E>(ragged->values), ragged->values.num_elements(), to);
      to += ragged->values.num_elements();
    }
    return OkStatus();
  });
}

// The most rows of a level if the variant tensor has no elements, so that only its shape determines the number of rows.
constexpr int64_t kMostEmptyRows = int64_t{1} << 20;

// Stacks the ragged tensors of the variant tensor in input 0. Each of them has `inner_levels` levels of splits. The
// shape of the variant tensor gives the outer dimensions of the result.
template <typename S>
Status StackRagged(KernelContext& ctx, const std::vector<const RaggedTensorValue*>& all, int64_t inner_levels) {
  const Tensor& in = ctx.input(0);
  const int outer = in.shape().rank();
  const int levels = ctx.num_outputs() - 1;
  std::vector<std::vector<int64_t>> splits(levels);
  // The levels between the outer dimensions: every row of level l has as many elements as dimension l + 1 says.
  int64_t rows = 1;
  for (int l = 0; l < outer; ++l) {
    rows *= in.shape().dim(l);
    if (l + 1 == outer) break;
    if (all.empty() && rows > kMostEmptyRows) {
      return InvalidArgument("encoded_ragged has shape ", in.shape(), ", which is too many rows without elements");
    }
    for (int64_t row = 0; row <= rows; ++row) splits[l].push_back(row * in.shape().dim(l + 1));
  }
  // The next level has one row for each ragged tensor. Each level below joins the rows of that level of all ragged
  // tensors, one tensor after another.
  for (int64_t l = outer - 1; l < levels; ++l) splits[l].push_back(0);
  Shape shape({0});
  for (size_t i = 0; i < all.size(); ++i) {
    const RaggedTensorValue& ragged = *all[i];
    const Shape& own = ragged.values.shape();
    if (own.rank() < 1) {
      return InvalidArgument("Ragged values must have rank >= 1; encoded scalar element at index ", i,
                             " has values of shape []");
    }
    if (i == 0) {
      shape = own;
      shape.set_dim(0, 0);
    }
    if (own.rank() != shape.rank() || !std::equal(own.dims().begin() + 1, own.dims().end(), shape.dims().begin() + 1)) {
      return InvalidArgument(
          "All flat_values must have compatible shapes.  Shape at index 0: ", all[0]->values.shape(),
          ".  Shape at index ", i, ": ", own,
          ".  If you are using tf.map_fn, then you may need to specify an explicit fn_output_signature "
          "with appropriate ragged_rank, and/or convert output tensors to RaggedTensors.");
    }
    shape.set_dim(0, shape.dim(0) + own.dim(0));
    const int64_t own_rows = inner_levels > 0 ? ragged.splits[0].shape().dim(0) - 1 : own.dim(0);
    splits[outer - 1].push_back(splits[outer - 1].back() + own_rows);
    for (int64_t l = 0; l < inner_levels; ++l) {
      std::vector<int64_t>& to = splits[outer + l];
      const int64_t before = to.back();
      for (const S s : ragged.splits[l].data<S>().subspan(1)) to.push_back(before + s);
    }
  }
  for (int l = 0; l < levels; ++l) ctx.set_output(l, SplitsTensor<S>(splits[l]));
  TF_ASSIGN_OR_RETURN(Tensor * values, ctx.AllocateOutput(levels, shape));
  return ConcatenateValues(all, values);
}

template <typename S>
Status RaggedTensorFromVariant(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  const int64_t levels = ctx.num_outputs() - 1, outer = in.shape().rank();
  int64_t inner_levels = ctx.node().attr<int64_t>("input_ragged_rank");
  if (inner_levels == -1) {
    inner_levels = levels - outer;
    if (inner_levels < 0) {
      return InvalidArgument(
          "Inferred input_ragged_rank (output_ragged_rank - encoded_variant.dims()) must be >= 0, "
          "found output_ragged_rank: ",
          levels, ", encoded_variant.dims(): ", outer, ", inferred input_ragged_rank: ", inner_levels);
    }
  }
  if (levels != inner_levels + outer) {
    return InvalidArgument(
        "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); "
        "output_ragged_rank: ",
        levels, ", input_ragged_rank: ", inner_levels, ", encoded_variant.dims(): ", outer, ".");
  }
  TF_ASSIGN_OR_RETURN(const auto all,
                      RaggedValues(in, inner_levels, DTypeOf<S>::value, ctx.node().attr<DType>("Tvalues")));
  if (outer > 0) return StackRagged<S>(ctx, all, inner_levels);
  for (int l = 0; l < levels; ++l) ctx.set_output(l, all[0]->splits[l]);
  ctx.set_output(static_cast<int>(levels), all[0]->values);
  return OkStatus();
}

// Inputs: variants with the gradient of a ragged tensor or with the gradients of its rows, the outermost splits of the
// tensor, the shape of its values. Output: the gradient of the values.
Status RaggedTensorToVariantGradient(KernelContext& ctx) {
  const DType dtype = ctx.node().attr<DType>("Tvalues");
  TF_ASSIGN_OR_RETURN(const auto all, RaggedValues(ctx.input(0), -1, ctx.node().attr<DType>("Tsplits"), dtype));
  TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(ctx.input(2), "dense_values_shape"));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  int64_t elements = 0;
  for (const RaggedTensorValue* ragged : all) elements += ragged->values.num_elements();
  if (elements != out->num_elements()) {
    return InvalidArgument("the gradients have ", elements, " elements, which do not fill dense_values_shape ", shape);
  }
  return ConcatenateValues(all, out);
}

}  // namespace

void RegisterSparseRaggedVariantKernels(KernelRegistry& r) {
  const auto add = [&]<typename S>() {
    const TypeConstraints splits = {{"Tsplits", {DTypeOf<S>::value}}};
    r.Add("RaggedTensorToVariant", splits, RaggedTensorToVariant<S>);
    r.Add("RaggedTensorFromVariant", splits, RaggedTensorFromVariant<S>);
  };
  ForEachType<int32_t, int64_t>(add);
  r.Add("RaggedTensorToVariantGradient", {}, RaggedTensorToVariantGradient);
}

}  // namespace tensorbraid::cpu
