/*
 * Peers: what another process asks of a store, to read it there as a store
 * (peer_store.h).
 *
 * A request is POST /peer?ask=WHAT&of=FAMILY. Its body, and the answer, are
 * frames: a byte that says what it is, its size in four bytes (big-endian), and
 * what it has.
 *
 *     of the request
 *     p  an end of the path of a member (union.h): only these are asked
 *     q  of a find or a group: the query (query_bytes.h)
 *     g  of a group: the grouping (group_bytes.h)
 *     s  of a find: the key to begin with, as after a seek
 *     k  of a get: a key, as often as there are
 *     c  of a get: the path of a column that is wanted, with a zero byte; of a
 *        find: the texts of map and reduce, which an older version does not
 *        look at, so that it sends rows
 *     m  of a mark: its name
 *     n  of a split: how many keys; of a bound: rows; eight bytes
 *     o  of a bound: the path with a zero byte, and before it '+' or '-'
 *
 *     of the answer
 *     r  a row: four bytes, the size of the key; the key; the same of the row;
 *        then for each column that matched its path, with a zero byte
 *     d  of a find with map and reduce: a row whose "value" they have made of
 *        all rows, none of which is sent
 *     v  a value: a name, a row that was found, a key, a mark
 *     u  a row that was not found
 *     z  numbers, eight bytes each
 *     g  what is known of groups (group_bytes.h)
 *     w  some words that a find or a group has found (some_words), as text
 *     f  a failure: a byte, its code, and the message. The last frame
 *     e  the end. The last frame
 *     h  nothing: rows are still looked for, or grouped
 *
 * Later versions may add kinds of frames. An older one fails on those.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_PEER_H
#define SERVE_PEER_H

#include "columns/columns.h"

enum peer_frame {
    PEER_PART = 'p',
    PEER_QUERY = 'q',
    PEER_SOUGHT = 's',
    PEER_KEY = 'k',
    PEER_COLUMN = 'c',
    PEER_MARK = 'm',
    PEER_COUNT = 'n',
    PEER_ORDER = 'o',
    PEER_GROUPING = 'g',

    PEER_ROW = 'r',
    PEER_REDUCED = 'd',
    PEER_VALUE = 'v',
    PEER_UNFOUND = 'u',
    PEER_NUMBERS = 'z',
    PEER_GROUPS = 'g',
    PEER_WORDS = 'w',
    PEER_FAILURE = 'f',
    PEER_END = 'e',
    PEER_ALIVE = 'h',
};

#define PEER_FRAME_SIZE 5 /* bytes before those of a frame */

/* What is asked. */
#define PEER_FAMILIES "families"
#define PEER_EXISTS "exists"
#define PEER_SIZES "sizes"
#define PEER_SPLIT "split"
#define PEER_GET "get"
#define PEER_READ_MARK "mark"
#define PEER_BOUND "bound"
#define PEER_FIND "find"
#define PEER_GROUP "group"

struct parameters;
struct server;
struct writer;

/* Appends a frame. */
COLANDER_CHECKED enum colander_code peer_append(struct colander_buffer *bytes,
                                                enum peer_frame kind,
                                                struct colander_slice data,
                                                struct colander_error *err);

/* Takes the first frame off `bytes`. Returns false if it is not whole. */
bool peer_take(struct colander_slice *bytes, uint8_t *kind,
               struct colander_slice *data);

/* Makes the writer of what is asked. See find.h about the arguments. */
enum colander_code peer_ask(struct server *server,
                            struct parameters *parameters,
                            struct writer **writer, const char **parameter,
                            size_t *offset, struct colander_error *err);

#endif
