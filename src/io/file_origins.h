// Remembers which files were read as a whole, so that an error about the contents of a file can name it: an op that
// decodes an image gets a string and does not know where the string came from.
#ifndef TENSORBRAID_IO_FILE_ORIGINS_H_
#define TENSORBRAID_IO_FILE_ORIGINS_H_

#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Both functions are thread-safe and look only at the size of `contents` and at its first and last 256 bytes. Files
// that agree in these are not distinguished.

// Remembers that `contents` was read from the file `path`. The last few thousand files of this process are remembered.
void NoteFileContents(const std::string& path, std::string_view contents);

// Puts the name of the file before the message of an error about `contents`, if this process has read them from a file.
// OK stays OK.
Status AboutFileContents(const Status& status, std::string_view contents);

}  // namespace tensorbraid

#endif  // TENSORBRAID_IO_FILE_ORIGINS_H_
