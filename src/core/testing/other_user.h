// Lets tests act as another user of the machine. Needs root.
#ifndef TENSORBRAID_CORE_TESTING_OTHER_USER_H_
#define TENSORBRAID_CORE_TESTING_OTHER_USER_H_

#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <functional>

#include "core/threads/thread.h"

namespace tensorbraid {

inline constexpr uid_t kOtherUser = 23456;

inline bool CanActAsOtherUser() { return ::geteuid() == 0; }

// Runs `body` on a thread whose sockets and files are the other user's. Its other rights stay root's.
inline void AsOtherUser(const std::function<void()>& body) {
  Thread thread("other-user", [&body] {
    ::setfsuid(kOtherUser);
    ASSERT_EQ(static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))), kOtherUser);
    body();
  });
  thread.Join();
}

}  // namespace tensorbraid

// Skips a test unless it runs as root.
#define TB_NEEDS_OTHER_USER() \
  if (!::tensorbraid::CanActAsOtherUser()) GTEST_SKIP() << "only root can act as another user"

#endif  // TENSORBRAID_CORE_TESTING_OTHER_USER_H_
