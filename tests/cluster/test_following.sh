#!/bin/bash
# What docs/following.md shows is what the program prints.
#
# SPDX-License-Identifier: MIT
source "$(dirname "$0")/kafka_lib"

start_brokers
brokers topic people 4
cd "$work" || exit 1
export XDG_STATE_HOME=$work/state

colander() {
    "$COLANDER" "$@"
}
# Need not be installed.
# shellcheck disable=SC2317 # the page has it
kcat() {
    cat >"$work/records"
    brokers put people 0 "$work/records"
}

# The examples: lines that are indented, from the first command of a block on.
sed -n '/^    \$ /,/^$/s/^    //p' "$COLANDER_SOURCE/docs/following.md" >page
count=0
while IFS= read -r line <&3; do
    if [[ $line == '$ '* ]]; then
        command=${line#\$ }
        if [[ $command == *"<<'END'" ]]; then
            while IFS= read -r line <&3 && [ "$line" != END ]; do
                command+=$'\n'$line
            done
            command+=$'\nEND'
        fi
        eval "${command//b1:9092/$brokers}" >out 2>&1 </dev/null ||
            complain "'$command' fails: $(cat out)"
        exec 4<out
        count=$((count + 1))
    else
        IFS= read -r got <&4
        [ "$got" = "$line" ] || complain "'$command' prints '$got', not '$line'"
    fi
done 3<page
[ "$count" -ge 7 ] || complain "the page has $count examples"
finish
