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
    local text=$*
    cat >"$work/records"
    case $text in
    *"-H op="*) brokers op people 0 "$work/records" "${text##*-H op=}" ;;
    *) brokers put people 0 "$work/records" ;;
    esac
}

check_page following.md 7
finish
