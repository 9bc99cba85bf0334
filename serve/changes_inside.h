/*
 * A change, for the files that make some: a request that writes, as a command.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_CHANGES_INSIDE_H
#define SERVE_CHANGES_INSIDE_H

#include "serve/changes.h"
#include "serve/parameters.h"
#include "serve/reply.h"
#include "serve/runs_inside.h"

/* A parameter, and the option that it is. */
struct choice {
    const char *name;
    const char *option; /* NULL: the parameter means nothing here */
    bool is_flag;       /* it takes no value */
    bool repeats;
    const char *suffix; /* of the value; NULL: none */
};

/* An option that a command has without a parameter of this name. */
struct preset {
    const char *name;
    const char *word;
};

struct change_run;

/* A command, and what of it a request may use. */
struct change {
    const char *command;
    const struct choice *choices; /* the last has no name */
    const struct preset *presets; /* the same; NULL: none */
    const char *family; /* the parameter that names it; NULL: the path does */
    bool is_backup;     /* the parameter `family` names where it goes */
    bool is_script;     /* it has no family, but a text, which is the body */
    bool has_body;
    bool has_words; /* in the parameter q */
    bool reads;     /* it only reads: its lines are the answer, and the facts
                     * its last one */
    bool prints;    /* what it prints, if anything, is the answer */

    /* Appends the answer, and sets the status; NULL: as changes.h says. */
    enum colander_code (*answer)(struct change_run *run,
                                 struct colander_buffer *bytes,
                                 struct colander_error *err);
    enum reply_shape shape; /* of errors */
};

struct change_run {
    struct run run; /* first */
    const struct change *change;
    struct words words; /* of the parameter q */
    char **choices;     /* words that are options with their values; owned */
    size_t choice_count;
    struct server_result result;
};

#define CHOICES_END                                                            \
    {                                                                          \
        NULL, NULL, false, false, NULL                                         \
    }

/* The options of loads that the requests of all agents have. */
#define LOAD_CHOICES                                                           \
    {"add", "--add", false, true, NULL}, {"key", "--key", false, true, NULL},  \
        {"max-errors", "--max-errors", false, false, NULL},                    \
        {"partition", "--partition", false, false, NULL},                      \
        {"record-size", "--record-size", false, false, NULL},                  \
        {"sync", "--sync", true, false, NULL},                                 \
    {                                                                          \
        "type", "--type", false, true, NULL                                    \
    }

/* Makes the writer of its answer; see find.h about the arguments. */
enum colander_code change_make(const struct change *change,
                               struct server *server,
                               struct parameters *parameters,
                               struct writer **writer, const char **parameter,
                               size_t *offset, struct colander_error *err);

/* Returns the status of a failure. A body that is too large in some way is not
 * the store's fault. */
unsigned change_status(const struct change_run *run);

#endif
