/*
 * Splitter: where in a stream of bytes one record ends and the next begins.
 *
 * It reads no more of a record than it must for that. It looks at every byte
 * once, however little of a record there is at a time. A record that cannot
 * end is given up, and reading goes on behind it as soon as that is safe.
 *
 *     JSONL    a record is a line; blank lines are none
 *     JSON     objects one after the other, with nothing, blanks or commas
 *              between them; or an array of them, also as the value of an
 *              assignment, as in the archives of Twitter:
 *              window.YTD.tweet.part0 = [ ... ]
 *     CSV      a record is a line, but a field in quotes may span lines
 *     MSGPACK  msgpack values one after the other
 *
 * Life:    init -> next*
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
    RECORDS_CSV, /* or TSV: it is the delimiter that tells them apart */
    RECORDS_MSGPACK,
};

enum split {
    SPLIT_RECORD, /* a record ended */
    SPLIT_BAD,    /* what ended is none: the error says why */
    SPLIT_MORE,   /* nothing ended yet: more text is needed */
    SPLIT_END,    /* there is nothing but blanks, and nothing comes */
};

struct splitter {
    enum record_format format;
    char delimiter; /* of CSV */
    bool is_array;  /* JSON: between the records of an array. With the place
                     * it is all that is needed to go on there later. */

    /* of the record under way, private */
    size_t scanned; /* its bytes looked at */
    /* ... */
};

/* What ended. All of it is `size` bytes from the beginning of the text;
 * `record` lies in there, without what is only between records. */
struct split_record {
    size_t size;
    struct colander_slice record;
};

void splitter_init(struct splitter *splitter, enum record_format format,
                   char delimiter);

/*
 * `text` begins behind what ended last, and has what the last call had and
 * perhaps more; with `is_end` nothing comes behind it. RECORD and BAD fill
 * *ended; a BAD record is what could not be read, to be shown as it is.
 */
enum split splitter_next(struct splitter *splitter, struct colander_slice text,
                         bool is_end, struct split_record *ended,
                         struct colander_error *err);

/*
 * After MORE: the record under way, all of `text`, is larger than is allowed.
 * Either *ended is what is to be taken for a bad record (of CSV whose quotes
 * are never closed, its first line), with the error, and true; or false: then
 * all of `text` is to be dropped, the next call gets what comes behind it, and
 * the next that ends is the rest of this same record.
 */
bool splitter_give_up(struct splitter *splitter, struct colander_slice text,
                      struct split_record *ended, struct colander_error *err);

#endif
