// Libraries of custom ops: files that a running program loads, such as `tensorbraid serve --load=libmy_ops.so`.
//
//   #include <tensorbraid/custom_op.h>
//   TENSORBRAID_OP_LIBRARY(library) {
//     library.Add(CustomOp("ScaledTanh")...);
//   }
//
// Such a library works in programs that use the same version of Tensorbraid, built with a compatible compiler:
// OpLibraryAbi() must be the same. LoadOpLibrary checks that before it runs any code of the library.
#ifndef TENSORBRAID_CUSTOM_OP_LIBRARY_H_
#define TENSORBRAID_CUSTOM_OP_LIBRARY_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/custom_op/custom_op.h"

namespace tensorbraid {

// Collects the ops that a library defines.
class OpLibrary {
 public:
  void Add(CustomOp op) { ops_.push_back(std::move(op)); }

 private:
  friend StatusOr<std::vector<std::string>> LoadOpLibrary(const std::string& path);
  std::vector<CustomOp> ops_;
};

// Loads a library of custom ops into this process, and registers its ops (see RegisterOp). Returns their names. The
// library stays loaded until the process ends. To load the same file again has no effect and returns the same names. A
// path without directories is a file of the working directory. Thread-safe; blocks while it reads the file.
//
// An error names the file: NotFound if it does not exist, InvalidArgument if it is not such a library or does not fit
// this program, AlreadyExists if there is an op of the same name, and the errors of RegisterOp. On an error no op is
// added. Source: tf.load_op_library.
StatusOr<std::vector<std::string>> LoadOpLibrary(const std::string& path);

// What must be equal in a program and in a library that it loads, as words.
std::string OpLibraryAbi();

namespace internal {

// What a library shows to the program that loads it. `abi` is the first member in all versions.
struct OpLibraryEntry {
  const char* abi;
  const void* (*instance)();
  void (*add_ops)(OpLibrary& library);
};
// Differs between two copies of Tensorbraid in one process.
const void* InstanceOfTensorbraid();

}  // namespace internal

#define TB_TEXT_OF_VALUE(x) #x
#define TB_TEXT_OF(x) TB_TEXT_OF_VALUE(x)
#if defined(__SANITIZE_ADDRESS__) || defined(_GLIBCXX_DEBUG)
#define TB_OP_LIBRARY_CHECKS "checked containers"
#else
#define TB_OP_LIBRARY_CHECKS "plain containers"
#endif
#ifdef _GLIBCXX_USE_CXX11_ABI
#define TB_OP_LIBRARY_STRINGS "libstdc++ with strings of kind " TB_TEXT_OF(_GLIBCXX_USE_CXX11_ABI)
#else
#define TB_OP_LIBRARY_STRINGS "another standard library"
#endif
#ifdef ABSL_LTS_RELEASE_VERSION
#define TB_OP_LIBRARY_ABSL TB_TEXT_OF(ABSL_LTS_RELEASE_VERSION)
#else
#define TB_OP_LIBRARY_ABSL "of no release"
#endif
// The number of this interface, to be raised whenever a public header changes what a loaded library relies on.
#define TB_OP_LIBRARY_VERSION "2"
#define TB_OP_LIBRARY_ABI                                                                                              \
  "tensorbraid op library: interface " TB_OP_LIBRARY_VERSION ", " TB_OP_LIBRARY_STRINGS ", Abseil " TB_OP_LIBRARY_ABSL \
  ", " TB_OP_LIBRARY_CHECKS

// Begins the definition of the function that adds the ops of a library. Use it once in a library.
#define TENSORBRAID_OP_LIBRARY(library)                                                                               \
  static void TensorbraidAddOps(::tensorbraid::OpLibrary& library);                                                   \
  extern "C" {                                                                                                        \
  extern const ::tensorbraid::internal::OpLibraryEntry tensorbraid_op_library __attribute__((visibility("default"))); \
  const ::tensorbraid::internal::OpLibraryEntry tensorbraid_op_library = {                                            \
      TB_OP_LIBRARY_ABI, &::tensorbraid::internal::InstanceOfTensorbraid, &TensorbraidAddOps};                        \
  }                                                                                                                   \
  static void TensorbraidAddOps(::tensorbraid::OpLibrary& library)

}  // namespace tensorbraid

#endif  // TENSORBRAID_CUSTOM_OP_LIBRARY_H_
