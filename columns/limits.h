/*
 * Limits: how large rows, keys, batches and predicates may be, and why.
 *
 * What exceeds a limit fails with COLANDER_LIMIT before anything is written.
 * Limits bound the cost of one call, so that memory is bounded by options and
 * not by the data. The file formats can hold every row within them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_LIMITS_H
#define COLANDER_LIMITS_H

/* Bytes of a row. Rows are decoded, copied and compared as a whole. 16 MiB is a
 * hundred times the size of the largest API records, and several such rows fit
 * the memory of a laptop. */
#define COLANDER_ROW_SIZE_MAX (16u << 20)

/* Bytes of a row as JSON text. Most rows take about as many bytes as text as
 * they do stored. Short numbers and control characters take more. */
#define COLANDER_JSON_SIZE_MAX (2 * COLANDER_ROW_SIZE_MAX)

/* Nested maps and arrays, including the row. Real records stay below 20. */
#define COLANDER_ROW_DEPTH_MAX 64

/* Names in a row, counted in all maps at all depths. */
#define COLANDER_ROW_NAMES_MAX 100000

/* Bytes of one name. */
#define COLANDER_NAME_SIZE_MAX 1024

/* Bytes of an encoded key. Index blocks contain keys, so long keys slow down
 * every read. */
#define COLANDER_KEY_SIZE_MAX 2048

/* Scalars in a key. */
#define COLANDER_KEY_PARTS_MAX 16

/* Bytes of one batch, which is in memory until it is written. */
#define COLANDER_BATCH_SIZE_MAX (256u << 20)

/* Bytes of the name of a mark, which may be the path of a file, and of the mark
 * itself. */
#define COLANDER_MARK_NAME_MAX 8192
#define COLANDER_MARK_SIZE_MAX 65536

/* Nested predicates, and predicates in one query. */
#define COLANDER_PREDICATE_DEPTH_MAX 64
#define COLANDER_PREDICATE_NODES_MAX 10000

/* Values to compare with, in all predicates of one query. */
#define COLANDER_PREDICATE_VALUES_MAX 100000

/* Bytes and words of one text that is looked for in texts. The words are a bit
 * each. */
#define COLANDER_SEARCH_SIZE_MAX 65536
#define COLANDER_SEARCH_WORDS_MAX 64

/* Bytes of a pattern, and patterns in one query. Each may take a MiB of memory,
 * compiled. */
#define COLANDER_PATTERN_SIZE_MAX 4096
#define COLANDER_PATTERNS_MAX 64

/* Bytes of the paths reported for one matching row. This is enough for every
 * column of a hundred large rows; a hostile row could otherwise report
 * gigabytes. */
#define COLANDER_MATCHES_SIZE_MAX (1u << 20)

/* The column that contains the key where a row includes it, as in an export. */
#define COLANDER_KEY_COLUMN "_key"

#endif
