// What each compilation is told.
#ifndef TENSORBRAID_PJRT_COMPILE_OPTIONS_H_
#define TENSORBRAID_PJRT_COMPILE_OPTIONS_H_

#include <string_view>

#include "pjrt/c_api.h"

namespace tensorbraid::pjrt {

// CompileOptionsProto: {executable_build_options: {num_replicas: 1, num_partitions: 1}, compile_portable_executable:
// true}. A plugin ends the process if it is not told the numbers. A portable program runs on each device of the client.
inline constexpr std::string_view kCompileOptions("\x1a\x04\x20\x01\x28\x01\x20\x01", 8);

// A program in StableHLO. The text must outlive it.
inline c_api::Program StableHlo(std::string_view text) {
  constexpr std::string_view kFormat = "mlir";
  return {.code = const_cast<char*>(text.data()),
          .code_size = text.size(),
          .format = kFormat.data(),
          .format_size = kFormat.size()};
}

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_COMPILE_OPTIONS_H_
