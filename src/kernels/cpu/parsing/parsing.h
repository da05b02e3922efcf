// Helpers that the parsing kernels share.
#ifndef TENSORBRAID_KERNELS_CPU_PARSING_PARSING_H_
#define TENSORBRAID_KERNELS_CPU_PARSING_PARSING_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// The keys in input `input`, a vector, or in the scalar inputs [first, first + count). Returns InvalidArgument if the
// number of keys is not `count`, or if an input has a different rank.
StatusOr<std::vector<std::string>> KeysOf(const KernelContext& ctx, int input, int64_t count, const char* what);
StatusOr<std::vector<std::string>> ScalarKeys(const KernelContext& ctx, int first, int64_t count, const char* what);
// The range [begin, end) of the node's inputs that belong to the argument.
std::pair<int, int> ArgumentRange(const Node& node, std::string_view argument);

// "the example 'name'", for messages.
std::string ExampleName(const Tensor& names, size_t row);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_PARSING_PARSING_H_
