#!/usr/bin/env python3
"""compare_texts.py PROGRAM: compares words, folding and searches with a second
definition of them, here, over $COLANDER_RUNS random texts.

PROGRAM is answer_texts. The definition uses unicodedata, so it needs the
version of Unicode of the tables; with another one the test is skipped.

SPDX-License-Identifier: MIT
"""
import os
import random
import re
import subprocess
import sys
import unicodedata

VERSION = "14.0.0"
ICASE = 1

UNSPACED = re.compile(
    "(CJK|IDEOGRAPHIC|HIRAGANA|(HALFWIDTH )?KATAKANA|BOPOMOFO|HENTAIGANA|THAI|"
    "LAO|KHMER|MYANMAR|(NEW )?TAI |TANGUT|NUSHU|YI SYLLABLE)")

ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIKNST_0123456789", "abAB",
    "àéîöüßÀÉÎÖÜẞŁłıİſ\u212a\u212b", "αβγσςΑΒΓΣΐᾳᾼᾈ", "абвгяАБВГЯЁё", "ａｂＡＢ１２",
    "אבגדה", "ابتثج", "अआइकखग", "가나다한국", "ꭰꮿᏣᎠ", "ⅠⅡⅰⅳ①Ⓐⓐ", "𐐀𐐨",
    "東京都大阪府雨", "ひらがなカタカナー々〇", "กขคงไทย", "ກຂຄລາວ", "ကခဂမ", "កខគ",
    "ㄅㄆㄇ", "ꀀꀁ", "𠀀𠀁", "ｶﾅ", "ﬁﬀﬃﬆfis", "ǄǅǆϐᏰᏸ",
]
MARKS = "\u0301\u0308\u0327\u0345\u093f\u0e34\u0e48\u102f\u3099\ufe0f\u20e3" \
        "\u200d\U000e0100"
SIGNS = " .,;:!?-'\"()/@#*\n\t\u00ad\u200b\u200c\u3002\u3001\u30fb\u2014\u00a0" \
        "\u2764\ufe0f\U0001f327\U0001f600\U0001f1f5\u00a9\u20ac" \
        "\U0001f468\U0001f3fd\u200d"


# ------------------------------------------------------- the definition ---

def kind_of(character):
    """L: a letter, M: a mark, U: unspaced, or a space. As the folded one."""
    character = fold(character)
    category = unicodedata.category(character)
    if category in ("Mn", "Mc", "Me"):
        return "M"
    if category in ("Lu", "Ll", "Lt", "Lm", "Lo", "Nl"):
        name = unicodedata.name(character, "")
        return "U" if UNSPACED.match(name) else "L"
    return "L" if category in ("Nd", "No") or character == "_" else " "


RUN = re.compile("L[LM]*|(?:UM*)+")


def fold(text):
    folded = []
    for character in text:
        other = character.casefold()
        if len(other) != 1:  # the simple one, if there is one
            other = character.lower()
        folded.append(other if len(other) == 1 else character)
    return "".join(folded)


def tokens_of(text):
    """Returns a list of (folded text, is unspaced, is joined), with the letters
    of unspaced ones as a list in place of the text."""
    kinds = "".join(map(kind_of, text))
    tokens = []
    for run in RUN.finditer(kinds):
        if run.group()[0] == "L":
            tokens.append((fold(text[run.start():run.end()]), False, False))
            continue
        letters = [fold(text[run.start() + letter.start():
                             run.start() + letter.end()])
                   for letter in re.finditer("UM*", run.group())]
        pairs = [letters[i:i + 2] for i in range(max(1, len(letters) - 1))]
        tokens += [(pair, True, i > 0) for i, pair in enumerate(pairs)]
    return tokens


def joined_text(token):
    return token[0] if isinstance(token[0], str) else "".join(token[0])


def spaced_runs(text):
    """Returns what the text consists of for a search: words, and lists of
    unspaced letters that follow each other."""
    runs = []
    for token in tokens_of(text):
        if not token[1]:
            runs.append(token[0])
        elif token[2]:
            runs[-1].append(token[0][1])
        else:
            runs.append(list(token[0]))
    return runs


