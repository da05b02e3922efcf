#include "cli/http2_header_adder.h"

#include <gtest/gtest.h>

namespace tensorbraid {
namespace {

const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

std::string Frame(char type, char flags, char stream, const std::string& payload) {
  std::string frame;
  frame.push_back(static_cast<char>(payload.size() >> 16));
  frame.push_back(static_cast<char>(payload.size() >> 8));
  frame.push_back(static_cast<char>(payload.size()));
  frame.push_back(type);
  frame.push_back(flags);
  frame.append(3, '\0');
  frame.push_back(stream);
  return frame + payload;
}

std::string Pass(const std::string& bytes, size_t at_once) {
  Http2HeaderAdder adder("name", "value");
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += at_once) adder.Pass(std::string_view(bytes).substr(i, at_once), &out);
  return out;
}

const std::string kField = std::string("\x10\x04name\x05value");
constexpr char kData = 0, kHeaders = 1, kSettings = 4, kContinuation = 9;
constexpr char kEndStream = 1, kEndHeaders = 4, kPadded = 8;

TEST(Http2HeaderAdderTest, EachHeaderBlockGetsOneMoreFieldHoweverTheBytesArrive) {
  const std::string data = Frame(kData, kEndStream, 1, std::string(70000, 'd'));
  const std::string in = kPreface + Frame(kSettings, 0, 0, "") + Frame(kHeaders, kEndHeaders, 1, "block") + data +
                         Frame(kHeaders, kEndStream | kPadded, 3, "\x02 begin..") +
                         Frame(kContinuation, kEndHeaders, 3, "end") + Frame(kHeaders, kEndHeaders, 5, "");
  const std::string expected = kPreface + Frame(kSettings, 0, 0, "") + Frame(kHeaders, 0, 1, "block") +
                               Frame(kContinuation, kEndHeaders, 1, kField) + data +
                               Frame(kHeaders, kEndStream | kPadded, 3, "\x02 begin..") +
                               Frame(kContinuation, 0, 3, "end") + Frame(kContinuation, kEndHeaders, 3, kField) +
                               Frame(kHeaders, 0, 5, "") + Frame(kContinuation, kEndHeaders, 5, kField);
  for (const size_t at_once : {size_t{1}, size_t{2}, size_t{9}, size_t{10}, size_t{4096}, in.size()}) {
    EXPECT_TRUE(Pass(in, at_once) == expected) << at_once;
  }
}

TEST(Http2HeaderAdderTest, LongValuesHaveLongLengths) {
  const std::string value(1000, 'v');
  Http2HeaderAdder adder("n", value);
  std::string out;
  adder.Pass(kPreface + Frame(kHeaders, kEndHeaders, 1, "b"), &out);
  // 1000 - 127 = 873 = 6 * 128 + 105.
  EXPECT_EQ(out, kPreface + Frame(kHeaders, 0, 1, "b") +
                     Frame(kContinuation, kEndHeaders, 1, std::string("\x10\x01n\x7f\xe9\x06") + value));
}

}  // namespace
}  // namespace tensorbraid
