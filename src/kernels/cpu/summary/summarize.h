// Formats tensors as text in TensorFlow's two formats, because users match messages against them.
#ifndef TENSORBRAID_KERNELS_CPU_SUMMARY_SUMMARIZE_H_
#define TENSORBRAID_KERNELS_CPU_SUMMARY_SUMMARIZE_H_

#include <cstdint>
#include <string>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid::cpu {

// The format of Assert and Print: "1 2 3" or "[1 2][3 4]". Shows the first `max_elements` elements (all if negative),
// and "..." for the rest.
std::string SummarizeElements(const Tensor& tensor, int64_t max_elements);
// The format of tf.print and tf.strings.format: "[1 2 3]", one line per row, strings in quotes. Shows `edge` elements
// (all if negative) at both ends of each dimension, and "..." for those between.
std::string SummarizeEdges(const Tensor& tensor, int64_t edge);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_SUMMARY_SUMMARIZE_H_
