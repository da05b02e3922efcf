#include "kernels/cpu/parsing/csv.h"

#include <algorithm>

#include "core/text/op_type_name.h"
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/string/string.h"

namespace tensorbraid::cpu {

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
