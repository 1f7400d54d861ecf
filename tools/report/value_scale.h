// Says where values lie between the least and the greatest value of a column, for charts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cfile/statistics.h"
#include "cfile/types.h"

namespace cfile::tools {

class ValueScale {
 public:
  // `bounds`: the statistics of the file.
  ValueScale(const ColumnType& type, const BlockStatistics& bounds);

  // The place of a value, from 0 to 1, with four digits after the point. Numbers are placed by
  // their difference to the bounds, other values by their order. nullopt: the value or a bound of
  // the file is not known. `key`: the value in memcmp form.
  std::optional<double> Place(const std::optional<std::string>& key) const;

 private:
  // The distance of a value to the least value.
  double Distance(const std::string& key) const;

  const ColumnType type_;
  const std::optional<std::string> min_key_;
  size_t common_bytes_ = 0;  // the length of the prefix that both bounds have
  double range_ = 0;         // the distance between both bounds
};

}  // namespace cfile::tools
