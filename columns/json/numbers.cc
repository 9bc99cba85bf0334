/*
 * C++ for std::from_chars and std::to_chars, which know no locale, allocate
 * nothing and throw nothing.
 *
 * SPDX-License-Identifier: MIT
 */
extern "C" {
#include "columns/numbers.h"
#include "columns/json/numbers_inside.h"
}

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

/* -------------------------------------------------------------- reading --- */

/* The end of the digits that begin at `at`. */
static const char *
digits_end(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* The end of the exponent that begins at `at`; NULL: it has no digits. */
static const char *
exponent_end(const char *at, const char *end)
{
    const char *digits = at + 1;

    if (digits < end && (*digits == '+' || *digits == '-'))
        digits++;
    at = digits_end(digits, end);
    return at > digits ? at : nullptr;
}

static const char *
number_end(const char *at, const char *end, bool is_loose, bool *is_whole)
{
    const char *start;
    size_t digit_count;

    if (at < end && (*at == '-' || (is_loose && *at == '+')))
        at++;
    start = at;
    at = digits_end(at, end);
    digit_count = static_cast<size_t>(at - start);
    if (!is_loose && digit_count == 0)
        return nullptr;
    if (!is_loose && *start == '0')
        at = start + 1;
    *is_whole = at == end || *at != '.';
    if (!*is_whole) {
        start = at + 1;
        at = digits_end(start, end);
        if (!is_loose && at == start)
            return nullptr;
        digit_count += static_cast<size_t>(at - start);
    }
    if (digit_count == 0)
        return nullptr;
    if (at < end && (*at == 'e' || *at == 'E')) {
        *is_whole = false;
        at = exponent_end(at, end);
    }
    return at;
}

static std::string_view
view_of(struct colander_slice text)
{
    return {reinterpret_cast<const char *>(text.data), text.size};
}

size_t
colander_number_size(struct colander_slice text,
                     enum colander_number_grammar grammar, bool *is_whole)
{
    const std::string_view view = view_of(text);
    const char *end = number_end(view.data(), view.data() + view.size(),
                                 grammar == COLANDER_NUMBER_LOOSE, is_whole);

    return end == nullptr ? 0 : static_cast<size_t>(end - view.data());
}

/* std::from_chars takes no plus. */
static std::string_view
without_plus(struct colander_slice text)
{
    std::string_view view = view_of(text);

    if (!view.empty() && view[0] == '+')
        view.remove_prefix(1);
    return view;
}

template <typename number>
static bool
read_whole(std::string_view text, number *read)
{
    return std::from_chars(text.data(), text.data() + text.size(), *read).ec ==
           std::errc();
}

bool
colander_number_integer(struct colander_slice text,
                        struct colander_value *value)
{
    const std::string_view view = without_plus(text);
    int64_t integer = 0;
    uint64_t natural = 0;

    if (read_whole(view, &integer))
        *value = colander_integer(integer);
    else if (read_whole(view, &natural))
        *value = colander_unsigned(natural);
    else
        return false;
    return true;
}

/* Whether a number that no double holds is closer to 0 than all of them, and
 * not beyond them. */
static bool
is_tiny(std::string_view text)
{
    const size_t e = text.find_first_of("eE");
    bool is_significant = false;
    bool has_point = false;
    long exponent = 0;
    long magnitude = 0;

    for (char c : text.substr(0, e)) {
        if (c == '.') {
            has_point = true;
        } else if (is_significant || (c >= '1' && c <= '9')) {
            is_significant = true;
            magnitude += !has_point;
        } else if (c == '0') {
            magnitude -= has_point;
        }
    }
    if (!is_significant)
        return true;
    if (e != text.npos) {
        text.remove_prefix(e + (text[e + 1] == '+' ? 2 : 1));
        if (!read_whole(text, &exponent))
            return text[0] == '-';
    }
    return static_cast<double>(magnitude) + static_cast<double>(exponent) < 0;
}

bool
colander_number_double(struct colander_slice text, struct colander_value *value)
{
    const std::string_view view = without_plus(text);
    double number = 0;

    if (!read_whole(view, &number)) {
        if (!is_tiny(view))
            return false;
        number = view[0] == '-' ? -0.0 : 0.0;
    }
    if (std::isinf(number))
        return false;
    *value = colander_double(number);
    return true;
}

/* ------------------------------------------------------------- printing --- */

size_t
number_print(double number, char text[NUMBER_TEXT_MAX])
{
    const double magnitude = std::fabs(number);
    const bool has_exponent =
        number != 0 && (magnitude < 1e-4 || magnitude >= 1e17);
    char *end = std::to_chars(text, text + NUMBER_TEXT_MAX, number,
                              has_exponent ? std::chars_format::scientific
                                           : std::chars_format::fixed)
                    .ptr;
    char *exponent = std::find(text, end, 'e');

    if (std::find(text, exponent, '.') == exponent) {
        std::memmove(exponent + 2, exponent,
                     static_cast<size_t>(end - exponent));
        std::memcpy(exponent, ".0", 2);
        end += 2;
    }
    return static_cast<size_t>(end - text);
}

/* ------------------------------------------------------------ comparing --- */

/* The digits of a number, from the first that is not 0. */
struct decimal {
    const char *at;
    const char *end; /* of the digits */
    long magnitude;  /* 0.ddd... times ten to this power is the number */

    explicit decimal(std::string_view text);
    char next();
};

/* A number of JSON, or one with other zeros. */
decimal::decimal(std::string_view text)
    : at(text.data()),
      end(at + std::min(text.find_first_of("eE"), text.size())), magnitude(0)
{
    const char *point = std::find(at, end, '.');

    if (end < text.data() + text.size())
        (void)read_whole(text.substr(static_cast<size_t>(end - text.data()) +
                                     (end[1] == '+' ? 2 : 1)),
                         &magnitude);
    while (at < end && (*at < '1' || *at > '9'))
        at++;
    magnitude += point - at + (at > point);
}

/* Returns the next digit; 0 after the last. */
char
decimal::next()
{
    if (at < end && *at == '.')
        at++;
    return at < end ? *at++ : '0';
}

bool
colander_number_keeps_digits(struct colander_slice text, double number)
{
    char printed[NUMBER_TEXT_MAX];
    decimal given(view_of(text));
    decimal other({printed, number_print(number, printed)});

    if (given.at == given.end || number == 0)
        return given.at == given.end && number == 0;
    if (given.magnitude != other.magnitude)
        return false;
    while (given.at < given.end || other.at < other.end) {
        if (given.next() != other.next())
            return false;
    }
    return true;
}
