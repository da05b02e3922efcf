#include "kernels/cpu/parsing/csv.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/text/op_type_name.h"
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/string/string.h"

namespace tensorbraid::cpu {
namespace {

// Reads a number such as "12", "-3.25" or "0.001", if a few operations give the nearest value of T: digits that T can
// hold, divided by a power of ten that T can hold. Most numbers in files are such. Returns false for all others.
template <typename T>
bool ParseShortNumber(std::string_view text, T* value) {
  constexpr bool kReal = std::is_floating_point_v<T>;
  constexpr size_t kMostDigits = std::is_same_v<T, float> ? 7 : std::is_same_v<T, double> ? 15 : 9;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool has_point = kReal && text.find('.') != std::string_view::npos;
  if (text.size() > kMostDigits + (has_point ? 1 : 0) || text.size() < (has_point ? 2u : 1u)) return false;
  int64_t digits = 0;
  T divisor = 1;
  bool behind_point = false;
  for (const char c : text) {
    if (kReal && c == '.') {
      if (behind_point) return false;
      behind_point = true;
      continue;
    }
    if (c < '0' || c > '9') return false;
    digits = digits * 10 + (c - '0');
    if (behind_point) divisor *= 10;
  }
  if (kReal && negative && digits == 0) return false;  // -0
  const T positive = static_cast<T>(digits) / divisor;
  *value = negative ? -positive : positive;
  return true;
}

// Finds the places of a character in a text, eight characters at a time. Fields are short, so a search that is called
// for each field costs more.
class Delimiters {
 public:
  Delimiters(std::string_view text, char c) : text_(text), pattern_(kOnes * static_cast<unsigned char>(c)) { Load(); }

  // The next place; the size of the text after the last one.
  size_t Next() {
    while (found_ == 0) {
      at_ += 8;
      if (at_ >= text_.size()) return text_.size();
      Load();
    }
    const size_t place = at_ + static_cast<size_t>(std::countr_zero(found_)) / 8;
    found_ &= found_ - 1;
    return place;
  }

 private:
  static constexpr uint64_t kOnes = 0x0101010101010101, kLow = 0x7f7f7f7f7f7f7f7f;

  // Sets found_ to a word whose byte i is 0x80 if character at_ + i is the wanted one, and 0 otherwise.
  void Load() {
    uint64_t word = ~pattern_;  // has no wanted character
    std::memcpy(&word, text_.data() + at_, std::min<size_t>(8, text_.size() - at_));
    const uint64_t differs = word ^ pattern_;
    found_ = ~(((differs & kLow) + kLow) | differs | kLow);
  }

  const std::string_view text_;
  const uint64_t pattern_;
  size_t at_ = 0;
  uint64_t found_ = 0;
};
static_assert(std::endian::native == std::endian::little);

}  // namespace

CsvOutput::CsvOutput(const Tensor& default_value, Tensor* out)
    : dtype(out->dtype()), elements(out->inplace_raw_data()), default_value(&default_value) {}

bool CsvFormat::StorePlain(std::string_view record, std::span<const CsvOutput> outputs, int64_t at) const {
  const auto has = [&](char c) { return record.find(c) != std::string_view::npos; };
  if (record.empty() || has('\n') || has('\r') || (quotes && has('"'))) return false;
  Delimiters delimiters(record, delimiter[0]);
  size_t begin = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const size_t end = delimiters.Next();
    if ((end == record.size()) != (i + 1 == outputs.size())) return false;
    const std::string_view field = record.substr(begin, end - begin);
    begin = end + 1;
    const CsvOutput& out = outputs[i];
    bool stored = false;
    ForEachType<float, double, int32_t, int64_t, std::string>([&]<typename T>() {
      if (out.dtype != DTypeOf<T>::value) return;
      T& to = static_cast<T*>(out.elements)[at];
      if (field.empty() || field == missing) {
        stored = out.default_value->num_elements() == 1;
        if (stored) to = out.default_value->data<T>()[0];
      } else if constexpr (std::is_same_v<T, std::string>) {
        to.assign(field);
        stored = true;
      } else {
        stored = ParseShortNumber(field, &to) || ParseNumber(field, &to);
      }
    });
    if (!stored) return false;
  }
  return true;
}

