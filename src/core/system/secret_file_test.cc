#include "core/system/secret_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

// A file of this process's user, which is root in CI.
class SecretFileTest : public ::testing::Test {
 protected:
  SecretFileTest() : path_(directory_.Write("key", "secret")) {}
  bool IsAccepted(mode_t mode) {
    EXPECT_EQ(::chmod(path_.c_str(), mode), 0);
    return CheckIsSecret("--tls_key", path_).ok();
  }

  TempDir directory_;
  const std::string path_;
};

TEST_F(SecretFileTest, OthersMayNeitherReadNorWriteIt) {
  for (const mode_t mode : {0600, 0400, 0700}) EXPECT_TRUE(IsAccepted(mode)) << mode;
  for (const mode_t mode : {0644, 0604, 0620, 0602, 0660, 0666, 0777}) EXPECT_FALSE(IsAccepted(mode)) << mode;
}

TEST_F(SecretFileTest, TheErrorSaysHowToMendIt) {
  ASSERT_FALSE(IsAccepted(0644));
  const Status status = CheckIsSecret("--tls_key", path_);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()),
            "--tls_key: other users can read the file '" + path_ + "' (mode 0644): run 'chmod 600 " + path_ +
                "'; for a mounted secret of Kubernetes set defaultMode: 0400, or 0440 with fsGroup");
}

TEST_F(SecretFileTest, TheGroupMayReadWhatRootGivesIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to other users";
  EXPECT_TRUE(IsAccepted(0440));
  EXPECT_FALSE(IsAccepted(0460));
  ASSERT_EQ(::chown(path_.c_str(), 65534, 65534), 0);
  const Status status = CheckIsSecret("--tls_key", path_);
  EXPECT_NE(status.message().find("belongs to user 65534"), absl::string_view::npos) << status;
}

TEST_F(SecretFileTest, ALinkIsWhatItPointsTo) {
  const std::string link = directory_.path() + "/link";
  ASSERT_EQ(::symlink(path_.c_str(), link.c_str()), 0);
  ASSERT_TRUE(IsAccepted(0600));
  EXPECT_EQ(CheckIsSecret("--tls_key", link), OkStatus());
  ASSERT_FALSE(IsAccepted(0644));
  EXPECT_FALSE(CheckIsSecret("--tls_key", link).ok());
}

TEST_F(SecretFileTest, AMissingFileIsLeftToItsReader) {
  EXPECT_EQ(CheckIsSecret("--tls_key", path_ + ".no"), OkStatus());
}

}  // namespace
}  // namespace tensorbraid
