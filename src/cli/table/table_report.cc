#include "cli/table/table_report.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <tuple>

#include "core/text/strings.h"
#include "core/text/text_table.h"
#include "core/values/fingerprint.h"

namespace tensorbraid {
namespace {

// Appends the shortest text from which the same number is read.
template <typename T>
void AppendNumber(T number, std::string* text) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  text->append(digits, end.ptr);
}

void AppendNumbers(std::span<const float> numbers, std::string_view between, std::string* text) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text->append(between);
    AppendNumber(numbers[i], text);
  }
}

double NormOf(std::span<const float> numbers) {
  double sum = 0;
  for (const float v : numbers) sum += double{v} * double{v};
  return std::sqrt(sum);
}

// "last updated at step 40, 7 occurrences"
std::string HistoryText(const SavedRow& row) {
  std::string text = row.version < 0 ? "" : StrCat("last updated at step ", row.version);
  if (row.frequency.has_value()) text += StrCat(text.empty() ? "" : ", ", *row.frequency, " occurrences");
  return text;
}

std::string RowText(const TableInCheckpoint& table, const SavedRow& row) {
  std::string text;
  const auto line = [&text](const std::string& name, std::span<const float> numbers) {
    text += StrCat("  ", name, ": ");
    AppendNumbers(numbers, " ", &text);
    text += "\n";
  };
  line(table.name, row.numbers);
  for (size_t s = 0; s < row.slots.size(); ++s) line(StrCat(table.name, "/", table.slots[s]), row.slots[s]);
  return text;
}

}  // namespace

StatusOr<std::string> DescribeTables(SavedTablesReader& reader) {
  if (reader.tables().empty()) return std::string("no growing tables\n");
  std::vector<TextRow> lines = {{"table", "rows", "dim", "parts", "numbers", "slots"}};
  for (const TableInCheckpoint& table : reader.tables()) {
    TF_ASSIGN_OR_RETURN(const int64_t rows, reader.CountRows(table));
    const int64_t numbers = std::accumulate(table.slot_dims.begin(), table.slot_dims.end(), table.dim);
    lines.push_back({table.name, StrCat(rows), StrCat(table.dim), StrCat(table.parts.size()),
                     SizeText(static_cast<double>(rows) * static_cast<double>(numbers) * sizeof(float)),
                     table.slots.empty() ? "-" : StrJoin(table.slots, ", ")});
  }
  return TableText(lines);
}

StatusOr<int64_t> KeyOf(const std::string& word, bool hash) {
  if (hash) return static_cast<int64_t>(Fingerprint64(word) % ((uint64_t{1} << 63) - 1));
  int64_t key = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), key);
  if (error == std::errc() && end == word.data() + word.size()) return key;
  return InvalidArgument("'", word, "' is no key, which is a 64-bit number; --hash makes keys of strings, as feature ",
                         "columns do");
}

StatusOr<RowsText> DescribeRows(TableRowSource& reader, const TableInCheckpoint& table,
                                const std::vector<std::string>& words, const std::vector<int64_t>& keys, bool slots) {
  std::map<int64_t, std::string> found;
  for (const int64_t key : keys) found[key];
  TF_RETURN_IF_ERROR(reader.ForEachRow(table, slots, [&](const SavedRow& row) {
    const auto at = found.find(row.key);
    if (at == found.end()) return OkStatus();
    const std::string history = HistoryText(row);
    at->second = StrCat(history.empty() ? "" : ": ", history, "\n", RowText(table, row));
    return OkStatus();
  }));
  RowsText result;
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string& text = found[keys[i]];
    if (text.empty()) ++result.missing;
    result.text += StrCat(words[i], words[i] == StrCat(keys[i]) ? "" : StrCat(" (key ", keys[i], ")"),
                          text.empty() ? ": no row\n" : text);
  }
  return result;
}

StatusOr<std::string> DescribeTopRows(TableRowSource& reader, const TableInCheckpoint& table, RowOrder order,
                                      int count) {
  if (order == RowOrder::kFrequency && !table.has_frequencies) {
    return FailedPrecondition("table '", table.name, "' did not count the occurrences of its keys; order by norm or ",
                              "version");
  }
  // Larger values first, then smaller keys.
  using Rank = std::tuple<double, int64_t>;
  std::map<Rank, TextRow> top;
  TF_RETURN_IF_ERROR(reader.ForEachRow(table, /*slots=*/false, [&](const SavedRow& row) {
    const double norm = NormOf(row.numbers);
    const double value = order == RowOrder::kNorm        ? (std::isnan(norm) ? INFINITY : norm)
                         : order == RowOrder::kFrequency ? static_cast<double>(row.frequency.value_or(0))
                                                         : static_cast<double>(row.version);
    const Rank rank{-value, row.key};
    if (static_cast<int>(top.size()) == count && !(rank < top.rbegin()->first)) return OkStatus();
    TextRow line = {StrCat(row.key), Formatted("%g", norm), row.version < 0 ? "-" : StrCat(row.version)};
    if (table.has_frequencies) line.push_back(StrCat(row.frequency.value_or(0)));
    top.emplace(rank, std::move(line));
    if (static_cast<int>(top.size()) > count) top.erase(std::prev(top.end()));
    return OkStatus();
  }));
  std::vector<TextRow> lines = {{"key", "norm", "version"}};
  if (table.has_frequencies) lines[0].push_back("frequency");
  for (auto& [rank, line] : top) lines.push_back(std::move(line));
  return TableText(lines);
}

Status WriteRows(TableRowSource& reader, const TableInCheckpoint& table, bool slots, std::ostream& out) {
  std::string line = "key,version";
  if (table.has_frequencies) line += ",frequency";
  for (int64_t i = 0; i < table.dim; ++i) line += StrCat(",v", i);
  for (size_t s = 0; slots && s < table.slots.size(); ++s) {
    for (int64_t i = 0; i < table.slot_dims[s]; ++i) line += StrCat(",", table.slots[s], ":", i);
  }
  out << line << "\n";
  TF_RETURN_IF_ERROR(reader.ForEachRow(table, slots, [&](const SavedRow& row) -> Status {
    line.clear();
    AppendNumber(row.key, &line);
    line += ",";
    AppendNumber(row.version, &line);
    if (table.has_frequencies) {
      line += ",";
      AppendNumber(row.frequency.value_or(0), &line);
    }
    line += ",";
    AppendNumbers(row.numbers, ",", &line);
    for (const std::span<const float> numbers : row.slots) {
      line += ",";
      AppendNumbers(numbers, ",", &line);
    }
    line += "\n";
    if (!out.write(line.data(), static_cast<std::streamsize>(line.size()))) {
      return Unavailable("the rows cannot be written: is the disk full?");
    }
    return OkStatus();
  }));
  return out.flush() ? OkStatus() : Unavailable("the rows cannot be written: is the disk full?");
}

Status WriteRowsToFile(TableRowSource& reader, const TableInCheckpoint& table, bool slots, const std::string& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  // A rename would put a file in the place of a pipe or a device, such as /dev/stdout.
  const bool renames = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
  const std::string unfinished = renames ? path + ".unfinished" : path;
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  if (!file) return Unavailable("'", unfinished, "' cannot be written");
  Status written = WriteRows(reader, table, slots, file);
  file.close();
  if (!renames) return written;
  failed.clear();
  if (written.ok()) std::filesystem::rename(unfinished, path, failed);
  if (failed) written = Unavailable("'", path, "' cannot be written: ", failed.message());
  if (!written.ok()) std::filesystem::remove(unfinished, failed);
  return written;
}

}  // namespace tensorbraid
