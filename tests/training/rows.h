// Reads TensorFlow's results, the rows of the files references/*.jsonl (see README.md).
#ifndef TENSORBRAID_TESTS_TRAINING_ROWS_H_
#define TENSORBRAID_TESTS_TRAINING_ROWS_H_

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tensorbraid {

using Json = nlohmann::json;

// The rows of references/FILE.jsonl. Adds a failure if there are none.
inline std::vector<Json> Rows(const std::string& file) {
  std::ifstream in(std::string(TENSORBRAID_TRAINING_REFERENCES) + "/" + file + ".jsonl");
  std::vector<Json> rows;
  for (std::string line; std::getline(in, line);) rows.push_back(Json::parse(line));
  EXPECT_FALSE(rows.empty()) << file;
  return rows;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_TRAINING_ROWS_H_
