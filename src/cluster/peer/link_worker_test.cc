// Tests LinkWorker, GraphParts and PeerConnection, which belong to the link with another task.
#include "cluster/peer/link_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "cluster/peer/graph_parts.h"
#include "cluster/peer/peer_connection.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;
using ::testing::HasSubstr;

// A link that stores the messages sent on it.
class RecordingLink final : public Link {
 public:
  RecordingLink() {
    hello_.task = "/job:ps/replica:0/task:0";
    hello_.incarnation = 5;
  }
  const Hello& peer() const override { return hello_; }
  void Send(Message message) override { sent.push_back(std::move(message)); }
  void Close(Status) override {}
  std::vector<Message> sent;

 private:
  Hello hello_;
};

struct RecordingListener final : public RemoteWorker::StepListener {
  void OnPartDone(const RemoteWorker&, const Status& status, const std::string& stats) override {
    heard.emplace_back(status, stats);
  }
  std::vector<std::pair<Status, std::string>> heard;
};

class LinkWorkerTest : public ::testing::Test {
 protected:
  static constexpr SessionId kSession{7, 1};
  static constexpr StepId kStep{7, 2};
  std::shared_ptr<RecordingLink> link_ = std::make_shared<RecordingLink>();
  LinkWorker worker_{link_};
  std::shared_ptr<RecordingListener> listener_ = std::make_shared<RecordingListener>();

  // Registers a small partition and returns its request.
  RegisterGraph Register(RemoteWorker::Done done) {
    worker_.RegisterGraph(kSession, 1, "graph", /*isolated_state=*/false, /*limited_files=*/true, std::move(done));
    return std::get<RegisterGraph>(link_->sent.back());
  }
};

TEST_F(LinkWorkerTest, ALargeGraphIsSentInPartsAndPutTogetherAgain) {
  std::string graph(5 * kMaxGraphPartBytes / 2, 'a');
  graph.back() = 'b';
  worker_.RegisterGraph(kSession, 1, graph, /*isolated_state=*/true, /*limited_files=*/false, [](const Status&) {});
  worker_.RegisterGraph(kSession, 2, "small", false, false, [](const Status&) {});
  GraphParts parts;
  std::vector<RegisterGraph> whole;
  for (const Message& message : link_->sent) {
    if (const auto* part = std::get_if<GraphPart>(&message)) {
      EXPECT_LE(part->bytes.size(), kMaxGraphPartBytes);
      parts.Add(*part);
      continue;
    }
    whole.push_back(std::get<RegisterGraph>(message));
    EXPECT_LE(whole.back().partition.size(), kMaxGraphPartBytes);
    EXPECT_TRUE(parts.Complete(&whole.back()).ok());
  }
  EXPECT_EQ(link_->sent.size(), 4u);  // two GraphParts, and a RegisterGraph for each graph
  ASSERT_EQ(whole.size(), 2u);
  EXPECT_TRUE(whole[0].partition == graph);
  EXPECT_TRUE(whole[0].isolated_state);
  EXPECT_EQ(whole[1].partition, "small");
}

