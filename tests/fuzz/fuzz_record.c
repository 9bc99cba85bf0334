/*
 * Any bytes as COLANDER, the record of options, or as DROPPED, the report of
 * what opens dropped: nothing crashes or reads past the end, whatever the
 * checksums. A record that is valid is one that would be written.
 *
 * The first byte selects the kind, and whether the checksum is corrected.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bytes.h"
#include "core/drop_report.h"
#include "core/options.h"
#include "fuzz/directory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <xxhash.h>

#define LINE_SIZE 26 /* "checksum %016x\n" */
#define REPORT_SIZE 80
#define REPORT_SUM_AT 72

static void
decode_record(const uint8_t *record, size_t size)
{
    struct colander_buffer written = COLANDER_BUFFER_EMPTY;
    struct store_identity identity;
    struct colander_options options;

    colander_options_init(&options);
    if (options_decode(colander_slice_of(record, size), &options, &identity,
                       NULL) != COLANDER_OK)
        return;
    expect(identity.text[0] == '\0' ||
           store_identity_is_valid(colander_slice_text(identity.text)));
    OK(options_encode(&options, &identity, &written, NULL));
    OK(options_decode(colander_buffer_slice(&written), &options, &identity,
                      NULL));
    colander_buffer_release(&written);
}

static void
mend_record(uint8_t *record, size_t size)
{
    char line[LINE_SIZE + 1];

    if (size < LINE_SIZE)
        return;
    (void)snprintf(line, sizeof(line), "checksum %016" PRIx64 "\n",
                   (uint64_t)XXH3_64bits(record, size - LINE_SIZE));
    memcpy(record + size - LINE_SIZE, line, LINE_SIZE);
}

static void
read_report(const uint8_t *report, size_t size)
{
    static int directory = -1;
    struct colander_recovery recovery = {.dropped_size = 1};
    int fd;

    if (directory < 0) {
        fuzz_directory_make();
        directory = open(fuzz_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    fd = openat(directory, DROP_REPORT_FILE,
                O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    expect(fd >= 0 && write(fd, report, size) == (ssize_t)size);
    (void)close(fd);
    OK(drop_report_add(directory, &recovery, NULL));
    expect(memchr(recovery.dropped_file, '\0', sizeof(recovery.dropped_file)) !=
           NULL);
    OK(drop_report_write(directory, &recovery, NULL));
    drop_report_remove(directory);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy;

    if (size < 1)
        return 0;
    copy = fuzz_copy(data + 1, --size);
    if (data[0] % 8 == 0) { /* rarely: it needs a directory */
        if ((data[0] & 8) != 0 && size >= REPORT_SIZE)
            bytes_put_le64(copy + REPORT_SUM_AT,
                           XXH3_64bits(copy, REPORT_SUM_AT));
        read_report(copy, size);
    } else {
        if ((data[0] & 2) != 0)
            mend_record(copy, size);
        decode_record(copy, size);
    }
    free(copy);
    return 0;
}
