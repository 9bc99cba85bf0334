/*
 * Splitter: where in a stream of bytes one record ends and the next begins.
 *
 * It reads no more of a record than it must for that. It looks at every byte
 * once, or a fixed number of times, however little of a record there is at a
 * time. A record that cannot end is given up, and reading goes on behind it as
 * soon as that is safe: README.md says where.
 *
 *     JSONL    a record is a line; blank lines are none
 *     JSON     objects one after the other, with nothing, blanks or commas
 *              between them; or an array of them, also as the value of an
 *              assignment, as in the archives of Twitter:
 *              window.YTD.tweet.part0 = [ ... ]
 *     CSV      a record is a line, but a field in quotes may span lines; empty
 *              lines are none, also where there is but one column
 *     MSGPACK  msgpack maps one after the other
 *
 * Life:    init -> next*; to go on later: state, and init -> resume -> next*
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
    SPLIT_MORE,   /* nothing ended yet: more text is needed, if only to be
                   * told that it ends here */
    SPLIT_END,    /* there is nothing but blanks, and nothing comes */
};

/* Private: what is known of the record under way, format by format. */
struct json_split {
    uint8_t place;        /* enum json_place */
    bool line_begins;     /* only blanks in this line so far */
    bool has_indent;      /* a record began this line, behind: */
    bool indent_is_tabs;  /* tabs, or spaces */
    uint8_t indent_size;  /* so many */
    bool indent_is_mixed; /* or more, or both: then nothing is known */
    bool is_object;
    bool is_in_string;
    bool is_escaped; /* the next byte, by a backslash */
    uint8_t last;    /* byte that is no blank */
    uint8_t fault;   /* enum json_fault: why it is none, */
    size_t fault_at; /* and where that is */
    uint64_t depth;  /* brackets that are open, */
    uint64_t braces; /* and which of the first 64 are { */
};

struct csv_split {
    size_t line;     /* end of a line at or behind `scanned`, or where to look
                      * for it */
    bool line_ends;  /* it does, there */
    size_t first;    /* its first line, with its end; 0: not known */
    size_t quote;    /* where its first line's last field in quotes began */
    size_t fault_at; /* the byte behind a closing quote that is wrong */
    bool has_fault;  /* there is one; else a quote is never closed */
    size_t alone;    /* lines that end before this are records alone, */
    bool alone_has_fault; /* as there was one there */
};

struct splitter {
    enum record_format format;
    char delimiter; /* of CSV */

    /* of the record under way, private */
    size_t scanned; /* its bytes looked at; MSGPACK: perhaps some to come */
    uint8_t state;  /* its format's; 0: none is under way */
    bool is_cut;    /* its beginning was given up */
    struct json_split json;
    struct csv_split csv;
    uint64_t values_left; /* MSGPACK: that must come before it ends */
};

/* What ended. All of it is `size` bytes from the beginning of the text;
 * `record` lies in there, without what is only between records. */
struct split_record {
    size_t size;
    struct colander_slice record;
    size_t at; /* BAD: the byte of `record` where the fault lies */
};

void splitter_init(struct splitter *splitter, enum record_format format,
                   char delimiter);

/* Behind what was only between records, or one that ended: all that must be
 * known, besides the place in the file, to go on there later; and going on,
 * after init. */
uint32_t splitter_state(const struct splitter *splitter);
void splitter_resume(struct splitter *splitter, uint32_t state);

/*
 * `text` begins behind ended->size bytes of the last text, and has what there
 * was of that and perhaps more; with `is_end` nothing comes behind it. Every
 * call fills *ended. With MORE and END its size is what was only between
 * records, and its record is empty. A BAD record is what could not be read, to
 * be shown as it is; it may be empty, where something is missing.
 */
enum split splitter_next(struct splitter *splitter, struct colander_slice text,
                         bool is_end, struct split_record *ended,
                         struct colander_error *err);

/*
 * After MORE: the record under way, all of `text`, is larger than is allowed.
 * Either *ended is what is to be taken for a bad record (of CSV whose quotes
 * are not closed, its first line), with the error, and true; or false: then
 * ended->size bytes (nearly all) are to be dropped, the next text begins
 * behind them, and the next that ends, as BAD, is the rest of this same record
 * (perhaps empty).
 */
bool splitter_give_up(struct splitter *splitter, struct colander_slice text,
                      struct split_record *ended, struct colander_error *err);

#endif
