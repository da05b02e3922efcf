#include "launch/agent/message_pieces.h"

#include <utility>

#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

constexpr std::string_view kMarks = "+=";

}  // namespace

std::string ToPieces(std::string_view sender, std::string_view line) {
  TB_CHECK(line.ends_with('\n') && sender.size() <= kMaxPiece / 2 &&
           sender.find_first_of(kMarks) == std::string_view::npos);
  line.remove_suffix(1);
  const size_t room = kMaxPiece - std::string_view("@+\n").size() - sender.size();
  std::string pieces;
  for (;;) {
    const bool is_last = line.size() <= room;
    pieces += StrCat("@", sender, is_last ? "=" : "+", line.substr(0, room), "\n");
    if (is_last) return pieces;
    line.remove_prefix(room);
  }
}

std::optional<std::string> PieceJoiner::Add(std::string_view piece) {
  const size_t mark = piece.find_first_of(kMarks);
  if (!piece.starts_with('@') || mark == std::string_view::npos) return std::nullopt;
  std::string& begun = begun_[std::string(piece.substr(1, mark - 1))];
  begun += piece.substr(mark + 1);
  if (piece[mark] == '+') return "";
  return std::exchange(begun, "");
}

}  // namespace tensorbraid
