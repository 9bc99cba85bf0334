/*
 * What a server gets of its client: the files that the command names, and no
 * others.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/client_files.h"
#include "support/cases.h"
#include "support/temporary.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
    char directory[TEMPORARY_SIZE];
    char before[4096];
    struct colander_buffer bytes;
    struct remote_reply reply;
};

static int
setup(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    temporary_make(place->directory);
    assert_non_null(getcwd(place->before, sizeof(place->before)));
    ZERO(chdir(place->directory));
    for (const char *const *name =
             (const char *const[]){"given", "secret", "s.lua", NULL};
         *name != NULL; name++) {
        FILE *file = fopen(*name, "we");

        assert_true(fprintf(file, "%s", *name) > 0);
        ZERO(fclose(file));
    }
    *state = place;
    return 0;
}

static int
teardown(void **state)
{
    struct place *place = *state;

    ZERO(chdir(place->before));
    temporary_remove(place->directory);
    colander_buffer_release(&place->bytes);
    free(place);
    return 0;
}

static const struct argument_option options[] = {
    OPTION("rejects", "FILE", ""),
    OPTION("schema", "FILE", ""),
    OPTIONS_END,
};

/* Asks for a file of `colander load store family given --rejects ...`. */
static enum colander_code
ask(struct place *place, const char *command, enum remote_ask_kind kind,
    const char *name, const char *bytes)
{
    static const char *const words[] = {"load",     "store",     "family",
                                        "given",    "--rejects", "rejects",
                                        "--schema", "s.lua"};
    const struct remote_ask asked = {.kind = kind,
                                     .name = name,
                                     .size = 100,
                                     .bytes = colander_slice_text(bytes)};
    struct arguments arguments = {.words = NULL};
    struct client_files files;
    enum colander_code code;

    OK(arguments_parse(&arguments, options, SIZE_MAX, COUNT(words), words,
                       why()));
    colander_buffer_clear(&place->bytes);
    place->reply = (struct remote_reply){.bytes = &place->bytes};
    client_files_init(&files, command, &arguments);
    code = client_files_reply(&files, &asked, &place->reply, why());
    client_files_release(&files);
    arguments_release(&arguments);
    return code;
}

#define PLACE_TEST(name) TEST_WITH(struct place *place, name, setup, teardown)

PLACE_TEST(a_server_reads_the_files_that_the_command_names)
{
    OK(ask(place, "load", REMOTE_READ, "given", ""));
    ASSERT_SAME(colander_buffer_slice(&place->bytes),
                colander_slice_text("given"));
    assert_true(place->reply.is_end);
    OK(ask(place, "load", REMOTE_READ, "s.lua", ""));
    OK(ask(place, "load", REMOTE_LOOK, "given", ""));
    assert_int_equal(place->reply.size, 5);
    assert_int_equal(place->bytes.data[0], '/');
}

PLACE_TEST(a_server_gets_no_other_file)
{
    char path[TEMPORARY_SIZE + 16];

    (void)snprintf(path, sizeof(path), "%s/given", place->directory);
    for (const char *const *name =
             (const char *const[]){"secret", "./given", "-", "", "store",
                                   "family", "rejects", path, NULL};
         *name != NULL; name++) {
        FAILS(ask(place, "load", REMOTE_READ, *name, ""), COLANDER_INVALID);
        FAILS(ask(place, "load", REMOTE_LOOK, *name, ""), COLANDER_INVALID);
        assert_int_equal(place->bytes.size, 0);
    }
    FAILS(ask(place, "load", REMOTE_LINE, "-", "prompt"), COLANDER_INVALID);
    FAILS(ask(place, "find", REMOTE_READ, "given", ""), COLANDER_INVALID);
    assert_string_equal(error_text(), "the server asks for 'given', which it "
                                      "was not given");
}

PLACE_TEST(a_server_writes_only_the_file_of_rejects)
{
    struct stat status;

    for (const char *const *name =
             (const char *const[]){"secret", "given", "s.lua", "new", NULL};
         *name != NULL; name++) {
        FAILS(ask(place, "load", REMOTE_CUT, *name, ""), COLANDER_INVALID);
        FAILS(ask(place, "load", REMOTE_APPEND, *name, "x"), COLANDER_INVALID);
    }
    FAILS(ask(place, "find", REMOTE_CUT, "rejects", ""), COLANDER_INVALID);
    assert_int_equal(stat("rejects", &status), -1);
    assert_int_equal(stat("new", &status), -1);
    OK(ask(place, "load", REMOTE_CUT, "rejects", ""));
    ZERO(stat("rejects", &status));
    FAILS(ask(place, "load", REMOTE_APPEND, "rejects", "x"), COLANDER_IO);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
