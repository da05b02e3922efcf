// Tests sessions whose background threads fail.
#include <gtest/gtest.h>

#include "io/file.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// A pipeline that reads image files: file names -> contents -> images -> a queue from which `take` takes them.
struct ImagePipeline {
  explicit ImagePipeline(const std::vector<std::string>& files) {
    const FIFOQueue names(g, {kString}, {.shapes = {Shape()}, .name = "names"});
    const FIFOQueue images(g, {kUint8}, {.name = "images"});
    fill = names.EnqueueMany({Tensor::Vector(files)});
    const Output image = image::DecodeJpeg(ReadFile(names.Dequeue()[0]));
    const Operation enqueue = images.Enqueue({image});
    runner = QueueRunner({enqueue, enqueue}, images.Close());
    take = images.Dequeue()[0];
  }
  Graph g;
  Operation fill;
  QueueRunner runner;
  Output take;
};

TEST(InputFailure, AFailureOfTheInputPipelineEndsTrainingAndNamesTheFile) {
  const TempDir dir;
  const std::string damaged = dir.path() + "/damaged.jpg";
  ASSERT_TRUE(WriteFile(damaged, "\xff\xd8\xff\xe0 and nothing more").ok());
  ImagePipeline p({damaged});
  auto session = MonitoredTrainingSession(p.g, {.queue_runners = {p.runner}});
  ASSERT_TRUE(session.ok()) << session.status();
  // The failure that this run provokes may cancel the run itself.
  const Status filled = (*session)->session().Run({p.fill}).status();
  ASSERT_TRUE(filled.ok() || absl::IsCancelled(filled)) << filled;
  Status status;
  while (status.ok() && !(*session)->ShouldStop()) status = (*session)->Run({p.take}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_NE(status.message().find(damaged), absl::string_view::npos) << status;
  EXPECT_TRUE((*session)->ShouldStop()) << "the session must stop after it has returned the error";
  EXPECT_EQ((*session)->Close(), status);
}

TEST(InputFailure, ABackgroundThreadThatFailsEndsARunThatWaits) {
  Graph g;
  const FIFOQueue queue(g, {kFloat32}, {.shapes = {Shape()}, .name = "never"});
  const Output take = queue.Dequeue()[0];
  auto session = MonitoredTrainingSession(g);
  ASSERT_TRUE(session.ok()) << session.status();
  (*session)->coordinator().StartThread([] { return Status(absl::DataLossError("the input is damaged")); });
  ASSERT_FALSE((*session)->ShouldStop()) << "the session must go on until a run has returned the error";
  const Status status = (*session)->Run({take}).status();
  EXPECT_EQ(status, absl::DataLossError("the input is damaged"));
  EXPECT_TRUE((*session)->ShouldStop());
  EXPECT_EQ((*session)->Close(), status);
}

}  // namespace
}  // namespace tensorbraid
