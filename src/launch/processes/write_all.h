// Writes to pipes, terminals and files.
#ifndef TENSORBRAID_LAUNCH_PROCESSES_WRITE_ALL_H_
#define TENSORBRAID_LAUNCH_PROCESSES_WRITE_ALL_H_

#include <string_view>

namespace tensorbraid {

// Writes all bytes and returns 0. If the reader goes before that, or the disk is full, drops the rest and returns the
// system's error.
int WriteAll(int fd, std::string_view bytes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_PROCESSES_WRITE_ALL_H_
