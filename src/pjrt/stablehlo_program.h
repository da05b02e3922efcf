// How plugins are told a program.
#ifndef TENSORBRAID_PJRT_STABLEHLO_PROGRAM_H_
#define TENSORBRAID_PJRT_STABLEHLO_PROGRAM_H_

#include <string_view>

#include "pjrt/c_api.h"

namespace tensorbraid::pjrt {

// A program in StableHLO. The text must outlive it.
inline c_api::Program StableHlo(std::string_view text) {
  constexpr std::string_view kFormat = "mlir";
  return {.code = const_cast<char*>(text.data()),
          .code_size = text.size(),
          .format = kFormat.data(),
          .format_size = kFormat.size()};
}

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_STABLEHLO_PROGRAM_H_
