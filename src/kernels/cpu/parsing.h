// The parts that the kernels of parsing are registered in.
#ifndef TENSORBRAID_KERNELS_CPU_PARSING_H_
#define TENSORBRAID_KERNELS_CPU_PARSING_H_

#include "runtime/kernel.h"

namespace tensorbraid::cpu {

void RegisterDecodeKernels(KernelRegistry& r);         // decode.cc
void RegisterDecodeCsvKernels(KernelRegistry& r);      // decode_csv.cc
void RegisterParseExampleKernels(KernelRegistry& r);   // parse_example.cc
void RegisterParseSequenceKernels(KernelRegistry& r);  // parse_sequence.cc

// The texts of a vector of keys, or of the scalar inputs [first, first + count). InvalidArgument when there are not
// `count`, or for another shape.
StatusOr<std::vector<std::string>> KeysOf(const KernelContext& ctx, int input, int64_t count, const char* what);
StatusOr<std::vector<std::string>> ScalarKeys(const KernelContext& ctx, int first, int64_t count, const char* what);
// Inputs [begin, end) of the argument.
std::pair<int, int> ArgumentRange(const Node& node, std::string_view argument);

// "the example 'name'", for messages.
std::string ExampleName(const Tensor& names, size_t row);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_PARSING_H_
