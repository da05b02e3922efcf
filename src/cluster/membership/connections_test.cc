// Tests the errors about a task that cannot be reached.
#include "cluster/membership/connections.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "transport/transport_test_util.h"

namespace tensorbraid {
namespace {

using std::chrono::milliseconds;

// A network on which the test ends each attempt to connect.
class HeldTransport final : public Transport {
 public:
  StatusOr<int> Listen(const std::string&, LinkAcceptor*) override { return 1; }
  void Connect(const std::string&, const Hello&, milliseconds, ConnectDone done) override {
    attempts.push_back(std::move(done));
  }
  void Shutdown() override {}

  std::vector<ConnectDone> attempts;
};

class UnreachableTaskTest : public ::testing::Test {
 protected:
  UnreachableTaskTest() { connections_.SetAddress(kPs, "localhost:1000"); }
  ~UnreachableTaskTest() override { connections_.Shutdown(OkStatus()); }

  // The error of a caller that does not wait for the task.
  Status Error() {
    Status error;
    connections_.Get(kPs, milliseconds(0),
                     [&](const StatusOr<std::shared_ptr<PeerConnection>>& got) { error = got.status(); });
    connections_.Tick();
    return error;
  }

  const std::string kPs = "/job:ps/replica:0/task:0";
  HeldTransport transport_;
  Timer timer_;
  Connections connections_{&transport_, &timer_, HelloFrom("/job:worker/replica:0/task:0"), MembershipOptions()};
};

TEST_F(UnreachableTaskTest, TheErrorSaysThatNoAttemptHasEnded) {
  EXPECT_EQ(Error(), Unavailable("cannot reach ps/0 (localhost:1000): no attempt has ended yet"));
  EXPECT_EQ(transport_.attempts.size(), 1u);
}

TEST_F(UnreachableTaskTest, TheErrorGivesTheReasonOfTheLastAttempt) {
  Error().IgnoreError();
  ASSERT_EQ(transport_.attempts.size(), 1u);
  transport_.attempts[0](Unavailable("no task listens on localhost:1000"));
  EXPECT_EQ(Error(), Unavailable("cannot reach ps/0 (localhost:1000): no task listens on localhost:1000"));
}

}  // namespace
}  // namespace tensorbraid
