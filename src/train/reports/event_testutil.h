// Reads event files in tests.
#ifndef TENSORBRAID_TRAIN_REPORTS_EVENT_TESTUTIL_H_
#define TENSORBRAID_TRAIN_REPORTS_EVENT_TESTUTIL_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/file.h"
#include "io/record.h"
#include "io/summary.pb.h"

namespace tensorbraid {

inline std::vector<std::string> EventFiles(const std::string& directory) {
  return MatchingPaths(directory + "/events.out.tfevents.*").value();
}

// The events of all files of a directory, without the records that give the version of the format.
inline std::vector<proto::Event> ReadEvents(const std::string& directory) {
  std::vector<proto::Event> events;
  for (const std::string& path : EventFiles(directory)) {
    auto reader = RecordReader::Open(path).value();
    std::string record;
    for (int i = 0; reader->Read(&record).ok(); ++i) {
      proto::Event event;
      EXPECT_TRUE(event.ParseFromString(record)) << path;
      EXPECT_GT(event.wall_time(), 0);
      if (i == 0) {
        EXPECT_EQ(event.file_version(), "brain.Event:2");
      } else {
        events.push_back(event);
      }
    }
  }
  return events;
}

// The values of a scalar, as (step, value).
inline std::vector<std::pair<int64_t, float>> ReadScalar(const std::string& directory, const std::string& tag) {
  std::vector<std::pair<int64_t, float>> values;
  for (const proto::Event& event : ReadEvents(directory)) {
    for (const auto& value : event.summary().value()) {
      if (value.tag() == tag) values.emplace_back(event.step(), value.simple_value());
    }
  }
  return values;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPORTS_EVENT_TESTUTIL_H_
