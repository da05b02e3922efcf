// Descriptions of cards, for which programs can be compiled on a machine without one.
#ifndef TENSORBRAID_PJRT_DESCRIBED_CARD_H_
#define TENSORBRAID_PJRT_DESCRIBED_CARD_H_

#include <string>
#include <string_view>
#include <vector>

#include "tensorbraid/core/status.h"

namespace tensorbraid::pjrt {

struct DescribedCard {
  std::string name;         // "h100"
  std::string description;  // a GpuTargetConfigProto of XLA, as text
};

// The names of the cards that are described here.
std::vector<std::string> DescribedCards();
// The card with this name, or, if the name contains '/' or '.', the description in the file of this name. NotFound with
// the names that there are.
StatusOr<DescribedCard> DescribeCard(const std::string& name);

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_DESCRIBED_CARD_H_
