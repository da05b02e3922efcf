#include "cluster/status/report_text.h"

#include <gtest/gtest.h>

#include <random>

#include "cluster/protobuf/report.pb.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

proto::TaskReport SmallReport() {
  proto::TaskReport report;
  report.set_state("up");
  report.set_steps(1234);
  report.set_up_seconds(5.25);
  report.set_joined_seconds(1.5);
  for (const char* from : {"ps/0", "ps/7", "worker/1"}) {
    auto* traffic = report.add_received();
    traffic->set_from(from);
    traffic->set_tensor_bytes(123456789012);
  }
  return report;
}

TEST(ReportTextTest, IsAShortLineThatGivesTheReportBack) {
  proto::TaskReport report = SmallReport();
  const std::string text = ReportToText(report);
  EXPECT_LT(text.size(), 200u);
  EXPECT_EQ(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=:-"),
            text.size() - 1);
  EXPECT_EQ(text.back(), '\n');
  const auto read = ReportFromText(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->SerializeAsString(), report.SerializeAsString());
}

TEST(ReportTextTest, IsFoundWithinOtherText) {
  const std::string text = ReportToText(SmallReport());
  EXPECT_EQ(ReportFromText(StrCat("OOM: killed: ", text))->steps(), 1234);
  EXPECT_EQ(ReportFromText(StrCat(text, "the end of a longer one"))->steps(), 1234);
  EXPECT_TRUE(absl::IsNotFound(ReportFromText("done").status()));
  EXPECT_TRUE(absl::IsNotFound(ReportFromText("").status()));
}

TEST(ReportTextTest, AnythingLessThanTheWholeTextGivesNoReport) {
  const std::string text = ReportToText(SmallReport());
  const size_t end = text.find_first_of("=\n");  // the padding and the newline may be missing
  for (size_t i = 0; i < end; ++i) {
    EXPECT_FALSE(ReportFromText(text.substr(0, i)).ok()) << i;
    EXPECT_FALSE(i > 0 && ReportFromText(text.substr(i)).ok()) << i;
    std::string damaged = text;
    damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(ReportFromText(damaged).ok()) << i;
  }
}

TEST(ReportTextTest, AParameterServerOfAThousandWorkersFits) {
  std::mt19937_64 random(1);
  for (const int workers : {100, 480, 1000}) {
    proto::TaskReport report = SmallReport();
    report.clear_received();
    for (int i = 0; i < workers; ++i) {
      auto* traffic = report.add_received();
      traffic->set_from(StrCat("worker/", i));
      traffic->set_tensor_bytes(static_cast<double>(10'000'000'000 + random() % 100'000'000'000));
    }
    const std::string text = ReportToText(report);
    EXPECT_LE(text.size(), kMaxReportText);
    const auto read = ReportFromText(text);
    ASSERT_TRUE(read.ok()) << workers << " workers: " << read.status();
    ASSERT_EQ(read->received_size(), workers);
    for (int i = 0; i < workers; ++i) {
      EXPECT_EQ(read->received(i).from(), report.received(i).from());
      const double bytes = report.received(i).tensor_bytes();
      EXPECT_NEAR(read->received(i).tensor_bytes(), bytes, workers == 100 ? 0 : bytes / 4000);
    }
  }
}

TEST(ReportTextTest, WhatIsTooLongIsLeftOut) {
  std::mt19937_64 random(1);
  proto::TaskReport report = SmallReport();
  for (int i = 0; i < 20'000; ++i) {
    auto* traffic = report.add_received();
    traffic->set_from(StrCat("worker/", i));
    traffic->set_tensor_bytes(static_cast<double>(random() % 100'000'000'000));
  }
  EXPECT_EQ(ReportToText(report), "");
}

}  // namespace
}  // namespace tensorbraid
