// Tensors as text, for messages that users match against: in both of TensorFlow's ways.
#ifndef TENSORBRAID_KERNELS_CPU_SUMMARIZE_H_
#define TENSORBRAID_KERNELS_CPU_SUMMARIZE_H_

#include <cstdint>
#include <string>

#include "tensorbraid/tensor.h"

namespace tensorbraid::cpu {

// As Assert and Print write it: "1 2 3" and "[1 2][3 4]"; the first `max_elements` (all if negative), "..." for others.
std::string SummarizeElements(const Tensor& tensor, int64_t max_elements);
// As tf.print and tf.strings.format write it: "[1 2 3]", a line per row, strings in quotes; `edge` elements (all if
// negative) at both ends of each dimension, "..." for those between.
std::string SummarizeEdges(const Tensor& tensor, int64_t edge);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_SUMMARIZE_H_