Status CsvFormat::Check(int num_fields) const {
  if (delimiter.size() != 1) return InvalidArgument("field_delim must be one character, got '", delimiter, "'");
  if (columns.empty()) return OkStatus();
  if (!excludes && static_cast<int>(columns.size()) != num_fields) {
    return InvalidArgument("select_cols names ", columns.size(), " columns for ", num_fields, " outputs");
  }
  const char* const what = excludes ? "exclude_cols" : "select_cols";
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] < 0 || (i > 0 && columns[i] <= columns[i - 1])) {
      return InvalidArgument(what, " must be strictly increasing and not negative, got ", columns[i], " at position ",
                             i);
    }
  }
  return OkStatus();
}

Status CsvFormat::Split(std::string_view record, std::vector<std::string>* fields) const {
  fields->clear();
  const char end = delimiter[0];
  int64_t column = 0;
  const auto is_wanted = [&] {
    if (excludes) return !std::binary_search(columns.begin(), columns.end(), column);
    return columns.empty() || (fields->size() < columns.size() && columns[fields->size()] == column);
  };
  size_t at = 0;
  while (at < record.size()) {
    if (record[at] == '\n' || record[at] == '\r') {
      ++at;
      continue;
    }
    const bool wanted = is_wanted();
    std::string field;
    if (quotes && record[at] == '"') {
      TF_RETURN_IF_ERROR(Quoted(record, &at, &field));
    } else {
      for (; at < record.size() && record[at] != end; ++at) {
        const char c = record[at];
        if (wanted && ((quotes && c == '"') || c == '\n' || c == '\r')) {
          return InvalidArgument("Unquoted fields cannot have quotes/CRLFs inside: put the field in quotes");
        }
        field += c;
      }
      ++at;
    }
    if (wanted) fields->push_back(std::move(field));
    ++column;
    if (!excludes && !columns.empty() && fields->size() == columns.size()) return OkStatus();
  }
  // If the record ends with a delimiter, its last field is empty.
  if (is_wanted() && !record.empty() && record.back() == end) fields->emplace_back();
  return OkStatus();
}

Status CsvFormat::Quoted(std::string_view record, size_t* at, std::string* field) const {
  size_t i = *at + 1;
  while (i < record.size()) {
    if (record[i] != '"') {
      *field += record[i++];
    } else if (i + 1 == record.size() || record[i + 1] == delimiter[0]) {
      *at = i + 2;
      return OkStatus();
    } else if (record[i + 1] == '"') {
      *field += '"';
      i += 2;
    } else {
      return InvalidArgument("a quote inside a quoted field must be doubled");
    }
  }
  return InvalidArgument(
      "the record ends inside a quoted field: Quoted field has to end with quote followed by delim or end");
}

Status CsvFormat::Store(const std::string& field, const Tensor& default_value, int i, std::string_view record,
                        int64_t at, Tensor* out) const {
  Status status = Unimplemented("cannot decode fields of type ", out->dtype());
  ForEachType<float, double, int32_t, int64_t, std::string>([&]<typename T>() {
    if (out->dtype() != DTypeOf<T>::value) return;
    T& to = out->inplace_data<T>()[static_cast<size_t>(at)];
    status = OkStatus();
    if (field.empty() || field == missing) {
      if (default_value.num_elements() == 1) {
        to = default_value.data<T>()[0];
      } else {
        status = InvalidArgument("Field ", i, " is required but missing in ", record, "! (it has no default)");
      }
    } else if constexpr (std::is_same_v<T, std::string>) {
      to = field;
    } else if (!ParseNumber(field, &to)) {
      status = InvalidArgument("Field ", i, " in ", record, " is not a valid ", OpTypeName(out->dtype()), ": ",
                               field.substr(0, 100));
    }
  });
  return status;
}

}  // namespace tensorbraid::cpu
