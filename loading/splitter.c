/* See splitter.h. SPDX-License-Identifier: MIT */
#include "loading/splitter_formats.h"

void
splitter_init(struct splitter *splitter, enum record_format format,
              char delimiter)
{
    memset(splitter, 0, sizeof(*splitter));
    splitter->format = format;
    splitter->delimiter = delimiter;
}

/* Only JSON has a state between records: its place, and whether it was reported
 * that the text ends too early. Older versions set bits between these. */
#define STATE_OVER 0x10000u

uint32_t
splitter_state(const struct splitter *splitter)
{
    return splitter->json.place | (splitter->json.is_over ? STATE_OVER : 0);
}

void
splitter_resume(struct splitter *splitter, uint32_t state)
{
    splitter->json.place = state & 3;
    splitter->json.is_over = (state & STATE_OVER) != 0;
}

void
split_end(struct splitter *splitter, const struct split_text *text, size_t size,
          size_t record_size, struct split_record *ended)
{
    ended->size += size;
    ended->record = colander_slice_of(text->data, record_size);
    ended->at = 0;
    splitter->scanned = 0;
    splitter->state = 0;
}

static enum split
jsonl_next(struct splitter *splitter, struct split_text text,
           struct split_record *ended)
{
    size_t blanks = 0;
    size_t line;
    size_t size;

    if (splitter->scanned == 0 && !splitter->is_cut) {
        while (blanks < text.size && split_is_blank(text.data[blanks]))
            blanks++;
        split_step(&text, blanks, ended);
    }
    line = split_find(&text, splitter->scanned, '\n');
    splitter->scanned = line;
    if (line == text.size && !text.is_end)
        return SPLIT_MORE;
    if (text.size == 0)
        return SPLIT_END;
    size = line < text.size ? line + 1 : line;
    while (line > 0 && text.data[line - 1] == '\r')
        line--;
    split_end(splitter, &text, size, line, ended);
    return SPLIT_RECORD;
}

static enum split
format_next(struct splitter *splitter, struct split_text text,
            struct split_record *ended, struct colander_error *err)
{
    switch (splitter->format) {
    case RECORDS_JSONL:
        return jsonl_next(splitter, text, ended);
    case RECORDS_JSON:
        return splitter_json_next(splitter, text, ended, err);
    case RECORDS_CSV:
        return splitter_csv_next(splitter, text, ended, err);
    case RECORDS_INFLUX:
        return splitter_influx_next(splitter, text, ended, err);
    case RECORDS_ITEMS:
        return splitter_items_next(splitter, text, ended, err);
    case RECORDS_MSGPACK:
        break;
    }
    return splitter_msgpack_next(splitter, text, ended, err);
}

enum split
splitter_next(struct splitter *splitter, struct colander_slice text,
              bool is_end, struct split_record *ended,
              struct colander_error *err)
{
    struct split_text given = {text.data, text.size, is_end};
    enum split split;

    memset(ended, 0, sizeof(*ended));
    split = format_next(splitter, given, ended, err);
    if (split == SPLIT_MORE || split == SPLIT_BROKEN || !splitter->is_cut)
        return split;
    splitter->is_cut = false;
    ended->at = 0;
    (void)COLANDER_FAIL(err, COLANDER_LIMIT, "the record is too large");
    return SPLIT_BAD;
}

bool
splitter_give_up(struct splitter *splitter, struct colander_slice text,
                 struct split_record *ended, struct colander_error *err)
{
    struct split_text given = {text.data, text.size, false};

    memset(ended, 0, sizeof(*ended));
    if (splitter->format == RECORDS_CSV &&
        splitter_csv_give_up(splitter, given, ended, err))
        return true;
    if (splitter->format == RECORDS_INFLUX &&
        splitter_influx_give_up(splitter, given, ended, err))
        return true;
    if (splitter->format == RECORDS_ITEMS)
        splitter_items_give_up(splitter);
    splitter->is_cut = true;
    ended->size = text.size;
    if (splitter->format == RECORDS_MSGPACK)
        ended->size = splitter_msgpack_give_up(splitter, given);
    else
        splitter->scanned = 0;
    return false;
}
