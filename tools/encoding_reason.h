// Says why the automatic choice has taken an encoding.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cfile/file_info.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "tools/output.h"

namespace cfile::tools {

// Returns, in a few words, why the encoding is small: "few distinct values: 3 % of plain". If the
// column has several encodings, takes the one with the most bytes. The percentage is there if all
// values have the same size. `type`: the type of the column. `totals`: the totals after Finish of a
// writer that chose the encoding automatically.
std::string EncodingReason(const ColumnType& type, const ColumnTotals& totals);

// The goals of automatic choice, with the names that the options of the tools have.
struct NamedGoal {
  Goal goal;
  std::string_view name;
};
inline constexpr NamedGoal kGoals[] = {
    {Goal::kSize, "size"}, {Goal::kBalanced, "balanced"}, {Goal::kSpeed, "speed"}};
std::string GoalName(Goal goal);

// Returns what the footer of a file records about automatic choice: "for, 11 bits: 1.9 × smaller
// than plain, 3 % above the smallest (parquet-dict), scans 4.1 GB/s". `codec`: the file's codec.
std::string ChoiceText(const ChoiceInfo& choice, Compression codec);

// "rle 3 blocks, plain 1 block; zstd". The codec is none if no block is compressed. `compression`:
// the codec of the compressed blocks.
std::string FormsText(const std::vector<EncodingTotals>& encodings, Compression compression);

}  // namespace cfile::tools
