// Helpers that the parsing kernels share.
#ifndef TENSORBRAID_KERNELS_CPU_PARSING_PARSING_H_
#define TENSORBRAID_KERNELS_CPU_PARSING_PARSING_H_

#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// KeysOf returns the `count` keys in input `input`, a vector; ScalarKeys returns those in the inputs [first, first +
// count). Both return InvalidArgument if an input does not have the right number of elements. `what` names the
// argument.
StatusOr<std::vector<std::string>> KeysOf(const KernelContext& ctx, int input, int64_t count, const char* what);
StatusOr<std::vector<std::string>> ScalarKeys(const KernelContext& ctx, int first, int64_t count, const char* what);
// The range [begin, end) of the node's inputs that belong to this argument of its op; empty if there is no such
// argument.
std::pair<int, int> ArgumentRange(const Node& node, std::string_view argument);

// "example 3 ('its name')", or "example 3" if it has no name. For messages.
std::string ExampleName(const Tensor& names, size_t row);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_PARSING_PARSING_H_
