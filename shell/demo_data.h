/*
 * Demo data: tweets and sensor readings made up, always the same ones.
 *
 * Each record is made from its number alone, so any of them can be made again
 * to compare with what a store holds.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_DEMO_DATA_H
#define SHELL_DEMO_DATA_H

#include "colander.h"

#define DEMO_RECORD_COUNT 100000 /* of each kind */

/* Makes record `number`: its key replaces `key`; *row is borrowed until the
 * builder is next used. */
typedef enum colander_code (*demo_record)(struct colander_row_builder *builder,
                                          uint32_t number,
                                          struct colander_buffer *key,
                                          struct colander_slice *row,
                                          struct colander_error *err);

/* Key "t000001"; user, text, lang, likes, profile, and for some place and
 * entities.hashtags. */
COLANDER_CHECKED enum colander_code
demo_tweet(struct colander_row_builder *builder, uint32_t number,
           struct colander_buffer *key, struct colander_slice *row,
           struct colander_error *err);

/* Key {station, time}; temperature, humidity, pressure, battery, and for few
 * fault. */
COLANDER_CHECKED enum colander_code
demo_reading(struct colander_row_builder *builder, uint32_t number,
             struct colander_buffer *key, struct colander_slice *row,
             struct colander_error *err);

#endif
