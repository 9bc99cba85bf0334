/*
 * Replicas: partitions that two places have, read as one store.
 *
 * What is asked is asked of the first place. If that cannot be reached, is
 * busy, has not got the partitions any more, cannot read them, or its answer is
 * cut off, it is asked of the second one, once. A find goes there only before
 * its first row: the second place may have read more or less of the log, so
 * what follows a row would not be of the same moment. A first place that fails
 * is a suspect, and is asked last for some seconds.
 *
 * If the first row takes longer than nearly all did before, the second place is
 * asked, too, for one find of twenty at most, and who answers first is read.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef NODE_REPLICAS_H
#define NODE_REPLICAS_H

#include "columns/columns.h"

/* Opens it; it has the name of the first store. Both stores are borrowed until
 * it is closed. */
COLANDER_CHECKED enum colander_code replicas_open(struct colander_store *first,
                                                  struct colander_store *second,
                                                  struct colander_store **store,
                                                  struct colander_error *err);

#endif
