#include "cfile/parts/scan/text_matcher.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "cfile/core/format/key_codec.h"
#include "encodings/core/assert.h"
#include "encodings/core/status.h"
#include "encodings/kernels/match_range.h"
#ifdef CFILE_WITH_RE2
#include <re2/re2.h>
#endif

namespace cfile::internal {
namespace {

using TextPredicate = Predicate<std::string_view>;
using MatcherOrError = absl::StatusOr<std::shared_ptr<const ValueMatcher>>;

// The values that match are at least `low` and below `end`, and pass `test`.
template <typename Test>
class TextMatcher final : public ValueMatcher {
 public:
  explicit TextMatcher(Test test, std::string low = "", std::optional<std::string> end = {})
      : ValueMatcher(encodings::Lane::kBytes), test_(std::move(test)) {
    form_ = Form::kList;
    low_key_ = std::move(low);
    low_value_ = low_key_;
    unbounded_ = !end;
    high_key_ = std::move(end).value_or("");
    end_value_ = high_key_;
  }

  void Match(encodings::ValueSpan span, uint8_t* bits) const override {
    const auto values = span.As<std::string_view>();
    encodings::MatchEach(
        values.data(), values.size(), [this](std::string_view value) { return test_(value); },
        bits);
  }
  bool PassesBloomFilter(const FileStatistics&) const override { return true; }
  const void* low() const override { return &low_value_; }
  const void* end() const override { return unbounded_ ? nullptr : &end_value_; }
  const void* high() const override { return nullptr; }
  const void* list() const override { return nullptr; }

 private:
  const Test test_;
  std::string_view low_value_;
  std::string_view end_value_;
};

template <typename Test>
MatcherOrError Make(Test test, std::string low = "", std::optional<std::string> end = {}) {
  return std::make_shared<TextMatcher<Test>>(std::move(test), std::move(low), std::move(end));
}

struct AnyTest {
  bool operator()(std::string_view) const { return true; }
};

// A pattern of LIKE without _, and contains. The time is linear in the size of the value.
struct PartsTest {
  std::string begin;               // in lower case if `fold`
  std::vector<std::string> parts;  // between begin and end, in this order
  std::string end;
  bool fold = false;  // letters of ASCII match in upper and lower case

