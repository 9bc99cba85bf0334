/*
 * Any bytes as a stream of records, in each format: the pieces follow one
 * another and make up the whole stream, and they are the same however little of
 * it the splitter sees at a time, and whatever it forgets. The first byte
 * selects the format.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"
#include "loading/splitter.h"

struct piece {
    enum split split;
    size_t from; /* of the record */
    size_t size;
};

/* A splitter that sees `step` more bytes per request. */
struct cutter {
    struct splitter splitter;
    struct colander_slice text;
    size_t step;
    bool forgets; /* between records, everything but its state */
    size_t from;
    size_t seen;
};

static void
forget(struct splitter *splitter)
{
    uint32_t state = splitter_state(splitter);

    splitter_init(splitter, splitter->format, splitter->delimiter);
    splitter_resume(splitter, state);
}

static struct piece
next(struct cutter *cutter)
{
    struct split_record ended;
    struct piece piece;
    size_t ended_from;

    for (;;) {
        struct colander_slice shown = colander_slice_of(
            cutter->text.data + cutter->from, cutter->seen - cutter->from);
        bool is_end = cutter->seen == cutter->text.size;

        piece.split =
            splitter_next(&cutter->splitter, shown, is_end, &ended, NULL);
        expect(ended.size <= shown.size);
        ended_from = cutter->from;
        cutter->from += ended.size;
        if (piece.split != SPLIT_MORE)
            break;
        expect(!is_end);
        cutter->seen += cutter->step;
        if (cutter->seen > cutter->text.size)
            cutter->seen = cutter->text.size;
    }
    if (cutter->forgets)
        forget(&cutter->splitter);
    piece.size = ended.record.size;
    piece.from = 0;
    if (piece.size > 0)
        piece.from = (size_t)(ended.record.data - cutter->text.data);
    expect(ended.at <= piece.size || piece.split == SPLIT_BROKEN);
    expect(piece.size == 0 || (piece.from >= ended_from &&
                               piece.from + piece.size <= cutter->from));
    return piece;
}

static enum record_format
format_of(uint8_t byte)
{
    return (enum record_format)(byte < 0x80 ? byte % 4
                                            : RECORDS_INFLUX + byte % 2);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cutter cutters[3];
    struct piece whole;

    if (size == 0)
        return 0;
    for (size_t i = 0; i < 3; i++) {
        struct cutter *cutter = &cutters[i];

        memset(cutter, 0, sizeof(*cutter));
        splitter_init(&cutter->splitter, format_of(data[0]), ',');
        cutter->text = colander_slice_of(data + 1, size - 1);
        cutter->step = i == 0 ? size : i == 1 ? 1 : 7;
        cutter->forgets = i == 2;
    }
    do {
        whole = next(&cutters[0]);
        for (size_t i = 1; i < 3; i++) {
            struct piece piece = next(&cutters[i]);

            expect(piece.split == whole.split && piece.from == whole.from &&
                   piece.size == whole.size);
        }
    } while (whole.split != SPLIT_END && whole.split != SPLIT_BROKEN);
    expect(cutters[0].from == size - 1 || whole.split == SPLIT_BROKEN);
    return 0;
}
