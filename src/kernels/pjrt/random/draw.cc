#include "kernels/pjrt/random/draw.h"

#include "core/text/strings.h"

namespace tensorbraid::pjrt {
namespace {

template <typename T>
StatusOr<Expr> Between(const Stream& stream, const Shape& shape, const Tensor& low, const Tensor& high) {
  const T from = low.scalar<T>(), to = high.scalar<T>();
  if (from >= to && shape.num_elements() > 0) {
    return InvalidArgument("Need minval < maxval, got ", from, " >= ", to);
  }
  const auto range = static_cast<std::make_unsigned_t<T>>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from));
  return UniformIntegers(stream, low.dtype(), shape, static_cast<std::make_unsigned_t<T>>(from), range);
}

}  // namespace

StatusOr<Expr> IntegersBetween(const EmitContext& ctx, const Stream& stream, const Shape& shape, int first) {
  TF_ASSIGN_OR_RETURN(const Tensor low, ctx.static_input(first));
  TF_ASSIGN_OR_RETURN(const Tensor high, ctx.static_input(first + 1));
  if (!low.shape().is_scalar() || !high.shape().is_scalar()) {
    return InvalidArgument("minval and maxval must be scalars, got shapes ", low.shape(), " and ", high.shape());
  }
  switch (low.dtype()) {
    case kInt32:
      return Between<int32_t>(stream, shape, low, high);
    case kInt64:
      return Between<int64_t>(stream, shape, low, high);
    case kUint32:
      return Between<uint32_t>(stream, shape, low, high);
    case kUint64:
      return Between<uint64_t>(stream, shape, low, high);
    default:
      return InvalidArgument("there are no random integers of dtype ", low.dtype());
  }
}

}  // namespace tensorbraid::pjrt
