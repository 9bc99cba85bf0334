/*
 * Parameters: the target of a request, taken apart.
 *
 *     /find/my%20rows?q=lang%3Den&limit=5
 *
 * The path is split at slashes before it is decoded, so that a family may have
 * a slash in its name. It may be the parameter `family` of the target instead,
 * as in /find?family=my%20rows. A form in the body adds parameters to those of
 * the target.
 *
 * Memory: all texts are C strings, owned by the parameters until release
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SERVE_PARAMETERS_H
#define SERVE_PARAMETERS_H

#include "core/core.h"

#define PARAMETERS_PATH_MAX 3 /* parts of a path */

struct parameter {
    const char *name;
    const char *value;
};

struct parameters {
    char *path[PARAMETERS_PATH_MAX]; /* without slashes; NULL: no such part */
    struct parameter *list;          /* in their order */
    size_t count;
    size_t capacity;
    bool is_local;              /* they came through the Unix socket */
    struct colander_slice body; /* of bytes; borrowed from the request */
    char **texts;               /* what the list points into */
    size_t text_count;
    size_t text_capacity;
};

/* Replaces zeroed parameters by those of a target. Fails with INVALID if it is
 * none; release also then. */
COLANDER_CHECKED enum colander_code
parameters_read(struct parameters *parameters, const char *target,
                struct colander_error *err);

/* Adds those of a form: name=value&name=value, encoded. */
COLANDER_CHECKED enum colander_code
parameters_add_form(struct parameters *parameters, struct colander_slice form,
                    struct colander_error *err);

void parameters_release(struct parameters *parameters);

/* Fails with INVALID if there is a parameter that is not in `names`, which end
 * with NULL, or twice one of the first `single_count` of them. Sets *wrong to
 * its name. */
COLANDER_CHECKED enum colander_code
parameters_check(const struct parameters *parameters, const char *const *names,
                 size_t single_count, const char **wrong,
                 struct colander_error *err);

/* Returns the value of the first parameter of that name, or NULL. */
const char *parameters_value(const struct parameters *parameters,
                             const char *name);

/* Sets *number to the value, if there is one. Fails with INVALID if it is not
 * a number. */
COLANDER_CHECKED enum colander_code
parameters_number(const struct parameters *parameters, const char *name,
                  uint64_t *number, struct colander_error *err);

/* Sets *is_set if the parameter is there; its value may be "1", "true" or
 * empty, and clears it for "0" and "false". */
COLANDER_CHECKED enum colander_code
parameters_flag(const struct parameters *parameters, const char *name,
                bool *is_set, struct colander_error *err);

/*
 * Words: the text of a parameter, split as a shell splits a command line.
 *
 * Blanks separate words. Single quotes keep what is between them, double quotes
 * too but for a backslash before a double quote or a backslash, and a backslash
 * elsewhere keeps the next character. Nothing is expanded. So what follows
 * `colander find STORE FAMILY` on a command line means the same here.
 */
struct words {
    char **words; /* C strings, which are `text` */
    size_t count;
    char *text;
    size_t *places; /* of each byte of `text`, where it was */
};

/* Fails with INVALID if a quote is not closed, and sets *offset to it. On
 * success release. */
COLANDER_CHECKED enum colander_code words_split(struct words *words,
                                                const char *text,
                                                size_t *offset,
                                                struct colander_error *err);

/* Returns where a byte of a word was in the text that was split. */
size_t words_place(const struct words *words, size_t word, size_t offset);

/* Zeroed ones are allowed. */
void words_release(struct words *words);

#endif
