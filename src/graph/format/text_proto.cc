#include "graph/format/text_proto.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <limits>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// Keeps the first error.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text_.empty()) text_ = StrCat("line ", line + 1, ", column ", column + 1, ": ", message);
  }
  void AddWarning(int, int, const std::string&) override {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

Status ParseTextProto(std::string_view text, const std::string& what, google::protobuf::Message* message) {
  if (text.size() > std::numeric_limits<int>::max()) {
    return InvalidArgument("cannot parse the text as ", what, ": it has ", text.size(),
                           " bytes, and 2147483647 are possible");
  }
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.AllowUnknownField(true);
  parser.RecordErrorsTo(&error);
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  if (parser.Parse(&input, message)) return OkStatus();
  return InvalidArgument("cannot parse the text as ", what, ": ", error.text());
}

}  // namespace tensorbraid