def is_in(letters, run):
    """Returns the places at which the letters follow each other in the run."""
    if isinstance(run, str) or isinstance(letters, str):
        return []
    return [i for i in range(len(run) - len(letters) + 1)
            if run[i:i + len(letters)] == letters]


def has_words(sought, text, is_beginning):
    runs = spaced_runs(text)
    wanted = spaced_runs(sought)
    for i, word in enumerate(wanted):
        begins = is_beginning and i == len(wanted) - 1
        if isinstance(word, str):
            found = any(isinstance(run, str) and
                        (run.startswith(word) if begins else run == word)
                        for run in runs)
        else:
            found = any(is_in(word, run) for run in runs)
        if not found:
            return False
    return True


def has_phrase(sought, text, is_beginning):
    """Within a phrase a run of letters is whole, but at its ends it may be part
    of one."""
    runs = spaced_runs(text)
    wanted = spaced_runs(sought)
    count = len(wanted)

    def fits(i, run):
        word = wanted[i]
        if isinstance(word, str):
            begins = is_beginning and i == count - 1
            return isinstance(run, str) and (
                run.startswith(word) if begins else run == word)
        places = is_in(word, run)
        if i > 0:
            places = [place for place in places if place == 0]
        if i < count - 1:
            places = [place for place in places
                      if place + len(word) == len(run)]
        return bool(places)

    return any(all(fits(i, runs[at + i]) for i in range(count))
               for at in range(len(runs) - count + 1))


def expected(how, flags, sought, text):
    """Returns the answer of the program."""
    if how in ("words", "phrase"):
        kinds = "".join(map(kind_of, sought))
        runs = list(RUN.finditer(kinds))
        stars = [run for run in runs if
                 re.match(r"\*([ \t\r\n]|\Z)", sought[run.end():])]
        if not runs or any(star is not runs[-1] for star in stars):
            return "invalid"
        if len(tokens_of(sought)) > 64:
            return "limit"
        found = has_words if how == "words" else has_phrase
        return "yes" if found(sought, text, bool(stars)) else "no"
    if flags & ICASE and how != "pattern":
        sought, text = fold(sought), fold(text)
    is_found = {
        "equal": lambda: sought == text,
        "begins": lambda: text.startswith(sought),
        "piece": lambda: sought in text,
        "pattern": lambda: re.search(sought, text, re.A | (
            re.I if flags & ICASE else 0)) is not None,
    }[how]()
    return "yes" if is_found else "no"


# ------------------------------------------------------------- questions ---

