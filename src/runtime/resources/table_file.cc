// Implements ReadTableFile (lookup_table.h).
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "core/text/strings.h"
#include "io/input_stream.h"
#include "runtime/resources/lookup_table.h"

namespace tensorbraid {
namespace {

// Collects the keys or the values of a table, line by line.
class Column {
 public:
  static constexpr std::string_view kKey = "key";

  Column(std::string_view what, const TextFileInitializer& file, int64_t index, DType dtype)
      : what_(what), file_(file), index_(index), dtype_(dtype) {}

  Status Check() const {
    constexpr int64_t kMaxColumns = 1'000'000;
    if (index_ < TextFileInitializer::kWholeLine || index_ > kMaxColumns)
      return InvalidArgument(what_, " index ", index_, " is not a valid column");
    if (index_ == TextFileInitializer::kLineNumber && dtype_ != kInt64) {
      return InvalidArgument("line numbers are int64, but the ", what_, "s of the table are ", dtype_);
    }
    const bool is_integer_key = what_ == kKey && (dtype_ == kInt32 || dtype_ == kInt64);
    if (index_ == TextFileInitializer::kWholeLine && dtype_ != kString && !is_integer_key) {
      return InvalidArgument("whole lines are strings, but the ", what_, "s of the table are ", dtype_);
    }
    if (dtype_ == kString || dtype_ == kInt32 || dtype_ == kInt64 || dtype_ == kFloat32 || dtype_ == kFloat64) {
      return OkStatus();
    }
    return InvalidArgument(what_, "s of a table cannot be read from a file as ", dtype_);
  }

  Status Add(const std::string& line, const std::vector<std::string>& fields, int64_t number) {
    if (index_ == TextFileInitializer::kLineNumber) {
      integers_.push_back(number + file_.offset);
      return OkStatus();
    }
    const std::string& field = index_ == TextFileInitializer::kWholeLine ? line : fields[static_cast<size_t>(index_)];
    if (dtype_ == kString) {
      strings_.push_back(field);
      return OkStatus();
    }
    if (dtype_ == kInt32 || dtype_ == kInt64) {
      int64_t value = 0;
      const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
      const bool fits = dtype_ == kInt64 || (value >= INT32_MIN && value <= INT32_MAX);
      if (error != std::errc() || end != field.data() + field.size() || !fits) return Invalid(field, number);
      integers_.push_back(value);
      return OkStatus();
    }
    char* end = nullptr;
    const double value = std::strtod(field.c_str(), &end);
    if (field.empty() || end != field.c_str() + field.size()) return Invalid(field, number);
    numbers_.push_back(value);
    return OkStatus();
  }

  Tensor Values() const {
    switch (dtype_) {
      case kString:
        return Tensor::Vector(strings_);
      case kInt64:
        return Tensor::Vector(integers_);
      case kInt32:
        return Tensor::Vector(std::vector<int32_t>(integers_.begin(), integers_.end()));
      case kFloat32:
        return Tensor::Vector(std::vector<float>(numbers_.begin(), numbers_.end()));
      default:
        return Tensor::Vector(numbers_);
    }
  }

 private:
  Status Invalid(const std::string& field, int64_t number) const {
    return InvalidArgument("field ", field, " in line ", number, " of ", file_.path, " is not a valid ", dtype_);
  }

  const std::string_view what_;
  const TextFileInitializer& file_;
  const int64_t index_;
  const DType dtype_;
  std::vector<std::string> strings_;
  std::vector<int64_t> integers_;
  std::vector<double> numbers_;
};

}  // namespace

StatusOr<std::pair<Tensor, Tensor>> ReadTableFile(const TextFileInitializer& file, DType key_dtype, DType value_dtype) {
  Column keys(Column::kKey, file, file.key_index, key_dtype);
  Column values("value", file, file.value_index, value_dtype);
  if (file.delimiter.size() != 1)
    return InvalidArgument("the delimiter must be one character, got '", file.delimiter, "'");
  TF_RETURN_IF_ERROR(keys.Check());
  TF_RETURN_IF_ERROR(values.Check());
  if (file.vocab_size == 0) return OutOfRange("vocab_size is 0: there are no lines to read from ", file.path);
  TF_ASSIGN_OR_RETURN(const auto stream, InputStream::Open(file.path));
  const auto columns = static_cast<size_t>(std::max<int64_t>(std::max(file.key_index, file.value_index) + 1, 0));
  std::string line;
  int64_t number = 0;
  for (; file.vocab_size < 0 || number < file.vocab_size; ++number) {
    const Status read = stream->ReadLine(&line);
    if (absl::IsOutOfRange(read)) break;
    TF_RETURN_IF_ERROR(read);
    if (line.empty()) {
      return InvalidArgument(file.path, " has an empty line before byte ", stream->position());
    }
    std::vector<std::string> fields;
    if (columns > 0) fields = StrSplit(line, file.delimiter[0]);
    if (fields.size() < columns) {
      return InvalidArgument("Invalid number of columns: line ", number, " of ", file.path, " has ", fields.size(),
                             ", expected at least ", columns, " (", line, ")");
    }
    TF_RETURN_IF_ERROR(keys.Add(line, fields, number));
    TF_RETURN_IF_ERROR(values.Add(line, fields, number));
  }
  if (file.vocab_size > number) {
    return InvalidArgument("Invalid vocab_size ", file.vocab_size, ": ", file.path, " has ", number, " lines");
  }
  return std::pair{keys.Values(), values.Values()};
}

}  // namespace tensorbraid
