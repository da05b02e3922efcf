// A deep interest network: whether a user clicks an item depends on the items that the user has clicked before. An
// attention weighs these by how well they fit to the item. All items are rows of one table that grows.
//
//   build/release/examples/din
//   tensorbraid launch --ps=2 --workers=2 -- build/release/examples/din --train_steps=2000
#include "clicks.h"

namespace tf = tensorbraid;
namespace layers = tensorbraid::layers;

namespace {

// A line has the item and up to kEarlier earlier ones. Items are numbers from 1 on, and 0 stands for none.
constexpr int64_t kItems = 300, kKinds = 15, kEarlier = 8, kDim = 16;

// Users like two kinds of items, and click an item if they have clicked others of its kind.
examples::ClickLog MakeLog(int64_t lines) {
  std::mt19937_64 random(1);
  const auto below = [&](int64_t count) { return std::uniform_int_distribution<int64_t>(0, count - 1)(random); };
  std::vector<double> quality(kItems + 1);
  std::normal_distribution<> normal(0, 0.5);
  for (double& number : quality) number = normal(random);
  const auto item_of_kind = [&](int64_t kind) { return kind + 1 + kKinds * below(kItems / kKinds); };
  examples::ClickLog log(1 + kEarlier);
  for (int64_t i = 0; i < lines; ++i) {
    const int64_t liked[] = {below(kKinds), below(kKinds)};
    const int64_t item = below(2) == 0 ? item_of_kind(liked[0]) : 1 + below(kItems);
    std::vector<int64_t> keys(1 + kEarlier, 0);
    keys[0] = item;
    int alike = 0;
    const int64_t count = 2 + below(kEarlier - 1);
    for (int64_t k = 1; k <= count; ++k) {
      keys[k] = item_of_kind(liked[below(2)]);
      if (keys[k] % kKinds == item % kKinds) ++alike;
    }
    log.Add(keys, 1.2 * std::min(alike, 3) + quality[item] - 1.5, random);
  }
  return log;
}

tf::Output Model(const tf::Output& keys, const tf::Partitioner& parts) {
  const tf::EmbeddingVariable table(
      *keys.graph(), kDim, {.name = "items", .initializer = tf::TruncatedNormal(0, 0.3), .partitioner = parts});
  const auto split = tf::SplitV(keys, {1, kEarlier}, 1);
  const auto shown = tf::nn::EmbeddingLookup(table, split[0]);    // [batch, 1, dim]
  const auto history = tf::nn::EmbeddingLookup(table, split[1]);  // [batch, earlier, dim]
  const auto beside = tf::Tile(shown, {1, kEarlier, 1});
  auto fit = layers::Dense(tf::Concat({beside, history, beside * history}, 2),
                           {.units = 16, .activation = layers::Activation::kRelu, .name = "pair"});
  fit = tf::Sigmoid(layers::Dense(fit, {.units = 1, .name = "fit"}));  // [batch, earlier, 1]
  const auto exists = tf::ExpandDims(tf::Cast(tf::NotEqual(split[1], int64_t{0}), tf::kFloat32), 2);
  const auto interest = tf::ReduceSum(fit * exists * history, {1});
  const auto item = tf::Squeeze(shown, {1});
  auto x = tf::Concat({item, interest, item * interest}, 1);
  for (const int64_t units : {32, 16}) x = layers::Dense(x, {.units = units, .activation = layers::Activation::kRelu});
  return tf::Squeeze(layers::Dense(x, {.units = 1, .name = "score"}), {1});
}

}  // namespace

int main(int argc, char** argv) {
  return tf::ExitCode(
      examples::RunOnClicks(argc, argv,
                            {.help = "Trains a deep interest network on clicks. A cluster can be given as well.",
                             .steps = 1000,
                             .learning_rate = 0.005,
                             .make_log = MakeLog,
                             .model = Model}));
}
