// Takes numbers and characters from the front of a text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace cfile::tools {

// Takes text from the front of a view.
class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  // Precondition: rest() has this many characters.
  void Skip(size_t characters) { rest_.remove_prefix(characters); }
  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Takes a number of exactly `digits` digits, from `low` to `high`. False if there is none.
  bool TakeNumber(size_t digits, int low, int high, int& value) {
    if (rest_.size() < digits) return false;
    value = 0;
    for (const char c : rest_.substr(0, digits)) {
      if (c < '0' || c > '9') return false;
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(digits);
    return value >= low && value <= high;
  }
  // The same for a number of 1 to `max_digits` digits. Takes as many digits as there are.
  bool TakeShortNumber(size_t max_digits, int low, int high, int& value) {
    size_t digits = 0;
    const size_t most = std::min(rest_.size(), max_digits);
    while (digits < most && rest_[digits] >= '0' && rest_[digits] <= '9') ++digits;
    return digits > 0 && TakeNumber(digits, low, high, value);
  }
  // All digits at the front.
  std::string_view TakeDigits() {
    size_t length = 0;
    while (length < rest_.size() && rest_[length] >= '0' && rest_[length] <= '9') ++length;
    const std::string_view digits = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return digits;
  }

 private:
  std::string_view rest_;
};

}  // namespace cfile::tools
