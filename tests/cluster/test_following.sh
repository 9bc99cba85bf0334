#!/bin/bash
# What docs/following.md shows is what the program prints.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/kafka_lib"

start_brokers
brokers topic people 4
cd "$work" || exit 1
export XDG_STATE_HOME=$work/state

# Need not be installed.
# shellcheck disable=SC2317 # the page has it
kcat() {
    cat >"$work/records"
    brokers put people 0 "$work/records"
}

check_page following.md 7
finish
