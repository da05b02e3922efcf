// Finds the file of the source tree to which a source location belongs.
#ifndef TENSORBRAID_CORE_TEXT_SOURCE_FILE_H_
#define TENSORBRAID_CORE_TEXT_SOURCE_FILE_H_

#include <source_location>
#include <string_view>

namespace tensorbraid {

// The file of a location, relative to src: "ops/math/binary.cc". The whole path if it is not below a folder named src.
constexpr std::string_view SourceFile(const std::source_location& location) {
  constexpr std::string_view kSrc = "/src/";
  const std::string_view path = location.file_name();
  const size_t at = path.rfind(kSrc);
  return at == std::string_view::npos ? path : path.substr(at + kSrc.size());
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TEXT_SOURCE_FILE_H_
