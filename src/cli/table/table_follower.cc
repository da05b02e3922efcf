#include "cli/table/table_follower.h"

#include <algorithm>
#include <charconv>
#include <cmath>

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

void AppendJson(float number, std::string* text) {
  if (std::isfinite(number)) return Append(number, text);
  *text += std::isnan(number) ? "\"nan\"" : number > 0 ? "\"inf\"" : "\"-inf\"";
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
  TF_ASSIGN_OR_RETURN(const std::string full_id, CheckpointId(full));
  TF_ASSIGN_OR_RETURN(const IncrementChain chain, FindChain(full));
  bool written = false;
  if (full != full_ || full_id != full_id_) {
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
  TF_RETURN_IF_ERROR(WriteLine(StrCat("{\"end\":", which, ",\"rows\":", rows, ",\"deleted\":", deleted, "}")));
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

Status TableFollower::WriteLine(const std::string& line) {
  out_ << line << "\n";
  return out_ ? OkStatus() : Unavailable("nobody reads the rows any more");
}

}  // namespace tensorbraid
