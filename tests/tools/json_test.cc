// Json prints the same bytes as nlohmann::ordered_json.
#include "tools/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tools/utf8.h"

namespace cfile::tools::json_test {

using Reference = nlohmann::ordered_json;

std::string Dump(const Reference& json, int indent = -1) {
  return json.dump(indent, ' ', false, Reference::error_handler_t::replace);
}

// Compares `value` in both libraries.
template <typename T>
void ExpectSame(const T& value) {
  EXPECT_EQ(Json(value).dump(), Dump(Reference(value)));
}

// A document with all kinds of values, and with strings that have the characters of the format.
template <typename T>
T Document() {
  T document = {{"schema_version", 1}, {"path", "a\"},{:[\\"}, {"a\"\\:{\n", T()}};
  document["flag"] = true;
  document["other flag"] = false;
  document["list"] = T::array();
  document["list"].push_back({{"empty list", T::array()}, {"empty object", T::object()}});
  document["list"].push_back(T::array({T::array({"a", 1}), T::array({T::array()}), T::object()}));
  document["list"].push_back(nullptr);
  document["list"].back() = {{"nested", {{"deep", {{"deeper", -1.5}}}}}};
  document["list"][2]["more"] = "text";
  document["path"] = std::string("replaced, in its old place");
  document.update({{"flag", 0}, {"last", 1e300}});
  T from_null;
  from_null["first"] = 1;
  from_null.update(T({{"second", 2}}));
  document["from null"] = from_null;
  return document;
}

TEST(JsonTest, Documents) {
  const Json document = Document<Json>();
  const auto reference = Document<Reference>();
  EXPECT_EQ(document.size(), reference.size());
  for (const int indent : {-1, 0, 1, 2, 7})
    EXPECT_EQ(document.dump(indent), Dump(reference, indent));
  EXPECT_TRUE(document.contains("flag"));
  EXPECT_FALSE(document.contains("fla"));
  EXPECT_TRUE(Json().is_null());
  EXPECT_FALSE(document.is_null() || Json("null").is_null() || Json(0).is_null());
  for (const int indent : {-1, 2}) {
    EXPECT_EQ(Json::array().dump(indent), "[]");
    EXPECT_EQ(Json::object().dump(indent), "{}");
    EXPECT_EQ(Json().dump(indent), "null");
  }
  EXPECT_EQ(Json::array(std::set<std::string>{"b", "a"}).dump(), "[\"a\",\"b\"]");
  EXPECT_EQ(Json::array(std::vector<uint64_t>{2, 1}).dump(), "[2,1]");
}

TEST(JsonTest, Integers) {
  ExpectSame(std::numeric_limits<int64_t>::min());
  ExpectSame(std::numeric_limits<int64_t>::max());
  ExpectSame(std::numeric_limits<uint64_t>::max());
  ExpectSame(std::numeric_limits<uint32_t>::max());
  ExpectSame(uint8_t{255});
  ExpectSame(int16_t{-1});
}

TEST(JsonTest, Doubles) {
  for (const double value : {0.0,
                             1.0,
                             1.5,
                             100.0,
                             123456.0,
                             1e5,
                             1e14,
                             999999999999999.0,
                             999999999999999.9,
                             1e15,
                             1234567890123456.0,
                             9007199254740993.0,
                             1e16,
                             1e20,
                             1e21,
                             1e22,
                             1.5e22,
                             1e100,
                             1.7976931348623157e308,
                             0.1,
                             0.3,
                             1.0 / 3,
                             2.0 / 3,
                             1e-3,
                             1e-4,
                             1.5e-4,
                             9.999e-5,
                             1e-5,
                             1.5e-5,
                             1e-6,
                             1e-7,
                             1e-100,
                             2.2250738585072014e-308,
                             5e-324,
                             3.4028234663852886e38,
                             0.10000000149011612,
                             72057594037927945.0,
                             std::nextafter(1e15, 0),
                             std::nextafter(1e-4, 0),
                             std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    ExpectSame(value);
    ExpectSame(-value);
  }
  ExpectSame(0.1f);
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    ExpectSame(static_cast<double>(random() % 100'000) / 100);
    // The digits of nlohmann-json are sometimes not the shortest, but always read back exactly.
    const double quotient = static_cast<double>(random() % 1'000'000) /
                            (1.0 + static_cast<double>(random() % 1'000'000));
    const std::string text = Json(quotient).dump(), reference = Dump(Reference(quotient));
    EXPECT_EQ(Reference::parse(text).get<double>(), quotient);
    EXPECT_LE(text.size(), reference.size());
  }
}

TEST(JsonTest, Strings) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
    ExpectSame(std::string(1, static_cast<char>(byte)));
    ExpectSame(std::string("a") + static_cast<char>(byte) + "b");
  }
  ExpectSame(all);
  ExpectSame(std::string());
  ExpectSame("Z\xc3\xbcrich \xe6\x9d\xb1\xe4\xba\xac \xf0\x9f\x98\x80 \xe2\x80\xa8 \x7f");
  // All sequences of four of these bytes: the ends of the ranges of UTF-8.
  constexpr std::string_view kBytes = "a\x80\x8f\x90\x9f\xa0\xbf\xc1\xc2\xe0\xed\xef\xf0\xf4\xf5";
  constexpr int kLength = 4;
  std::string text(kLength, kBytes[0]);
  const auto next = [&] {
    for (char& byte : text) {
      const size_t i = kBytes.find(byte) + 1;
      byte = kBytes[i % kBytes.size()];
      if (i < kBytes.size()) return true;
    }
    return false;
  };
  do {
    ASSERT_EQ(Json(text).dump(), Dump(Reference(text))) << Hex(text);
  } while (next());
  EXPECT_EQ(Json({{text, text}, {all, all}}).dump(), Dump(Reference({{text, text}, {all, all}})));
}

TEST(JsonTest, FromText) {
  for (const std::string text : {"{}", "[]", "{\"a\":[1,{\"b\":\"\\\"]}\"}],\"c\":[{}]}", "\"e.\"",
                                 "-1", "18446744073709551615", "1.0", "-0.0", "1e+05", "1e-04",
                                 "1e-05", "1.5E3", "3.4028235e+38", "null", "true"}) {
    const auto reference = Reference::parse(text);
    EXPECT_EQ(Json::FromText(text).dump(), Dump(reference));
    EXPECT_EQ(Json({{"nested", Json::FromText(text)}}).dump(2), Dump({{"nested", reference}}, 2));
  }
}

}  // namespace cfile::tools::json_test
