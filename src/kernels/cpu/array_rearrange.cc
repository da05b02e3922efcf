#include "core/strings.h"
#include "kernels/cpu/array_families.h"
#include "kernels/cpu/elements.h"

namespace tensorbraid {
namespace {

// Writes the tiled block of dimensions [d, rank) of `in`; `from` and `to` move past what was read and written.
// Dimensions from `plain` on are not repeated.
template <typename E>
void TileBlock(const Shape& in, const IntVector& multiples, int d, int plain, const E*& from, E*& to) {
  E* const start = to;
  if (d >= plain) {
    const int64_t n = SizeOf(in, d, in.rank());
    CopyElements(from, n, to);
    from += n;
    to += n;
    return;
  }
  for (int64_t i = 0; i < in.dim(d); ++i) TileBlock(in, multiples, d + 1, plain, from, to);
  const int64_t block = to - start;
  for (int64_t m = 1; m < multiples[d]; ++m, to += block) CopyElements(start, block, to);
}

Status Tile(KernelContext& ctx) {
  const Shape& in = ctx.input(0).shape();
  TF_ASSIGN_OR_RETURN(const IntVector multiples, IntegersOf(ctx.input(1), "the multiples"));
  if (static_cast<int>(multiples.size()) != in.rank()) {
    return InvalidArgument("there must be one multiple for each of ", in.rank(), " dimensions, got ", multiples.size());
  }
  Shape shape;
  int plain = in.rank();
  for (int i = 0; i < in.rank(); ++i) {
    int64_t size;
    if (multiples[i] < 0 || __builtin_mul_overflow(in.dim(i), multiples[i], &size)) {
      return InvalidArgument("multiple ", multiples[i], " is out of range for a dimension of size ", in.dim(i));
    }
    shape.AddDim(size);
  }
  while (plain > 0 && multiples[plain - 1] == 1) --plain;
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  if (out->num_elements() == 0) return OkStatus();
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    const E* from = Elements<E>(ctx.input(0));
    E* to = MutableElements<E>(*out);
    TileBlock(in, multiples, 0, plain, from, to);
    return OkStatus();
  });
}

}  // namespace

void RegisterRearrangeKernels(KernelRegistry& r) { r.Add("Tile", {}, Tile, KernelCost::kExpensive); }

}  // namespace tensorbraid
