#!/usr/bin/env python3
"""real_search.py FILE ROWS COUNT: questions about the texts of real records,
and their answers, by the definition of ../columns/compare_texts.py.

Prints a line of Lua for each question: a table of its kind, whether case does
not matter, what is looked for, and the numbers of the records, among the first
ROWS, that have it in any column.

SPDX-License-Identifier: MIT
"""
import gzip
import json
import os
import pathlib
import random
import re
import sys
import unicodedata

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "columns"))
sys.dont_write_bytecode = True
import compare_texts as texts  # noqa: E402


def strings_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings_of(inner)


class Records:
    """Each text once, with its records, and an index of its runs."""

    def __init__(self, path, count):
        self.records = {}
        self.runs = {}
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for number, line in zip(range(1, count + 1), file):
                for text in strings_of(json.loads(line)):
                    self.records.setdefault(text, set()).add(number)
        self.texts = list(self.records)
        self.by_run = {}
        for text in self.texts:
            self.runs[text] = texts.spaced_runs(text)
            for run in self.runs[text]:
                for part in [run] if isinstance(run, str) else run:
                    self.by_run.setdefault(part, set()).add(text)

    def maybe(self, wanted, begins):
        """Returns the texts that have all runs, whatever their order."""
        some = None
        for i, run in enumerate(wanted):
            if begins and i == len(wanted) - 1 and isinstance(run, str):
                found = set().union(*(self.by_run[word] for word in self.by_run
                                      if word.startswith(run)))
            else:
                parts = [run] if isinstance(run, str) else run
                found = set.intersection(*(self.by_run.get(part, set())
                                           for part in parts))
            some = found if some is None else some & found
        return some or set()

    def answer(self, how, flags, sought):
        """Returns the numbers of records, in order."""
        if how in ("words", "phrase"):
            some = self.maybe(texts.spaced_runs(sought), sought.endswith("*"))
        else:
            some = self.texts
        numbers = set()
        for text in some:
            if not self.records[text] <= numbers and \
                    texts.expected(how, flags, sought, text) == "yes":
                numbers |= self.records[text]
        return sorted(numbers)


def questions(records, count, chooser):
    """Returns `count` words, and fewer of the others."""
    def text_with_runs():
        while True:
            text = chooser.choice(records.texts)
            if records.runs[text]:
                return text

    def part(size_max):
        text = text_with_runs()
        first = chooser.randrange(len(text))
        return text[first:first + chooser.randint(2, size_max)]

    def is_fine(sought):
        return not re.search(r"\*", sought) and texts.tokens_of(sought)

    for _ in range(count):
        words = []
        text = text_with_runs()
        for _ in range(chooser.choice((1, 1, 2, 3))):
            run = chooser.choice(records.runs[text])
            words.append(run if isinstance(run, str) else "".join(run[:3]))
        star = "*" if chooser.random() < 0.3 else ""
        if len(words[-1]) > 3 and star:
            words[-1] = words[-1][:3]
        if is_fine(" ".join(words)):
            yield "words", 0, " ".join(words) + star
    for _ in range(count * 2 // 5):
        sought = part(30)
        if is_fine(sought):
            yield "phrase", 0, sought
        yield "piece", chooser.choice((0, texts.ICASE)), part(8)
    for _ in range(count // 5):
        sought = re.sub(r"[^\w ]", ".", part(6))
        yield "pattern", 0, sought + chooser.choice(("", "[a-z0-9]+", ".*/"))


def quoted(text):
    """Returns a string of Lua."""
    return '"' + "".join(f"\\{byte:03d}" for byte in text.encode()) + '"'


def main():
    if unicodedata.unidata_version != texts.VERSION:
        print("another version of Unicode", file=sys.stderr)
        return 77
    records = Records(sys.argv[1], int(sys.argv[2]))
    chooser = random.Random(int(os.environ["COLANDER_SEED"]))
    for how, flags, sought in questions(records, int(sys.argv[3]), chooser):
        numbers = records.answer(how, flags, sought)
        print(f"ask({quoted(how)}, {'true' if flags else 'false'}, "
              f"{quoted(sought)}, {{{', '.join(map(str, numbers))}}})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
