// A likely reason why a file cannot be read: it is compressed.
#ifndef TENSORBRAID_CORE_TEXT_GZIP_MAGIC_H_
#define TENSORBRAID_CORE_TEXT_GZIP_MAGIC_H_

#include <string_view>

namespace tensorbraid {

// The end of the message about a file that has an unexpected format. `content` is at least its first two bytes. Returns
// "" unless they are the magic number of a gzip file.
inline std::string_view GzipHint(std::string_view content) {
  if (!content.starts_with("\x1f\x8b")) return "";
  return "; it has the magic number of a gzip file: decompress it, or read it with the compression type GZIP if the "
         "reader has this option";
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TEXT_GZIP_MAGIC_H_
