// A library that was compiled for another version. Loading it must not run its code.
#include <tensorbraid/custom_op.h>

#include <cstdlib>

namespace {
struct EndsTheProgram {
  EndsTheProgram() { std::abort(); }
} ends_the_program;
}  // namespace

extern "C" {
extern const tensorbraid::internal::OpLibraryEntry tensorbraid_op_library __attribute__((visibility("default")));
const tensorbraid::internal::OpLibraryEntry tensorbraid_op_library = {
    "tensorbraid op library: interface 0, libstdc++ with strings of kind 0", nullptr, nullptr};
}
