/*
 * Splitter: where in a stream of bytes one record ends and the next begins.
 *
 * It looks at each byte a fixed number of times, however little of a record it
 * is given at a time, and parses no more of a record than it must. A record
 * that does not end is abandoned, and splitting continues after it as soon as
 * that is safe. README.md says where.
 *
 *     JSONL    a record is a line; blank lines are skipped
 *     JSON     objects, separated by nothing, blanks or commas; or an array of
 *              objects, which may be assigned, as in Twitter archives:
 *              window.YTD.tweet.part0 = [ ... ]
 *     CSV      a record is a line, but a field in quotes may span lines; empty
 *              lines are skipped, even in a file of one column
 *     MSGPACK  msgpack maps, one after another
 *     INFLUX   a record is a line of line protocol, but a string may span
 *              lines; blank ones, and those that begin with #, are skipped
 *     ITEMS    a line with an action and, if it has one, the line of its source
 *
 * Life:    init -> next*; to continue later: state, then init -> resume
 * Threads: one at a time
 * Knows:   nothing of files and rows
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LOADING_SPLITTER_H
#define LOADING_SPLITTER_H

#include "core/core.h"

enum record_format {
    RECORDS_JSONL,
    RECORDS_JSON,
    RECORDS_CSV, /* or TSV: only the delimiter differs */
    RECORDS_MSGPACK,
    RECORDS_INFLUX,
    RECORDS_ITEMS,
};

enum split {
    SPLIT_RECORD, /* a record ended */
    SPLIT_BAD,    /* what ended is not one; the error says why */
    SPLIT_BROKEN, /* no record can be found from here on; the error says why */
    SPLIT_MORE,   /* nothing ended yet; give more text, or its end */
    SPLIT_END,    /* the text has ended, and there is no further record */
};

/* Private: what is known of the current record, format by format. */
struct json_split {
    uint8_t place; /* enum json_place */
    bool is_object;
    bool is_in_string;
    bool is_escaped; /* the next byte, by a backslash */
    bool is_over;    /* the text ended too early, and that was reported */
    uint8_t last;    /* byte that is not blank */
    uint8_t fault;   /* enum json_fault: why it is bad, */
    size_t fault_at; /* and where */
    uint64_t depth;  /* open brackets, */
    uint64_t braces; /* and which of the first 64 are { */
};

struct csv_split {
    size_t line;     /* end of a line at or after `scanned`, or where to look
                      * for it */
    bool line_ends;  /* the line ends there */
    size_t first;    /* size of the first line, with its end; 0: unknown */
    size_t quote;    /* where its first line's last field in quotes began */
    size_t fault_at; /* the wrong byte after a closing quote */
    bool has_fault;  /* there is one; else a quote is never closed */
    size_t alone;    /* lines that end before this are single records, */
    bool alone_has_fault; /* because there was such a byte */
};

struct influx_split {
    size_t first;  /* size of the first line, with its end; 0: unknown */
    size_t quote;  /* where its last string begins */
    size_t equals; /* after the last = without a backslash */
};

struct splitter {
    enum record_format format;
    char delimiter; /* of CSV */

    /* private: of the current record */
    size_t scanned; /* bytes looked at; MSGPACK: may be beyond the text */
    uint8_t state;  /* of the format; 0: between records */
    bool is_cut;    /* its beginning was abandoned */
    struct json_split json;
    struct csv_split csv;
    struct influx_split influx;
    uint64_t values_left; /* MSGPACK: values that it still lacks */
    size_t line;          /* ITEMS: where the line begins */
};

/* What ended: the first `size` bytes of the text. `record` is part of them,
 * without separators. */
struct split_record {
    size_t size;
    struct colander_slice record;
    size_t at; /* BAD: the byte of `record` at fault; BROKEN: that of the
                * text after the first `size` */
};

void splitter_init(struct splitter *splitter, enum record_format format,
                   char delimiter);

/* Returns what must be known, with the offset in the file, to continue there
 * later. Requires that no record is begun. Resume comes after init. */
uint32_t splitter_state(const struct splitter *splitter);
void splitter_resume(struct splitter *splitter, uint32_t state);

/*
 * Finds the next record. `text` begins after the first ended->size bytes of the
 * last text. It has the rest of that, and may have more. With `is_end` the file
 * ends with it. Fills *ended with every result: after MORE, BROKEN and END the
 * size is that of separators, and the record is empty. A BAD record may be
 * empty if something is missing. Do not call again after BROKEN.
 */
enum split splitter_next(struct splitter *splitter, struct colander_slice text,
                         bool is_end, struct split_record *ended,
                         struct colander_error *err);

/*
 * Abandons the current record, after MORE, because all of `text` is larger than
 * allowed. If it returns true, *ended is a bad record, with the error: in CSV
 * and INFLUX with an unclosed quote, the first line. If it returns false, drop
 * ended->size bytes, nearly all; the next text begins after them, and the next
 * BAD record is the rest of this one, which may be empty.
 */
bool splitter_give_up(struct splitter *splitter, struct colander_slice text,
                      struct split_record *ended, struct colander_error *err);

#endif
