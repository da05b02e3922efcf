// The first values of the rows of a growing table.
#ifndef TENSORBRAID_KERNELS_CPU_EMBEDDING_INITIAL_ROWS_H_
#define TENSORBRAID_KERNELS_CPU_EMBEDDING_INITIAL_ROWS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/tables/small_table.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid::cpu {

// Rows of the table `whole` with independent elements of this distribution: "constant" (arguments: value), "uniform"
// (low, high), "normal" or "truncated_normal" (mean, stddev). A row depends on nothing but seed, whole, key and its
// length: its elements are drawn from a generator whose state follows from Fingerprint64("SEED:WHOLE") and the key. So
// tables with other numbers of parts, workers and steps have equal rows, bit for bit. InvalidArgument for other
// distributions and arguments.
StatusOr<std::shared_ptr<const FirstRows>> MakeFirstRows(const std::string& distribution,
                                                         const std::vector<float>& arguments, int64_t seed,
                                                         const std::string& whole);

// Initial rows that repeat: a key has the row that `rows` gives to floor-mod(key, count).
// REQUIRES: count >= 1.
std::shared_ptr<const FirstRows> MakeRepeatedRows(std::shared_ptr<const FirstRows> rows, int64_t count);

// Rows of a matrix: the row of a key is row floor-mod(key, n) of the n rows. InvalidArgument, with the name `whole`,
// unless the matrix is float32 [n, dim] with finite numbers and n >= 1.
StatusOr<std::shared_ptr<const FirstRows>> MakeMatrixRows(const Tensor& matrix, int64_t dim, const std::string& whole);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_EMBEDDING_INITIAL_ROWS_H_
