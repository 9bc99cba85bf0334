/*
 * A fuzz target without a fuzzer: passes it each file of the given folders, its
 * seeds and earlier findings. Any compiler builds it.
 *
 * The name of a file is printed before it runs: the last one printed is the
 * culprit.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>

/* Passes the target a copy of the bytes whose allocation ends with them. */
static void
replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes;
    size_t size;

    expect(file != NULL && fseek(file, 0, SEEK_END) == 0);
    size = (size_t)ftell(file);
    bytes = malloc(size > 0 ? size : 1);
    expect(bytes != NULL && fseek(file, 0, SEEK_SET) == 0);
    expect(fread(bytes, 1, size, file) == size);
    (void)fclose(file);
    (void)fprintf(stderr, "%s: %zu bytes\n", path, size);
    expect(LLVMFuzzerTestOneInput(bytes, size) == 0);
    free(bytes);
}

static int
is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Replays the files of the folder in order of names. Returns their number. */
static size_t
replay_all(const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_shown, alphasort);

    expect(count >= 0);
    for (int i = 0; i < count; i++) {
        char path[4096];

        (void)snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        replay(path);
        free(entries[i]);
    }
    free(entries);
    return (size_t)count;
}

int
main(int argc, char **argv)
{
    size_t count = 0;

    for (int i = 1; i < argc; i++)
        count += replay_all(argv[i]);
    if (count == 0) {
        (void)fprintf(stderr, "usage: %s FOLDER... (with files)\n", argv[0]);
        return 2;
    }
    (void)printf("%zu files\n", count);
    return 0;
}