TEST_F(LinkWorkerTest, AGraphThatIsTooLargeIsRefused) {
  GraphParts parts(10);
  for (int i = 0; i < 100; ++i) parts.Add({.request = 1, .bytes = "123456"});
  parts.Add({.request = 2, .bytes = "12345"});
  RegisterGraph large{.request = 1, .session = {}, .partition = {}},
      small{.request = 2, .session = {}, .partition = "12345"};
  EXPECT_EQ(parts.Complete(&large).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(parts.Complete(&small).ok());
  EXPECT_EQ(small.partition, "1234512345");
}

// While one message is handled, which may take long, the messages behind it have to wait, heartbeats among them.
TEST(PeerConnectionTest, ATaskIsNotSilentWhileItsMessageIsHandled) {
  PeerConnection connection(std::make_shared<RecordingLink>(), std::make_shared<Traffic>());
  const auto later = MonotonicClock::now() + std::chrono::hours(1);
  EXPECT_GT(connection.silence(later), std::chrono::minutes(59));
  {
    const PeerConnection::Handling handling(connection, 0);
    EXPECT_EQ(connection.silence(later), std::chrono::hours(0));
  }
  EXPECT_GT(connection.silence(later), std::chrono::minutes(59));
}

TEST_F(LinkWorkerTest, AReportIsTheBodyOfItsReply) {
  Status status = Internal("not called");
  std::string report;
  worker_.GetReport({.session_clusters_within_ms = 2000}, [&](const Status& s, const std::string& body) {
    status = s;
    report = body;
  });
  EXPECT_EQ(std::get<GetReport>(link_->sent.back()).session_clusters_within_ms, 2000u);
  worker_.OnReply(
      {.request = std::get<GetReport>(link_->sent.back()).request, .status = OkStatus(), .body = "all well"});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(report, "all well");
  worker_.GetReport({}, [&](const Status& s, const std::string&) { status = s; });
  worker_.OnLinkDown(Unavailable("ps/0 is gone"));
  EXPECT_EQ(status, Unavailable("ps/0 is gone"));
}

TEST_F(LinkWorkerTest, TheNumberOfAReplySaysWhichCallItAnswers) {
  Status first = Internal("not called"), second = first;
  const auto one = Register([&](const Status& s) { first = s; });
  const auto two = Register([&](const Status& s) { second = s; });
  EXPECT_EQ(one.partition, "graph");
  worker_.OnReply({.request = two.request, .status = InvalidArgument("no such op"), .body = ""});
  EXPECT_EQ(second.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(second.message()), HasSubstr("ps/0: no such op"));
  EXPECT_EQ(first.code(), StatusCode::kInternal);
  worker_.OnReply({.request = one.request, .status = OkStatus(), .body = ""});
  EXPECT_EQ(first, OkStatus());
}

TEST_F(LinkWorkerTest, ABrokenLinkFailsPendingCallsAndLaterOnesAtOnce) {
  Status pending = OkStatus(), later = OkStatus();
  Register([&](const Status& s) { pending = s; });
  worker_.RunGraph(kStep, kSession, 1, false, listener_);
  EXPECT_EQ(worker_.state(), OkStatus());
  const size_t sent = link_->sent.size();
  worker_.OnLinkDown(Unavailable("ps/0 is gone"));
  EXPECT_EQ(pending, Unavailable("ps/0 is gone"));
  ASSERT_EQ(listener_->heard.size(), 1u);
  EXPECT_EQ(listener_->heard[0].first, Unavailable("ps/0 is gone"));
  EXPECT_EQ(worker_.state(), Unavailable("ps/0 is gone"));
  worker_.RegisterGraph(kSession, 2, "graph", false, false, [&](const Status& s) { later = s; });
  EXPECT_EQ(later, Unavailable("ps/0 is gone"));
  worker_.RunGraph({7, 3}, kSession, 1, false, listener_);
  ASSERT_EQ(listener_->heard.size(), 2u);
  EXPECT_EQ(link_->sent.size(), sent);
}

TEST_F(LinkWorkerTest, AListenerHearsALateFailureUntilTheStepEnds) {
  worker_.RunGraph(kStep, kSession, 1, true, listener_);
  EXPECT_TRUE(std::get<RunGraph>(link_->sent.back()).trace);
  worker_.OnStepDone({.step = kStep, .status = OkStatus(), .stats = "stats"});
  worker_.OnStepDone({.step = kStep, .status = Unavailable("worker/1 is gone")});
  worker_.OnStepDone({.step = {7, 9}, .status = Internal("another step")});
  ASSERT_EQ(listener_->heard.size(), 2u);
  EXPECT_EQ(listener_->heard[0], std::make_pair(OkStatus(), std::string("stats")));
  EXPECT_THAT(std::string(listener_->heard[1].first.message()), HasSubstr("ps/0: worker/1 is gone"));
  worker_.EndStep(kStep);
  worker_.OnStepDone({.step = kStep, .status = Unavailable("too late")});
  worker_.OnLinkDown(Unavailable("ps/0 is gone"));
  EXPECT_EQ(listener_->heard.size(), 2u);
  EXPECT_EQ(listener_.use_count(), 1);
}

}  // namespace
}  // namespace tensorbraid
