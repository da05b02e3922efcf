#include "cli/table/table_follower.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cli/table/saved_variables.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "nlohmann/json.hpp"
#include "tensorbraid/checkpoint/checkpoint.h"
#include "train/checkpoints/increments.h"

namespace tensorbraid {
namespace {

std::string Quoted(const std::string& text) {
  // Names that are not UTF-8 are written with replacement characters.
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string NameIn(const std::string& prefix) { return prefix.substr(prefix.rfind('/') + 1); }

template <typename T>
void Append(T number, std::string* text) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  text->append(digits, end.ptr);
}

template <typename T>
void AppendJson(T number, std::string* text) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(number)) {
      *text += std::isnan(number) ? "\"nan\"" : number > 0 ? "\"inf\"" : "\"-inf\"";
      return;
    }
  }
  Append(number, text);
}

template <typename T, typename As = T>
void AppendNumbers(const Tensor& tensor, size_t begin, size_t end, std::string* text) {
  const auto numbers = tensor.data<T>();
  for (size_t i = begin; i < end; ++i) {
    if (i > begin) *text += ",";
    AppendJson(static_cast<As>(numbers[i]), text);
  }
}

// Appends elements of a tensor of numbers, with commas between them. REQUIRES: the dtype is one of ForEachVariable.
void AppendElements(const Tensor& tensor, size_t begin, size_t end, std::string* text) {
  switch (tensor.dtype()) {
    case DType::kFloat32:
      return AppendNumbers<float>(tensor, begin, end, text);
    case DType::kFloat64:
      return AppendNumbers<double>(tensor, begin, end, text);
    case DType::kFloat16:
      return AppendNumbers<Float16, float>(tensor, begin, end, text);
    case DType::kBfloat16:
      return AppendNumbers<Bfloat16, float>(tensor, begin, end, text);
    case DType::kInt8:
      return AppendNumbers<int8_t, int>(tensor, begin, end, text);
    case DType::kInt16:
      return AppendNumbers<int16_t>(tensor, begin, end, text);
    case DType::kInt32:
      return AppendNumbers<int32_t>(tensor, begin, end, text);
    case DType::kInt64:
      return AppendNumbers<int64_t>(tensor, begin, end, text);
    case DType::kUint8:
      return AppendNumbers<uint8_t, int>(tensor, begin, end, text);
    case DType::kUint16:
      return AppendNumbers<uint16_t>(tensor, begin, end, text);
    case DType::kUint32:
      return AppendNumbers<uint32_t>(tensor, begin, end, text);
    case DType::kUint64:
      return AppendNumbers<uint64_t>(tensor, begin, end, text);
    case DType::kBool:
      return AppendNumbers<bool, int>(tensor, begin, end, text);
    default:
      return;
  }
}

}  // namespace

std::string TableFollower::Lists() const {
  const auto text = [](const std::string& file) {
    const auto content = ReadFile(file);
    return content.ok() ? *content : std::string();
  };
  return StrCat(text(options_.directory + "/checkpoint"), "\n",
                text(StrCat(options_.directory, "/", kIncrementDirectory, "/checkpoint")));
}

StatusOr<bool> TableFollower::Poll() {
  std::string lists = Lists();
  if (!full_.empty() && lists == lists_) return false;
  StatusOr<bool> written = PollOnce();
  // A saver removes the increments of an earlier full checkpoint once it has listed the next one. So an error counts
  // only if nothing was listed meanwhile.
  for (int again = 0; !written.ok() && again < 3; ++again) {
    std::string now = Lists();
    if (now == lists) break;
    lists = std::move(now);
    written = PollOnce();
  }
  if (written.ok()) lists_ = std::move(lists);
  return written;
}

StatusOr<bool> TableFollower::PollOnce() {
  TF_ASSIGN_OR_RETURN(const std::string full, LatestCheckpoint(options_.directory));
  if (IsIncrement(full)) {
    return InvalidArgument("'", options_.directory, "' is the directory of the increments; name '",
                           DirectoryOf(DirectoryOf(full)), "', the directory of the full checkpoints");
  }
  TF_ASSIGN_OR_RETURN(const std::string full_id, CheckpointId(full));
  TF_ASSIGN_OR_RETURN(const IncrementChain chain, FindChain(full));
  bool written = false;
  if (full != full_ || full_id != full_id_) {
    TF_RETURN_IF_ERROR(CheckTable(full));
    // Only at the beginning may the reader have the full checkpoint already.
    if (!full_.empty() || options_.full) {
      TF_RETURN_IF_ERROR(Write(full, /*full=*/true));
      written = true;
    }
    full_ = newest_ = full;
    full_id_ = newest_id_ = full_id;
  }
  auto next = chain.increments.begin();
  if (chain.of_deeprec) {  // each increment has all changes since the full checkpoint
    const auto id = CheckpointId(newest_);
    if (newest_ == chain.newest() && id.ok() && *id == newest_id_) ++next;
  } else if (newest_ != full_) {
    next = std::ranges::find(chain.increments, newest_);
    const auto id = CheckpointId(newest_);
    if (next == chain.increments.end() || !id.ok() || *id != newest_id_) {
      return FailedPrecondition("the increment '", newest_, "', which was written last, is gone or was replaced: its ",
                                "successors do not follow what was written; begin again, with --full");
    }
    ++next;
  }
  for (; next != chain.increments.end(); ++next) {
    TF_ASSIGN_OR_RETURN(std::string id, CheckpointId(*next));
    TF_RETURN_IF_ERROR(Write(*next, /*full=*/false));
    newest_ = *next;
    newest_id_ = std::move(id);
    written = true;
  }
  return written;
}

