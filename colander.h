/*
 * Colander: a wide-column store that finds rows by any value.
 *
 * The one header to include: <colander/colander.h>. Start reading at
 * columns.h; the programs in examples/ show it in use.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_H
#define COLANDER_H

#include "columns/columns.h"
#include "columns/groups.h"
#include "core/core.h"
#include "filters/filters.h"

#endif
