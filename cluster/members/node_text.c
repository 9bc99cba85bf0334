/* See node_text.h. SPDX-License-Identifier: MIT */
#include "cluster/node_text.h"
#include "cluster/text.h"
#include "core/array.h"

#include <inttypes.h>
#include <stdlib.h>

#define DETAILS_MAX ((size_t)64 << 10) /* then none are added */
#define PROBLEM_MAX 300
#define NUMBER_DIGITS_MAX 18
#define VERSION "version "
#define PROBLEM "problem "
#define PARTITION "partition "

static const char *const phases[] = {
    [NODE_TEXT_UNKNOWN] = "",
    [NODE_TEXT_OPENING] = "opening",
    [NODE_TEXT_FOLLOWING] = "following",
    [NODE_TEXT_WAITING] = "waiting",
    [NODE_TEXT_STOPPED] = "stopped",
};

#define PHASE_COUNT (sizeof(phases) / sizeof(phases[0]))

const char *
node_text_phase_name(enum node_text_phase phase)
{
    return phases[phase];
}

bool
node_text_is_detail(const char *line)
{
    return strncmp(line, VERSION, strlen(VERSION)) == 0;
}

/* -------------------------------------------------------------- reading --- */

/* Whether it is a name as FAMILY/0017. */
static bool
is_partition(const char *name)
{
    const char *slash = strchr(name, '/');
    size_t digits = 0;

    if (slash == NULL || slash == name || strchr(name, ' ') != NULL)
        return false;
    while (slash[1 + digits] >= '0' && slash[1 + digits] <= '9')
        digits++;
    return digits >= 4 && digits <= 9 && slash[1 + digits] == '\0';
}

/* Takes the next word of a line, which a space ends. Returns NULL if there is
 * none. */
static char *
next_word(char **line)
{
    char *word = *line;
    const size_t size = word == NULL ? 0 : strcspn(word, " ");

    if (size == 0)
        return NULL;
    *line = word[size] == '\0' ? NULL : word + size + 1;
    word[size] = '\0';
    return word;
}

/* Takes a number, or '-': unknown. */
static bool
next_number(char **line, int64_t *number)
{
    const char *word = next_word(line);

    *number = -1;
    if (word == NULL)
        return false;
    if (strcmp(word, "-") == 0)
        return true;
    if (strlen(word) > NUMBER_DIGITS_MAX ||
        strspn(word, "0123456789") != strlen(word))
        return false;
    *number = strtoll(word, NULL, 10);
    return true;
}

/* Reads what follows the word "partition". Returns whether it is well
 * formed. */
static bool
read_partition(char *line, struct node_text_partition *partition)
{
    const char *phase;

    partition->name = next_word(&line);
    phase = next_word(&line);
    if (partition->name == NULL || phase == NULL ||
        !is_partition(partition->name))
        return false;
    for (size_t i = 1; i < PHASE_COUNT; i++) {
        if (strcmp(phases[i], phase) == 0)
            partition->phase = (enum node_text_phase)i;
    }
    if (!next_number(&line, &partition->applied) ||
        !next_number(&line, &partition->lag) ||
        !next_number(&line, &partition->checkpoint) ||
        !next_number(&line, &partition->checkpoint_time))
        return false;
    partition->problem = line == NULL ? "" : line;
    return true;
}

static enum colander_code
read_line(char *line, struct node_text *read, size_t *capacity,
          struct colander_error *err)
{
    struct node_text_partition partition = {.applied = -1,
                                            .lag = -1,
                                            .checkpoint = -1,
                                            .checkpoint_time = -1,
                                            .problem = ""};
    enum colander_code code;

    if (strncmp(line, VERSION, strlen(VERSION)) == 0) {
        read->version = line + strlen(VERSION);
        return COLANDER_OK;
    }
    if (strncmp(line, PROBLEM, strlen(PROBLEM)) == 0) {
        read->problem = line + strlen(PROBLEM);
        return COLANDER_OK;
    }
    if (is_partition(line)) {
        partition.name = line;
        partition.is_served = true;
    } else if (strncmp(line, PARTITION, strlen(PARTITION)) != 0 ||
               !read_partition(line + strlen(PARTITION), &partition)) {
        return COLANDER_OK;
    }
    code = array_reserve(&read->partitions, read->count, capacity, 1, err);
    if (code == COLANDER_OK)
        read->partitions[read->count++] = partition;
    return code;
}

