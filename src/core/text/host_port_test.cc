#include "core/text/host_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

TEST(HostPort, ReadsNamesAndIpv4AndIpv6Addresses) {
  for (const char* text : {"localhost:2222", "10.0.0.1:1", "ps-0.train.svc.cluster.local:65535", "[::1]:0"}) {
    auto parsed = ParseHostPort(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->ToString(), text);
  }
  EXPECT_EQ(ParseHostPort("[fe80::2]:80")->host, "fe80::2");
}

TEST(HostPort, RefusesAndQuotesInvalidAddresses) {
  for (const char* text : {"", "localhost", ":2222", "localhost:", "localhost:x", "localhost:-1", "localhost:65536",
                           "localhost:22 ", "a b:1", "::1:2222", "[::1]", "[localhost]:1", "http://h:1", "h:1,i"}) {
    const Status status = ParseHostPort(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(status.message(), HasSubstr("'" + std::string(text) + "'"));
  }
}

}  // namespace
}  // namespace tensorbraid
