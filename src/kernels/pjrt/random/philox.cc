#include "kernels/pjrt/random/philox.h"

#include <vector>

namespace tensorbraid::pjrt {
namespace {

Expr Unsigned(stablehlo::Builder& b, DType dtype, uint64_t number) {
  return {b, b.Constant(dtype == kUint64 ? Tensor::Scalar<uint64_t>(number)
                                         : Tensor::Scalar<uint32_t>(static_cast<uint32_t>(number)))};
}
Expr Unsigned(const Expr& like, uint64_t number) { return Unsigned(like.builder(), like.dtype(), number); }
Expr Xor(const Expr& x, const Expr& y) { return Binary("xor", x, y); }
Expr ShiftLeft(const Expr& x, uint64_t bits) { return Binary("shift_left", x, Unsigned(x, bits)); }
Expr ShiftRight(const Expr& x, uint64_t bits) { return Binary("shift_right_logical", x, Unsigned(x, bits)); }
Expr And(const Expr& x, uint64_t mask) { return Binary("and", x, Unsigned(x, mask)); }
Expr Or(const Expr& x, uint64_t mask) { return Binary("or", x, Unsigned(x, mask)); }
// The same bits as another dtype of that size.
Expr BitsAs(const Expr& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return {x.builder(), x.builder().Op("bitcast_convert", {x.value()}, dtype, x.shape())};
}
// Two numbers of 32 bits as one of 64.
Expr Joined(const Expr& high, const Expr& low) {
  return Binary("or", ShiftLeft(high.Convert(kUint64), 32), low.Convert(kUint64));
}

// Numbers in [0, 1): the bits fill the mantissas of numbers in [1, 2), and 1 is subtracted.
Expr UnitFloat(const Expr& bits) { return BitsAs(Or(And(bits, 0x7fffff), 0x3f800000), kFloat32) - 1; }
Expr UnitDouble(const Expr& high, const Expr& low) {
  return BitsAs(Or(Joined(And(high, 0xfffff), low), uint64_t{0x3ff} << 52), kFloat64) - 1;
}

// The words that an element of a tensor is made of. A tensor is computed element by element, so that the compiler makes
// one loop of it: an element computes its whole block, and takes its own words from it. Elements of 32 bits or less
// share a block by four, those of 64 bits by two.
struct Words {
  std::array<Expr, 4> block;
  Expr element;  // the number of the element among those of its block

