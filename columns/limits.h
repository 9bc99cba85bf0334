/*
 * Limits: what a row or a key may be, and why. Over a limit is a clear error
 * (COLANDER_LIMIT) before anything is written.
 *
 * They bound what one call may cost, so that memory is bounded by options and
 * not by the data; rows within them are what the file formats promise to hold.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_LIMITS_H
#define COLANDER_LIMITS_H

/* A row is decoded, copied and compared as a whole; 16 MiB is a hundred times
 * the largest API object, and a handful of them still fit a laptop's memory. */
#define COLANDER_ROW_SIZE_MAX (16u << 20)

/* Bytes of a row as JSON, where one is read. Most rows take about as much there
 * as they take stored; short numbers and control characters take more. */
#define COLANDER_JSON_SIZE_MAX (2 * COLANDER_ROW_SIZE_MAX)

/* Maps and arrays inside each other, the row itself included. Real records
 * stay under 20; walkers keep a small stack of this many levels. */
#define COLANDER_ROW_DEPTH_MAX 64

/* Names in a row, counted in all maps at all depths. */
#define COLANDER_ROW_NAMES_MAX 100000

/* Bytes of one name. */
#define COLANDER_NAME_SIZE_MAX 1024

/* Bytes of an encoded key. Index blocks hold keys: long ones slow every read.
 */
#define COLANDER_KEY_SIZE_MAX 2048

/* Scalars in a key. */
#define COLANDER_KEY_PARTS_MAX 16

/* Bytes that one batch may hold; it stands in memory until it is written. */
#define COLANDER_BATCH_SIZE_MAX (256u << 20)

/* Bytes of a mark's name, where a path fits, and of the mark itself. */
#define COLANDER_MARK_NAME_MAX 8192
#define COLANDER_MARK_SIZE_MAX 65536

/* Predicates inside each other, and all of them in one question. */
#define COLANDER_PREDICATE_DEPTH_MAX 64
#define COLANDER_PREDICATE_NODES_MAX 10000

/* Values to compare with, in all predicates of one question. */
#define COLANDER_PREDICATE_VALUES_MAX 100000

/* Bytes of the paths told for one row that matches. Every column of a hundred
 * large rows would fit; a row made for it could tell gigabytes. */
#define COLANDER_MATCHES_SIZE_MAX (1u << 20)

/* The column that holds the key where a row stands alone, as in an export. */
#define COLANDER_KEY_COLUMN "_key"

#endif
