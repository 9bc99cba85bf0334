/* See jsonline.h. SPDX-License-Identifier: MIT */
#include "serve/jsonline.h"
#include "serve/changes_inside.h"

/* Every column can be searched, so none is a message or a part of a stream. */
static const struct choice choices[] = {
    LOAD_CHOICES,
    {"family", NULL, false, false, NULL},
    {"on-duplicate", "--on-duplicate", false, false, NULL},
    {"_time_field", "--type", false, false, "=time"},
    {"_msg_field", NULL, false, false, NULL},
    {"_stream_fields", NULL, false, false, NULL},
    CHOICES_END,
};

static const struct preset presets[] = {
    {"format", "--format=jsonl"},
    {"_time_field", "--type=_time=time"},
    {NULL, NULL},
};

static const struct change change = {
    .command = "load",
    .choices = choices,
    .presets = presets,
    .family = "family",
    .has_body = true,
};

enum colander_code
jsonline_load(struct server *server, struct parameters *parameters,
              struct writer **writer, const char **parameter, size_t *offset,
              struct colander_error *err)
{
    return change_make(&change, server, parameters, writer, parameter, offset,
                       err);
}
