/*
 * Logs with long runs of zeros, as a failing file system leaves them: they are
 * judged quickly, and a record after them is found. Logs whose writes do not
 * follow each other.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/bytes.h"
#include "core/crc32c.h"
#include "core/log_records.h"
#include "core/logs/log_block.h"
#include "support/cases.h"
#include "support/random.h"

#include <fcntl.h>
#include <unistd.h>

#define RECORD_SIZE (LOG_HEAD_SIZE + 20)

/* Writes a whole record at `at`: a write of that sequence with `count`
 * operations. */
static void
put_write(int fd, off_t at, uint64_t sequence, uint32_t count)
{
    uint8_t record[RECORD_SIZE] = "";
    uint32_t crc;

    record[LOG_HEAD_SIZE_AT] = RECORD_SIZE - LOG_HEAD_SIZE;
    record[LOG_HEAD_TYPE_AT] = LOG_PIECE_FULL;
    memset(record + LOG_HEAD_SIZE, 'x', RECORD_SIZE - LOG_HEAD_SIZE);
    bytes_put_le64(record + LOG_HEAD_SIZE, sequence);
    bytes_put_le32(record + LOG_HEAD_SIZE + 8, count);
    crc = crc32c(0, record + LOG_HEAD_TYPE_AT, RECORD_SIZE - LOG_HEAD_TYPE_AT);
    bytes_put_le32(record, (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8));
    assert_int_equal(pwrite(fd, record, RECORD_SIZE, at), RECORD_SIZE);
}

static void
put_record(int fd, off_t at)
{
    put_write(fd, at, 1, 1);
}

/* A file with one record. */
static int
make_log(void)
{
    char path[] = "/tmp/colander-log.XXXXXX";
    const int fd = mkstemp(path);

    assert_true(fd >= 0);
    ZERO(unlink(path));
    put_record(fd, 0);
    return fd;
}

static struct log_state
check_log(int fd)
{
    char path[32];
    struct log_state state;

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    OK(log_check(AT_FDCWD, path, NULL, 0, &state, NULL));
    return state;
}

/* Reads the log as salvage does. Returns the number of records. */
static int
count_records(int fd, uint64_t *gap_size)
{
    char path[32];
    struct log_records *records;
    struct colander_slice record;
    struct log_gap gap;
    enum log_step step = LOG_RECORD;
    int count = 0;

    *gap_size = 0;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    OK(log_records_open(AT_FDCWD, path, &records, NULL));
    while (step != LOG_END) {
        OK(log_records_next(records, &step, &record, &gap, NULL));
        count += step == LOG_RECORD;
        *gap_size += step == LOG_GAP ? gap.size : 0;
    }
    log_records_close(records);
    return count;
}

/* A disk could not hold it, and reading it would take an hour. */
TEST(a_hole_of_terabytes_is_skipped)
{
    const off_t size = ((off_t)1 << 42) + 5000;
    const int fd = make_log();
    struct log_state log;
    uint64_t gap_size;

    (void)state;
    ZERO(ftruncate(fd, size));
    log = check_log(fd);
    assert_int_equal(log.whole.size, RECORD_SIZE);
    assert_int_equal(log.size, size);
    assert_false(log.has_more);
    assert_int_equal(count_records(fd, &gap_size), 1);
    assert_int_equal(gap_size, size - RECORD_SIZE);

    put_record(fd, size - 1000); /* inside a block: reading does not find it */
    assert_true(check_log(fd).has_more);
    put_record(fd, size - 5000);
    assert_true(check_log(fd).has_more);
    assert_int_equal(count_records(fd, &gap_size), 2);
    ZERO(close(fd));
}

/* Zeros that are on the disk, and holes between them. */
TEST(a_record_after_zeros_is_found_wherever_it_is)
{
    static const char zeros[3 * LOG_BLOCK_SIZE];
    uint64_t *random = random_state();

    (void)state;
    for (uint64_t i = 0; i < random_runs(200); i++) {
        const int fd = make_log();
        const off_t at =
            RECORD_SIZE + 1 + (off_t)random_below(random, 9 * LOG_BLOCK_SIZE);
        const off_t size =
            at + RECORD_SIZE + (off_t)random_below(random, LOG_BLOCK_SIZE);

        for (int run = 0; run < 3; run++) {
            const off_t from =
                RECORD_SIZE + (off_t)random_below(random, (uint64_t)at);
            const size_t left = (size_t)(size > from ? size - from : 0);

            assert_true(pwrite(fd, zeros,
                               left < sizeof(zeros) ? left : sizeof(zeros),
                               from) >= 0);
        }
        ZERO(ftruncate(fd, size));
        assert_int_equal(check_log(fd).whole.size, RECORD_SIZE);
        assert_false(check_log(fd).has_more);
        /* a record does not cross the end of a block */
        if (at % LOG_BLOCK_SIZE <= LOG_BLOCK_SIZE - RECORD_SIZE) {
            put_record(fd, at);
            assert_true(check_log(fd).has_more);
        }
        ZERO(close(fd));
    }
}

/* RocksDB begins a log with an empty write, of the sequence before or of the
 * next one. */
TEST(writes_that_do_not_follow_are_seen)
{
    static const struct {
        uint64_t sequences[3];
        uint64_t jump;
        uint32_t counts[3];
        bool repeats;
    } logs[] = {
        {{5, 7, 8}, 0, {2, 1, 3}, false}, {{5, 6, 7}, 0, {0, 1, 1}, false},
        {{6, 6, 7}, 0, {0, 1, 1}, false}, {{5, 7, 10}, 10, {2, 1, 1}, false},
        {{5, 7, 7}, 0, {2, 1, 1}, true},  {{5, 5, 5}, 0, {1, 0, 1}, true},
        {{5, 9, 4}, 9, {1, 1, 1}, true},
    };
    const int fd = make_log();

    (void)state;
    for (size_t i = 0; i < COUNT(logs); i++) {
        struct log_state log;

        for (unsigned j = 0; j < 3; j++)
            put_write(fd, (off_t)j * RECORD_SIZE, logs[i].sequences[j],
                      logs[i].counts[j]);
        log = check_log(fd);
        assert_int_equal(log.whole.size, 3 * RECORD_SIZE);
        assert_int_equal(log.jump, logs[i].jump);
        assert_int_equal(log.repeats_at != 0, logs[i].repeats);
        assert_int_equal(log.first.sequence, logs[i].sequences[0]);
    }
    ZERO(close(fd));
}