Status TableFollower::CheckTable(const std::string& full) const {
  if (options_.table.empty()) return OkStatus();
  TF_ASSIGN_OR_RETURN(const SavedTablesReader reader, SavedTablesReader::Open(full));
  const auto found = reader.Find(options_.table);
  // The caller waits for a checkpoint when it gets NotFound, but here there is one, which lacks the table.
  return absl::IsNotFound(found.status()) ? InvalidArgument(found.status().message()) : found.status();
}

Status TableFollower::Write(const std::string& prefix, bool full) {
  TF_ASSIGN_OR_RETURN(SavedTablesReader reader,
                      full ? SavedTablesReader::Open(prefix) : SavedTablesReader::OpenIncrement(prefix));
  const std::string which = StrCat(Quoted(NameIn(prefix)), ",\"full\":", full ? "true" : "false");
  TF_RETURN_IF_ERROR(WriteLine(StrCat("{\"begin\":", which, "}")));
  int64_t rows = 0, deleted = 0;
  for (const TableInCheckpoint& table : std::vector<TableInCheckpoint>(reader.tables())) {
    if (!options_.table.empty() && table.name != options_.table) continue;
    TF_RETURN_IF_ERROR(WriteTable(reader, table, full, &rows, &deleted));
  }
  int64_t variables = 0;
  if (options_.table.empty()) TF_RETURN_IF_ERROR(WriteVariables(prefix, full, &variables));
  TF_RETURN_IF_ERROR(WriteLine(
      StrCat("{\"end\":", which, ",\"rows\":", rows, ",\"deleted\":", deleted, ",\"variables\":", variables, "}")));
  return out_.flush() ? OkStatus() : Unavailable("nobody reads the rows any more");
}

Status TableFollower::WriteTable(SavedTablesReader& reader, const TableInCheckpoint& table, bool full, int64_t* rows,
                                 int64_t* deleted) {
  const std::string begin = StrCat("{\"table\":", Quoted(table.name), ",\"key\":");
  if (!full) {
    TF_ASSIGN_OR_RETURN(const std::vector<int64_t> keys, reader.DeletedKeys(table));
    for (const int64_t key : keys) TF_RETURN_IF_ERROR(WriteLine(StrCat(begin, key, ",\"deleted\":true}")));
    *deleted += std::ssize(keys);
  }
  std::string line;
  return reader.ForEachRow(table, /*slots=*/false, [&](const SavedRow& row) {
    line = begin;
    Append(row.key, &line);
    line += ",\"version\":";
    Append(row.version, &line);
    line += ",\"values\":[";
    for (size_t i = 0; i < row.numbers.size(); ++i) {
      if (i > 0) line += ",";
      AppendJson(row.numbers[i], &line);
    }
    line += "]}";
    ++*rows;
    return WriteLine(line);
  });
}

Status TableFollower::WriteVariables(const std::string& prefix, bool full, int64_t* variables) {
  std::string last;
  const auto write = [&](const VariablePiece& piece) -> Status {
    *variables += piece.name != last;
    last = piece.name;
    std::string begin =
        StrCat("{\"variable\":", Quoted(piece.name), ",\"dtype\":\"", piece.numbers.dtype(), "\",\"shape\":[");
    for (int i = 0; i < piece.shape.rank(); ++i) begin += StrCat(i > 0 ? "," : "", piece.shape.dim(i));
    begin += "],\"first\":";
    constexpr size_t kNumbersOfLine = 4096;
    const auto n = static_cast<size_t>(piece.numbers.num_elements());
    for (size_t at = 0; at < n; at += kNumbersOfLine) {
      std::string line = begin;
      Append(piece.first + static_cast<int64_t>(at), &line);
      line += ",\"values\":[";
      AppendElements(piece.numbers, at, std::min(n, at + kNumbersOfLine), &line);
      line += "]}";
      TF_RETURN_IF_ERROR(WriteLine(line));
    }
    return OkStatus();
  };
  return ForEachVariable(full ? prefix : full_, full ? std::nullopt : std::optional(prefix), write);
}

Status TableFollower::WriteLine(const std::string& line) {
  out_ << line << "\n";
  return out_ ? OkStatus() : Unavailable("nobody reads the rows any more");
}

}  // namespace tensorbraid