/* By name, those that are only served first. */
static int
compare(const void *a, const void *b)
{
    const struct node_text_partition *one = a;
    const struct node_text_partition *other = b;
    const int order = strcmp(one->name, other->name);

    if (order != 0)
        return order;
    return (int)other->is_served - (int)one->is_served;
}

/* Makes one of those with the same name. */
static void
join(struct node_text *read)
{
    size_t kept = 0;

    if (read->count > 1)
        qsort(read->partitions, read->count, sizeof(*read->partitions),
              compare);
    for (size_t i = 0; i < read->count; i++) {
        struct node_text_partition *last = &read->partitions[kept];

        if (kept == 0 || strcmp(last[-1].name, read->partitions[i].name) != 0) {
            *last = read->partitions[i];
            kept++;
        } else if (last[-1].phase == NODE_TEXT_UNKNOWN) {
            const bool is_served = last[-1].is_served;

            last[-1] = read->partitions[i];
            last[-1].is_served = is_served;
        }
    }
    read->count = kept;
}

static bool
is_printable(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] < ' ' || bytes[i] > '~')
            return false;
    }
    return true;
}

enum colander_code
node_text_read(struct colander_slice text, struct node_text *read,
               struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    size_t capacity = 0;
    char *line;
    char *end;

    memset(read, 0, sizeof(*read));
    read->address = read->version = read->problem = "";
    read->lines = malloc(text.size + 1);
    if (read->lines == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a text");
    if (text.size > 0)
        memcpy(read->lines, text.data, text.size);
    read->lines[text.size] = '\0';
    for (line = read->lines; code == COLANDER_OK; line = end + 1) {
        end = memchr(line, '\n', text.size - (size_t)(line - read->lines));
        if (end == NULL) /* what no line break ends was cut */
            break;
        *end = '\0';
        if (!is_printable(line, (size_t)(end - line)))
            continue;
        if (line == read->lines)
            read->address = line;
        else
            code = read_line(line, read, &capacity, err);
    }
    if (code == COLANDER_OK && read->address[0] != '\0') {
        join(read);
    } else {
        read->address = "";
        read->count = 0;
    }
    return code;
}

const struct node_text_partition *
node_text_find(const struct node_text *text, const char *name)
{
    size_t place;

    array_search(place, text->count,
                 strcmp(text->partitions[place].name, name) < 0);
    return place < text->count &&
                   strcmp(text->partitions[place].name, name) == 0
               ? &text->partitions[place]
               : NULL;
}

void
node_text_release(struct node_text *text)
{
    free(text->partitions);
    free(text->lines);
    memset(text, 0, sizeof(*text));
}

/* -------------------------------------------------------------- writing --- */

static void
add_problem(struct text *line, const char *problem)
{
    for (size_t i = 0; problem[i] != '\0' && i < PROBLEM_MAX; i++)
        text_add(line, "%c", is_printable(&problem[i], 1) ? problem[i] : '?');
}

static void
add_number(struct text *line, int64_t number)
{
    if (number < 0)
        text_add(line, " -");
    else
        text_add(line, " %" PRId64, number);
}

/* Appends the line, if there is room. Releases it. */
static enum colander_code
append(struct colander_buffer *details, struct text *line,
       struct colander_error *err)
{
    enum colander_code code = text_settle(line, err);

    if (code == COLANDER_OK && details->size + line->bytes.size <= DETAILS_MAX)
        code = colander_buffer_append(details, line->bytes.data,
                                      line->bytes.size, err);
    text_release(line);
    return code;
}

enum colander_code
node_text_add_node(struct colander_buffer *details, const char *problem,
                   struct colander_error *err)
{
    struct text line = TEXT_EMPTY;

    text_add(&line, VERSION "%s\n", colander_version());
    if (problem[0] != '\0') {
        text_add(&line, PROBLEM);
        add_problem(&line, problem);
        text_add(&line, "\n");
    }
    return append(details, &line, err);
}

enum colander_code
node_text_add_partition(struct colander_buffer *details,
                        const struct node_text_partition *partition,
                        struct colander_error *err)
{
    struct text line = TEXT_EMPTY;

    text_add(&line, PARTITION "%s %s", partition->name,
             phases[partition->phase]);
    add_number(&line, partition->applied);
    add_number(&line, partition->lag);
    add_number(&line, partition->checkpoint);
    add_number(&line, partition->checkpoint_time);
    if (partition->problem[0] != '\0')
        text_add(&line, " ");
    add_problem(&line, partition->problem);
    text_add(&line, "\n");
    return append(details, &line, err);
}
