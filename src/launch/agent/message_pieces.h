// How lines of several agents travel over one channel: in pieces that the channel does not mix with others.
#ifndef TENSORBRAID_LAUNCH_AGENT_MESSAGE_PIECES_H_
#define TENSORBRAID_LAUNCH_AGENT_MESSAGE_PIECES_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tensorbraid {

// srun and its like pass on whole lines of the processes whose output they merge, but cut lines of more than 1,024
// bytes.
inline constexpr size_t kMaxPiece = 1000;  // bytes of a piece, with its newline

// Cuts a line, which ends with its only newline, into pieces: lines of at most kMaxPiece bytes, which begin with
// "@SENDER+" (more follows) or "@SENDER=" (the last). REQUIRES (checked): `sender` is the name of a machine, so it has
// neither '+' nor '=', and at most 500 bytes.
std::string ToPieces(std::string_view sender, std::string_view line);

// Joins the pieces of all senders. Not thread-safe.
class PieceJoiner {
 public:
  // Takes a line without its newline. The whole message, without its newline, if `piece` was its last piece; "" if more
  // has to follow. std::nullopt for a line that is no piece.
  std::optional<std::string> Add(std::string_view piece);

 private:
  std::map<std::string, std::string, std::less<>> begun_;  // by sender
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_AGENT_MESSAGE_PIECES_H_