  // Word `i` for the first elements of the block, word `j` for the others.
  Expr Either(const Expr& first, int i, int j) const { return Select(first, block[i], block[j]); }
};

// The words of elements `elements` of `group` to a block, from block `first` on.
Words WordsOf(const Stream& stream, const Expr& elements, int group) {
  const Expr blocks = ShiftRight(elements, group == 4 ? 2 : 1);
  return {BlocksOf(stream, blocks), And(elements, group - 1)};
}

Expr Bits32(const Words& w) {
  const auto is = [&](uint64_t n) { return w.element == Unsigned(w.element, n); };
  return Select(is(0), w.block[0], Select(is(1), w.block[1], w.Either(is(2), 2, 3)));
}
Expr Bits64(const Words& w) {
  const Expr first = w.element == Unsigned(w.element, 0);
  return Joined(w.Either(first, 1, 3), w.Either(first, 0, 2));
}

// Normal numbers: two of them from two uniform ones (Box-Muller). The angle is a product in double precision, as on the
// CPU.
Expr Normal(const Words& w, DType dtype) {
  const bool is_double = dtype == kFloat64;
  const Expr first = w.element < Unsigned(w.element, 2);
  const Expr u = is_double ? UnitDouble(w.block[0], w.block[1]) : UnitFloat(w.Either(first, 0, 2));
  const Expr v = is_double ? UnitDouble(w.block[2], w.block[3]) : UnitFloat(w.Either(first, 1, 3));
  const Expr radius = Sqrt(-2 * Log(Max(u, 1e-7)));
  const Expr angle = (2 * 3.14159265358979323846 * v.Convert(kFloat64)).Convert(v.dtype());
  const Expr is_odd = And(w.element, 1) == Unsigned(w.element, 1);
  return Select(is_odd, angle.Unary("cosine"), angle.Unary("sine")) * radius;
}

// Float64 takes twice as many bits as the others.
int GroupOf(DType dtype) { return DTypeSize(dtype) == 8 ? 2 : 4; }

// The numbers of the elements of a tensor, as a vector.
Expr ElementNumbers(const Stream& stream, const Shape& shape) {
  stablehlo::Builder& b = stream.key.builder();
  return {b, b.Iota(kUint64, {shape.num_elements()}, 0)};
}

}  // namespace

std::array<Expr, 4> BlocksOf(const Stream& stream, const Expr& numbers) {
  stablehlo::Builder& b = numbers.builder();
  const Shape& shape = numbers.shape();
  const Expr low = stream.low + numbers;
  const Expr carry = Select(low < numbers, Unsigned(numbers, 1), Unsigned(numbers, 0));
  const Expr high = stream.high + carry;
  const auto lower = [](const Expr& x) { return x.Convert(kUint32); };
  const auto upper = [](const Expr& x) { return ShiftRight(x, 32).Convert(kUint32); };
  std::array<Expr, 4> x = {lower(low), upper(low), lower(high), upper(high)};
  Expr k0 = lower(stream.key).BroadcastTo(shape), k1 = upper(stream.key).BroadcastTo(shape);
  for (int round = 0; round < 10; ++round) {
    const Expr p0 = Unsigned(b, kUint64, 0xD2511F53) * x[0].Convert(kUint64);
    const Expr p1 = Unsigned(b, kUint64, 0xCD9E8D57) * x[2].Convert(kUint64);
    x = {Xor(Xor(upper(p1), x[1]), k0), lower(p1), Xor(Xor(upper(p0), x[3]), k1), lower(p0)};
    k0 = k0 + Unsigned(k0, 0x9E3779B9);
    k1 = k1 + Unsigned(k1, 0xBB67AE85);
  }
  return x;
}

Expr ElementOf(const Expr& vector, int64_t i) {
  stablehlo::Builder& b = vector.builder();
  return Expr(b, b.Slice(vector.value(), {i}, {i + 1}, {1})).Reshape({});
}

Stream StreamOfSeed(const Expr& seed) {
  stablehlo::Builder& b = seed.builder();
  const Expr wide = BitsAs(seed.Convert(kInt64), kUint64);
  constexpr uint64_t kScrambleKey = 0x02461e293ec8f720;  // the same as in kernels/cpu/random/stateless.cc
  const Stream scramble = {Unsigned(b, kUint64, kScrambleKey), ElementOf(wide, 0), ElementOf(wide, 1)};
  const auto x = BlocksOf(scramble, Unsigned(b, kUint64, 0));
  return {Joined(x[1], x[0]), Unsigned(b, kUint64, 0), Joined(x[3], x[2])};
}

Expr UniformNumbers(const Stream& stream, DType dtype, const Shape& shape) {
  const Words w = WordsOf(stream, ElementNumbers(stream, shape), GroupOf(dtype));
  if (dtype == kFloat64) {
    const Expr first = w.element == Unsigned(w.element, 0);
    return UnitDouble(w.Either(first, 0, 2), w.Either(first, 1, 3)).Reshape(shape);
  }
  const Expr bits = Bits32(w).Reshape(shape);
  if (dtype == kFloat32) return UnitFloat(bits);
  // No more bits than the mantissa holds, so that rounding never gives 1.
  const int mantissa = dtype == kFloat16 ? 1 << 10 : 1 << 7;
  return (And(bits, mantissa - 1).Convert(kFloat32) * (1.0 / mantissa)).Convert(dtype);
}

Expr NormalNumbers(const Stream& stream, DType dtype, const Shape& shape) {
  const Words w = WordsOf(stream, ElementNumbers(stream, shape), GroupOf(dtype));
  return Normal(w, dtype).Reshape(shape).Convert(dtype);
}

Expr TruncatedNormalNumbers(const Stream& stream, DType dtype, const Shape& shape) {
  stablehlo::Builder& b = stream.key.builder();
  const int group = GroupOf(dtype);
  const int64_t rows = (shape.num_elements() + group - 1) / group;
  const uint64_t blocks = 64 * group;  // of a row of `group` elements, as on the CPU
  const DType wide = ComputeDType(dtype);
  // The state: the stream (three), the number of the next block of each row, how many elements each row has, and these
  // elements. Each step draws a block for all rows.
  const std::vector<stablehlo::Value> initial = {stream.key.value(),
                                                 stream.low.value(),
                                                 stream.high.value(),
                                                 b.Splat(kUint64, 0),
                                                 b.Splat(kInt32, 0, {rows, 1}),
                                                 b.Splat(wide, 0, {rows, group})};
  const auto is_short = [&](const std::vector<stablehlo::Value>& v) {
    const Expr drawn(b, v[3]), filled(b, v[4]);
    const Expr least = Reduce(filled, {0, 1}, filled.Number(group), Min).Reshape({});
    return (least < group && drawn < Unsigned(drawn, blocks)).value();
  };
  const auto draw = [&](const std::vector<stablehlo::Value>& v) {
    const Stream at = {Expr(b, v[0]), Expr(b, v[1]), Expr(b, v[2])};
    const Expr drawn(b, v[3]);
    Expr filled(b, v[4]), out(b, v[5]);
    const Expr row(b, b.Iota(kUint64, {rows, group}, 0)), element(b, b.Iota(kUint64, {rows, group}, 1));
    const Expr values = Normal({BlocksOf(at, row * Unsigned(row, blocks) + drawn), element}, wide);
    const Expr place(b, b.Iota(kInt32, {rows, group}, 1));
    for (int64_t i = 0; i < group; ++i) {
      const Expr value(b, b.Slice(values.value(), {0, i}, {rows, i + 1}, {1, 1}));
      const Expr accepted = Abs(value) < 2;
      out = Select(place == filled && accepted, value, out);
      filled = filled + accepted.Convert(kInt32);
    }
    return std::vector<stablehlo::Value>{
        v[0], v[1], v[2], (drawn + Unsigned(drawn, 1)).value(), Min(filled, group).value(), out.value()};
  };
  const auto result = b.While(initial, is_short, draw);
  const Expr flat = Expr(b, result[5]).Reshape({rows * group});
  return Expr(b, b.Slice(flat.value(), {0}, {shape.num_elements()}, {1})).Reshape(shape).Convert(dtype);
}

Expr UniformIntegers(const Stream& stream, DType dtype, const Shape& shape, uint64_t low, uint64_t range) {
  const bool is_wide = DTypeSize(dtype) == 8;
  const Words w = WordsOf(stream, ElementNumbers(stream, shape), GroupOf(dtype));
  Expr bits = (is_wide ? Bits64(w) : Bits32(w)).Reshape(shape);
  if (range != 0) bits = Unsigned(bits, low) + Remainder(bits, Unsigned(bits, range));
  return BitsAs(bits, dtype);
}

}  // namespace tensorbraid::pjrt
