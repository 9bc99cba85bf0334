/*
 * A relay: a port of this machine behind which another one seems farther away.
 * What comes on a connection is sent on a while later, in both directions.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_RELAY_H
#define BENCH_RELAY_H

#include <stdint.h>

struct bench_relay;

/* Starts its thread. `port` is where it connects to. */
struct bench_relay *bench_relay_start(uint16_t port);
void bench_relay_stop(struct bench_relay *relay);

/* Returns the port where it listens. */
uint16_t bench_relay_port(const struct bench_relay *relay);

/* Sets how long bytes are under way in each direction; any thread. */
void bench_relay_delay(struct bench_relay *relay, uint64_t delay_us);

/* Listens at a free port of 127.0.0.1, which *port is set to. Connects to one;
 * returns -1 if nothing listens there. */
int bench_listen(uint16_t *port);
int bench_connect_port(uint16_t port);

#endif
