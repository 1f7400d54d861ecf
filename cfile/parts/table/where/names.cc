#include "cfile/filter.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace cfile {
namespace {

// The number of letters to insert, remove or replace, or of neighbours to swap.
size_t Difference(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const bool same = absl::ascii_tolower(static_cast<unsigned char>(a[i - 1])) ==
                        absl::ascii_tolower(static_cast<unsigned char>(b[j - 1]));
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + !same});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string Suggestion(std::string_view word, const std::vector<std::string>& known) {
  constexpr size_t kMaxLetters = 100;
  const std::string* nearest = nullptr;
  size_t least = 0;
  for (const std::string& each : known) {
    if (word.size() > kMaxLetters || each.size() > kMaxLetters) continue;
    const size_t difference = Difference(word, each);
    const size_t dashes = std::min(word.find_first_not_of('-'), word.size());
    if (difference * 3 > std::max(word.size(), each.size()) - dashes) continue;
    if (nearest != nullptr && difference >= least) continue;
    nearest = &each;
    least = difference;
  }
  return nearest == nullptr ? "" : absl::StrCat("; did you mean ", *nearest, "?");
}

std::string ListOfNames(const std::vector<std::string>& names) {
  constexpr size_t kMost = 20;
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    absl::StrAppend(&list, i == 0 ? "" : ", ", names[i]);
  if (names.size() > kMost) absl::StrAppend(&list, " and ", names.size() - kMost, " more");
  return list;
}

}  // namespace cfile