  bool operator()(std::string_view value) const {
    std::string lower;
    if (fold) value = lower = absl::AsciiStrToLower(absl::string_view(value.data(), value.size()));
    if (value.size() < begin.size() + end.size() || !value.starts_with(begin) ||
        !value.ends_with(end)) {
      return false;
    }
    value = value.substr(begin.size(), value.size() - begin.size() - end.size());
    for (const std::string& part : parts) {
      if (part.empty()) continue;
      const void* const found = memmem(value.data(), value.size(), part.data(), part.size());
      if (found == nullptr) return false;
      value.remove_prefix(static_cast<size_t>(static_cast<const char*>(found) - value.data()) +
                          part.size());
    }
    return true;
  }
};

// A byte of a pattern of LIKE, or one of these.
using Element = uint16_t;
constexpr Element kOne = 256;   // _
constexpr Element kMany = 257;  // %

// The number of bytes of the character that begins with `byte`; 1 in text that is not UTF-8.
size_t SizeOfCharacter(uint8_t byte) {
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

struct LikeTest {
  std::vector<Element> pattern;  // in lower case if `fold`
  bool fold = false;             // letters of ASCII match in upper and lower case

  bool operator()(std::string_view value) const {
    size_t at = 0;                    // in value
    size_t next = 0;                  // in pattern
    size_t many = std::string::npos;  // the last % of the pattern
    size_t many_ends = 0;             // in value: where the text of this % ends
    while (at < value.size()) {
      const auto byte = static_cast<unsigned char>(value[at]);
      const Element element = next < pattern.size() ? pattern[next] : kMany + 1;
      if (element == kMany) {
        many = next++;
        many_ends = at;
      } else if (element == kOne) {
        at += SizeOfCharacter(byte);
        ++next;
      } else if (element == (fold ? absl::ascii_tolower(byte) : byte)) {
        ++at;
        ++next;
      } else if (many != std::string::npos) {
        // The % takes one more character.
        many_ends += SizeOfCharacter(static_cast<unsigned char>(value[many_ends]));
        at = many_ends;
        next = many + 1;
      } else {
        return false;
      }
    }
    return std::all_of(pattern.begin() + static_cast<ptrdiff_t>(next), pattern.end(),
                       [](Element element) { return element == kMany; });
  }
};

// Takes the bytes at the beginning of the pattern, up to the first % or _.
std::string TakeBytes(std::span<const Element>& pattern) {
  std::string bytes;
  while (!pattern.empty() && pattern[0] < kOne) {
    bytes += static_cast<char>(pattern[0]);
    pattern = pattern.subspan(1);
  }
  return bytes;
}

absl::StatusOr<std::vector<Element>> ParseLike(std::string_view pattern, std::string_view escape) {
  if (escape.size() > 1)
    return absl::InvalidArgumentError("the escape character must be one character of ASCII");
  std::vector<Element> elements;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern.substr(i, 1) == escape) {
      if (++i == pattern.size())
        return absl::InvalidArgumentError("the pattern ends with the escape character");
    } else if (pattern[i] == '%' || pattern[i] == '_') {
      elements.push_back(pattern[i] == '%' ? kMany : kOne);
      continue;
    }
    elements.push_back(static_cast<unsigned char>(pattern[i]));
  }
  return elements;
}

#ifdef CFILE_WITH_RE2
struct ExpressionTest {
  std::shared_ptr<const re2::RE2> expression;
  bool operator()(std::string_view value) const {
    return re2::RE2::PartialMatch(re2::StringPiece(value.data(), value.size()), *expression);
  }
};

// The letters, digits and blanks with which all values begin that match; "" if there are none.
std::string PrefixOf(std::string_view expression) {
  if (!expression.starts_with('^') || expression.find('|') != std::string_view::npos) return "";
  size_t end = 1;
  while (
      end < expression.size() &&
      (absl::ascii_isalnum(static_cast<unsigned char>(expression[end])) || expression[end] == ' '))
    ++end;
  // A repetition, such as ?, belongs to the character before it.
  if (end < expression.size() && end > 1) --end;
  return std::string(expression.substr(1, end - 1));
}

MatcherOrError MatchExpression(const std::string& text) {
  const auto expression = std::make_shared<const re2::RE2>(text, re2::RE2::Quiet);
  if (!expression->ok()) return absl::InvalidArgumentError(expression->error());
  const std::string prefix = PrefixOf(text);
  return Make(ExpressionTest{expression}, prefix, AfterPrefix(prefix));
}

std::string QuotedMeta(const std::string& bytes) { return re2::RE2::QuoteMeta(bytes); }
#else
MatcherOrError MatchExpression(const std::string&) {
  return absl::UnimplementedError("cfile was built without RE2 (CFILE_WITH_RE2)");
}

std::string QuotedMeta(const std::string& bytes) { return bytes; }
#endif

MatcherOrError MatchLike(std::vector<Element> pattern, bool fold) {
  std::span<const Element> rest = pattern;
  if (fold) {
    if (std::any_of(rest.begin(), rest.end(), [](Element e) { return e >= 0x80 && e < kOne; })) {
      std::string expression = "(?is)\\A";
      while (!rest.empty()) {
        expression += QuotedMeta(TakeBytes(rest));
        if (rest.empty()) break;
        expression += rest[0] == kOne ? "." : ".*";
        rest = rest.subspan(1);
      }
      return MatchExpression(expression + "\\z");
    }
    for (Element& element : pattern) {
      if (element < kOne) element = absl::ascii_tolower(static_cast<unsigned char>(element));
    }
  }
  const std::string prefix = TakeBytes(rest);
  const std::string low = fold ? "" : prefix;
  if (rest.empty() && !fold)
    return std::make_shared<const PredicateMatcher<std::string_view>>(TextPredicate::Equal(prefix));
  if (rest.empty() || std::ranges::count(rest, kOne) > 0)
    return Make(LikeTest{std::move(pattern), fold}, low, AfterPrefix(low));
  const auto is_many = [](Element element) { return element == kMany; };
  if (std::ranges::all_of(rest, is_many) && !fold) {
    return std::make_shared<const PredicateMatcher<std::string_view>>(
        TextPredicate::HasPrefix(prefix));
  }
  PartsTest test{.begin = prefix, .fold = fold};
  while (!rest.empty()) {
    rest = rest.subspan(1);
    test.parts.push_back(TakeBytes(rest));
  }
  test.end = std::move(test.parts.back());
  test.parts.pop_back();
  return Make(std::move(test), low, AfterPrefix(low));
}

}  // namespace

MatcherOrError NewTextMatcher(PredicateKind test, std::span<const std::string> constants) {
  if (test == PredicateKind::kContains) return Make(PartsTest{.parts = {constants[0]}});
  if (test == PredicateKind::kMatches) return MatchExpression(constants[0]);
  CFILE_ASSERT(test == PredicateKind::kLike || test == PredicateKind::kILike);
  CFILE_ASSIGN_OR_RETURN(std::vector<Element> pattern,
                         ParseLike(constants[0], constants.size() > 1 ? constants[1] : ""));
  return MatchLike(std::move(pattern), test == PredicateKind::kILike);
}

std::shared_ptr<const ValueMatcher> MatchSome() {
  return std::make_shared<TextMatcher<AnyTest>>(AnyTest());
}

}  // namespace cfile::internal
