/*
 * Linked with every object of one layer and only the layers below it, so that
 * an upward call is an undefined symbol. An ordinary link, which takes only
 * what it needs, would hide it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/core.h"

int
main(void)
{
    return colander_version()[0] == '\0';
}
