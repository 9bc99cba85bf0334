/*
 * Any text as the target of a request and as a form, and any text as words.
 * Nothing crashes, a mistake is in a parameter that is there, and a byte of a
 * word is where it says it was.
 *
 * The first line is the target, the rest the form; the whole is also split
 * into words.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"
#include "serve/parameters.h"
#include "serve/question.h"

/* A character that is neither a quote nor escaped is where it was. */
static void
split(const char *text)
{
    struct words words;
    size_t offset = 0;

    if (words_split(&words, text, &offset, NULL) != COLANDER_OK) {
        expect(offset < strlen(text));
        return;
    }
    for (size_t i = 0; i < words.count; i++) {
        const char *word = words.words[i];

        for (size_t j = 0; j < strlen(word); j++) {
            const size_t place = words_place(&words, i, j);

            expect(place < strlen(text) && text[place] == word[j]);
        }
        expect(words_place(&words, i, strlen(word)) <= strlen(text));
    }
    expect(words_place(&words, words.count, 0) == 0);
    words_release(&words);
}

static void
ask(struct parameters *parameters, bool is_get)
{
    struct question question;
    struct colander_error err = {.code = COLANDER_OK};
    const char *parameter = NULL;
    size_t offset = 0;
    bool is_there = false;
    enum colander_code code;

    memset(&question, 0, sizeof(question));
    code =
        question_read(&question, parameters, is_get, &parameter, &offset, &err);
    if (code == COLANDER_INVALID && strstr(err.message, "missing") == NULL) {
        expect(parameter != NULL);
        for (size_t i = 0; i < parameters->count; i++)
            is_there |= strcmp(parameters->list[i].name, parameter) == 0;
        expect(is_there);
    }
    if (code == COLANDER_OK)
        expect(parameters->list == NULL); /* they are taken */
    question_release(&question);
}

static void
request(const char *target, struct colander_slice form, bool is_get)
{
    struct parameters parameters;

    memset(&parameters, 0, sizeof(parameters));
    if (parameters_read(&parameters, target, NULL) == COLANDER_OK &&
        parameters_add_form(&parameters, form, NULL) == COLANDER_OK) {
        for (size_t i = 0; i < PARAMETERS_PATH_MAX; i++)
            expect(parameters.path[i] == NULL || parameters.path[i][0] != '\0');
        ask(&parameters, is_get);
    }
    parameters_release(&parameters);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);
    size_t line;

    expect(text != NULL);
    split(text);
    line = strcspn(text, "\n");
    text[line] = '\0';
    line += line < size;
    for (int is_get = 0; is_get < 2; is_get++) {
        uint8_t *form = fuzz_copy(data + line, size - line);

        request(text, (struct colander_slice){form, size - line}, is_get != 0);
        free(form);
    }
    free(text);
    return 0;
}