class Questions:
    """Random texts, which share words, and what is looked for in them."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def letter(self):
        r = self.random
        if r.random() < 0.02:
            while True:
                character = chr(r.randrange(1, 0x110000))
                if not 0xd800 <= ord(character) < 0xe000:
                    return character
        return r.choice(r.choice(ALPHABETS))

    def word(self):
        r = self.random
        alphabet = r.choice(ALPHABETS)
        size = r.choice((1, 1, 2, 2, 3, 5))
        word = "".join(r.choice(alphabet) for _ in range(size))
        if r.random() < 0.1:
            word += r.choice(MARKS)
        if r.random() < 0.1:
            word += self.letter()
        if r.random() < 0.05:
            word = r.choice(MARKS) + word
        return word

    def text(self):
        r = self.random
        words = []
        for _ in range(r.choice((0, 1, 2, 4, 8, 12))):
            words.append(r.choice(words) if words and r.random() < 0.2
                         else self.word())
            words.append(r.choice(SIGNS) if r.random() < 0.8 else "")
            if r.random() < 0.1:
                words.append(r.choice(SIGNS))
        return "".join(words)

    def case(self, text):
        r = self.random
        change = r.choice((str, str, str.upper, str.lower, str.swapcase))
        return change(text)

    def sought(self, text):
        """Returns a part of the text, more or less."""
        r = self.random
        if not text or r.random() < 0.15:
            return self.text()[:r.randrange(1, 12)]
        first = r.randrange(len(text))
        part = text[first:first + r.choice((1, 2, 3, 5, 9, 30))]
        if r.random() < 0.3:
            part = self.case(part)
        if r.random() < 0.15:
            part += "*"
        if r.random() < 0.1:
            part = "".join(r.choice(SIGNS) if kind_of(c) == " " else c
                           for c in part)
        if r.random() < 0.1:
            words = part.split()
            r.shuffle(words)
            part = " ".join(words)
        return part

    def pattern(self, text):
        """Returns a pattern that means the same to RE2 and to Python."""
        r = self.random
        part = self.sought(text)[:6]
        part = "".join(f"\\x{ord(c):02x}" if not c.isalnum() else c
                       for c in part if c.isascii())
        return r.choice(("", "^", "[a-c0-9]+", ".*", "(x|y)?")) + part + \
            r.choice(("", "" if "\n" in text else "$", "[^z]", "(a|b)*", ".?"))

    def questions(self, text):
        yield "fold", 0, None, text
        yield "tokens", 0, None, text
        for how in ("words", "words", "phrase", "phrase", "equal", "begins",
                    "piece"):
            flags = self.random.choice((0, ICASE))
            sought = self.case(text) if how == "equal" else self.sought(text)
            yield how, flags, sought, text
        if text.isascii():
            yield "pattern", self.random.choice((0, ICASE)), \
                self.pattern(text), text


def hexed(text):
    return text.encode().hex() or "-"


def answer_of(question):
    how, flags, sought, text = question
    if how == "fold":
        return hexed(fold(text))
    if how == "tokens":
        return "".join(hexed(joined_text(token)) + ("u" if token[1] else "") +
                       ("j" if token[2] else "") + " "
                       for token in tokens_of(text))
    return expected(how, flags, sought, text)


def line_of(question):
    how, flags, sought, text = question
    if sought is None:
        return f"{how} {hexed(text)}\n"
    return f"{how} {flags} {hexed(sought)} {hexed(text)}\n"


def every_character():
    """All characters of the planes that have some, each between two letters
    and before another one."""
    codes = [*range(1, 0xd800), *range(0xe000, 0x34000), *range(0xe0000, 0xe0300),
             0x10ffff]
    for first in range(0, len(codes), 100):
        text = "".join(f"a{chr(code)}Z {chr(code)}\u6771 "
                       for code in codes[first:first + 100])
        yield "tokens", 0, None, text
        yield "fold", 0, None, text


def compare(program, questions):
    """Returns the number of answers that were yes."""
    given = "".join(map(line_of, questions))
    answers = subprocess.run([program], input=given, capture_output=True,
                             text=True, check=True).stdout.split("\n")
    yes = 0
    assert len(answers) == len(questions) + 1, len(answers)
    for question, answer in zip(questions, answers):
        wanted = answer_of(question)
        if answer != wanted:
            sys.exit(f"{question!r}: {answer}, not {wanted}")
        yes += answer == "yes"
    return yes


def main():
    if unicodedata.unidata_version != VERSION:
        print(f"skipped: this Python has Unicode {unicodedata.unidata_version}")
        return 77
    program = sys.argv[1]
    count = int(os.environ.get("COLANDER_RUNS") or 4000)
    seed = int(os.environ.get("COLANDER_SEED") or random.randrange(1 << 32))
    has_patterns = subprocess.run(
        [program], input="pattern 0 61 61\n", capture_output=True, text=True,
        check=True).stdout == "yes\n"
    print(f"seed {seed}, {count} texts, {'with' if has_patterns else 'no'} "
          "patterns")
    compare(program, list(every_character()))
    random_ones = Questions(seed)
    asked, yes = 0, 0
    while count > 0:
        questions = [question for _ in range(min(count, 1000))
                     for question in random_ones.questions(random_ones.text())
                     if has_patterns or question[0] != "pattern"]
        yes += compare(program, questions)
        asked += len(questions)
        count -= 1000
    print(f"{asked} questions, {yes} with the answer yes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
