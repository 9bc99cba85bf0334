"""Prints rows whose columns and values would do harm if a page took them for
anything but text.

SPDX-License-Identifier: MIT
"""
import json

rows = [
    {"_key": "script", "html": "<script>window.harm = 1</script>",
     "image": "<img src=x onerror='window.harm = 1'>"},
    {"_key": "quotes", "html": "\"'`\\ $(touch harm) ; `touch harm` !!",
     "double": "say \"no\"", "single": "it's"},
    {"_key": "bidi", "html": "user\u202egpj.exe", "zero": "a\u200bb"},
    {"_key": "nul", "html": "a\u0000b\u001b[31m", "lines": "one\ntwo\tthree"},
    {"_key": "large", "html": "L" * (1 << 20)},
    {"_key": ["parts", 9007199254740993, -1], "html": "key of parts",
     "integer": 18446744073709551615, "double": 1.50e300},
    {"_key": "<b>bold</b>", "html": "key of markup"},
    {"_key": "columns", "html": "columns", "<script>harm()</script>": 1,
     "a.b": "dot", "a=b": "equals", "__proto__": "proto", "": "empty name",
     " space ": "blank", "toString": "inherited", "\u202eevil": "bidi name",
     "q'\"\\": "quotes", "nested": {"constructor": {"a.b[]": [[1], [2]]}}},
]
for row in rows:
    print(json.dumps(row))
