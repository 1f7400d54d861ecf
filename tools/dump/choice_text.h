// The choice of an encoding that a footer records, as text and JSON.
#pragma once

#include <string>
#include <string_view>

#include "cfile/choice_info.h"
#include "cfile/options.h"
#include "cfile/types.h"
#include "tools/dump/dump.h"

namespace cfile::tools {

// The goals of automatic choice, with the names that the options of the tools have.
struct NamedGoal {
  Goal goal;
  std::string_view name;
};
inline constexpr NamedGoal kGoals[] = {
    {Goal::kSize, "size"}, {Goal::kBalanced, "balanced"}, {Goal::kSpeed, "speed"}};
std::string GoalName(Goal goal);

// Returns "for, 11 bits: 1.9 × smaller than plain, 3 % above the smallest (compact), scans
// 4.1 GB/s". `codec`: the codec of the file.
std::string ChoiceText(const ChoiceInfo& choice, Compression codec);

// Returns the members of `choice` as an object. scan_bytes_per_second is null if a scan uses the
// values in place.
Json ChoiceJson(const ChoiceInfo& choice);

}  // namespace cfile::tools
