#include "launch/agent/message_pieces.h"

#include <gtest/gtest.h>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

std::vector<std::string> PiecesOf(const std::string& sender, const std::string& message) {
  std::vector<std::string> pieces = StrSplit(ToPieces(sender, message + "\n"), '\n');
  EXPECT_EQ(pieces.back(), "");
  pieces.pop_back();
  return pieces;
}

TEST(MessagePiecesTest, AShortMessageIsOnePiece) {
  EXPECT_EQ(ToPieces("alpha", "{\"a\":1}\n"), "@alpha={\"a\":1}\n");
  PieceJoiner joiner;
  EXPECT_EQ(joiner.Add("@alpha={\"a\":\"+=@\"}"), "{\"a\":\"+=@\"}");
}

TEST(MessagePiecesTest, MessagesOfAllLengthsArriveWhole) {
  PieceJoiner joiner;
  for (size_t length = 0; length < 4 * kMaxPiece; length += 7) {
    const std::string message(length, 'x');
    const std::vector<std::string> pieces = PiecesOf("node-1.cluster", message);
    for (size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_LT(pieces[i].size(), kMaxPiece);
      const auto joined = joiner.Add(pieces[i]);
      EXPECT_EQ(joined, i + 1 < pieces.size() ? "" : message);
    }
  }
}

TEST(MessagePiecesTest, PiecesOfSeveralSendersMayBeMixed) {
  const std::string a(2500, 'a'), b(2500, 'b');
  const auto of_a = PiecesOf("alpha", a), of_b = PiecesOf("beta", b);
  ASSERT_EQ(of_a.size(), 3u);
  PieceJoiner joiner;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(joiner.Add(of_a[i]), "");
    EXPECT_EQ(joiner.Add(of_b[i]), "");
  }
  EXPECT_EQ(joiner.Add(of_b[2]), b);
  EXPECT_EQ(joiner.Add(of_a[2]), a);
}

TEST(MessagePiecesTest, OtherLinesAreNoPieces) {
  PieceJoiner joiner;
  for (const char* line : {"", "Welcome to alpha", "@", "@alpha", "alpha=1"}) EXPECT_EQ(joiner.Add(line), std::nullopt);
}

}  // namespace
}  // namespace tensorbraid
