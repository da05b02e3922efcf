// Random numbers in programs: the streams and distributions of kernels/cpu/random, with the same values.
#ifndef TENSORBRAID_KERNELS_PJRT_RANDOM_PHILOX_H_
#define TENSORBRAID_KERNELS_PJRT_RANDOM_PHILOX_H_

#include <array>

#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {

// A stream of the Philox 4x32-10 generator, from a counter on. The three are scalars of dtype uint64.
struct Stream {
  Expr key, low, high;
};

// The four 32-bit numbers of each block. `numbers` are those of the blocks in the stream, of dtype uint64.
std::array<Expr, 4> BlocksOf(const Stream& stream, const Expr& numbers);

// The stream of a seed: two integers, of int32 or int64.
Stream StreamOfSeed(const Expr& seed);
// Element i of a vector, as a scalar.
Expr ElementOf(const Expr& vector, int64_t i);

// Tensors of random numbers. Uniform numbers and integers have the bits that the kernel of the CPU gives. Normal
// numbers are functions of these, so their last bits are those of the plugin's logarithm, sine and cosine.
Expr UniformNumbers(const Stream& stream, DType dtype, const Shape& shape);
Expr NormalNumbers(const Stream& stream, DType dtype, const Shape& shape);
// Draws normal numbers until all elements have one between -2 and 2.
Expr TruncatedNormalNumbers(const Stream& stream, DType dtype, const Shape& shape);
// Integers of 32 or 64 bits: any if `range` is 0, otherwise of [low, low + range).
Expr UniformIntegers(const Stream& stream, DType dtype, const Shape& shape, uint64_t low = 0, uint64_t range = 0);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_KERNELS_PJRT_RANDOM_PHILOX_H_
