// Sums of many tensors: AddN and AccumulateNV2.
#include <algorithm>

#include "kernels/cpu/functors.h"
#include "kernels/cpu/list/tensor_list.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The sum of tensors of the same shape.
Status AddAll(KernelContext& ctx, const BinaryLoop& loop) {
  const Shape shape = ctx.input(0).shape();
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    if (ctx.input(i).shape() != shape) {
      return InvalidArgument("all inputs must have the same shape, got ", shape, " and ", ctx.input(i).shape(),
                             " (input ", i, ")");
    }
  }
  // AccumulateNV2 has an attribute that declares the shape of the sum.
  const AttrValue* declared = ctx.node().FindAttr("shape");
  if (declared != nullptr && !ctx.node().attr<Shape>("shape").IsCompatibleWith(shape)) {
    return InvalidArgument("inputs of shape ", shape, " do not fit the declared shape ", declared->ToString());
  }
  if (ctx.num_inputs() == 1) {
    ctx.set_output(0, ctx.input(0));
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocateOutput({0}, 0, shape));
  char* const to = static_cast<char*>(out->inplace_raw_data());
  const int64_t size = loop.in_size;
  // Sum block by block, so that the running sum stays in the cache.
  constexpr int64_t kBlock = 4096;
  Parallel(ctx, shape.num_elements(), 0.2 * ctx.num_inputs(), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t n = std::min(kBlock, end - at);
      const char* sum = static_cast<const char*>(ctx.input(0).raw_data()) + at * size;
      for (int i = 1; i < ctx.num_inputs(); ++i) {
        const char* const next = static_cast<const char*>(ctx.input(i).raw_data()) + at * size;
        loop.row(sum, next, to + at * size, n, Spread::kNone);
        sum = to + at * size;
      }
    }
  });
  return OkStatus();
}

template <typename T>
Status AddNKernel(KernelContext& ctx) {
  return AddAll(ctx, MakeBinaryLoop<AddF, T>());
}

template <typename... T>
void AddAddN(KernelRegistry& r, Types<T...>) {
  (r.Add("AddN", {{"T", {DTypeOf<T>::value}}}, AddNKernel<T>), ...);
  (r.Add("AccumulateNV2", {{"T", {DTypeOf<T>::value}}}, AddNKernel<T>), ...);
}

}  // namespace

void RegisterMathAddNKernels(KernelRegistry& r) {
  AddAddN(r, NumberTypes{});
  r.Add("AddN", {{"T", {DType::kVariant}}}, VariantAddN);
}

}  // namespace tensorbraid::cpu
