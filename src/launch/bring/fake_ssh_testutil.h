// An "ssh" for tests, which leads to this machine.
#ifndef TENSORBRAID_LAUNCH_BRING_FAKE_SSH_TESTUTIL_H_
#define TENSORBRAID_LAUNCH_BRING_FAKE_SSH_TESTUTIL_H_

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "io/file_testutil.h"

namespace tensorbraid {

// Writes the program to the directory, and returns its path. Commands find the programs of the directory's folder bin
// first, which the test fills. The machine gamma cannot be reached.
inline std::string WriteFakeSsh(const TempDir& dir) {
  std::filesystem::create_directory(dir.path() + "/bin");
  const std::string path = dir.Write("ssh",
                                     "#!/bin/sh\n"
                                     "while [ \"$1\" = -o ]; do shift 2; done\n"
                                     "[ \"$1\" = gamma ] && { echo no route >&2; exit 255; }\n"
                                     "shift; [ \"$1\" = -- ] && shift\n"
                                     "PATH=" +
                                         dir.path() + "/bin:$PATH exec sh -c \"$*\"\n");
  ::chmod(path.c_str(), 0700);
  return path;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_BRING_FAKE_SSH_TESTUTIL_H_
