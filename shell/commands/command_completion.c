/*
 * The command completion: prints a script with which a shell completes the
 * words of this program. It is generated from the tables of commands and
 * options.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command.h"

/* Prints the first line of the text, with a backslash before what the shell
 * would read as something else. */
static void
print_line(const char *text, const char *special)
{
    for (; *text != '\0' && *text != '\n'; text++) {
        if (strchr(special, *text) != NULL)
            putchar('\\');
        putchar(*text);
    }
}

/* Prints the families of a store, one a line, in each of the shells. */
#define FAMILIES(store)                                                        \
    "colander families " store " --format tsv 2>/dev/null | sed 1d | cut -f 1"

/* Prints the columns of a family in the same way, as they are written. In fish
 * two backslashes would be one. */
#define COLUMNS(store, family)                                                 \
    "colander columns " store " " family " --rows 1000 --format tsv "          \
    "2>/dev/null | sed -E '1d;s/[\\]([\\])/\\1/g' | cut -f 1"

static bool
is_one_of(const char *name, const char *const *names, size_t count)
{
    while (count > 0 && strcmp(name, names[count - 1]) != 0)
        count--;
    return count > 0;
}

/* Whether the words of the command are conditions. */
static bool
has_columns(const struct command *command)
{
    static const char *const names[] = {"find", "group", "export", "delete",
                                        "update"};

    return is_one_of(command->name, names, sizeof(names) / sizeof(names[0]));
}

/* Whether the option takes a column, or several with commas between them. */
static bool
takes_columns(const struct argument_option *option)
{
    static const char *const names[] = {"select",
                                        "order",
                                        "set",
                                        "unset",
                                        "by",
                                        "sum",
                                        "avg",
                                        "min",
                                        "max",
                                        "first",
                                        "last",
                                        "distinct",
                                        "p50",
                                        "p75",
                                        "p90",
                                        "p95",
                                        "p99",
                                        "p999",
                                        "approx-distinct",
                                        "words",
                                        "ordered",
                                        "unordered"};

    return is_one_of(option->name, names, sizeof(names) / sizeof(names[0]));
}

/* What --format prints, and what it reads. */
#define FORMATS_READ "jsonl json csv tsv msgpack influx elasticsearch"
#define FORMATS FORMATS_READ " table box markdown line pretty"

/* Returns the values of the option, or NULL: any. */
static const char *
values_of(const struct command *command, const struct argument_option *option)
{
    if (strcmp(option->name, "format") != 0)
        return NULL;
    if (strcmp(command->name, "cluster") == 0 ||
        strcmp(command->name, "follow") == 0)
        return "json msgpack";
    return strcmp(command->name, "load") == 0 ||
                   strcmp(command->name, "export") == 0
               ? FORMATS_READ
               : FORMATS;
}

/* Whether the first word of the command is one of a few. */
static bool
has_first_words(const struct command *command)
{
    return command->words[0] >= 'a' && command->words[0] <= 'z' &&
           memchr(command->words, '|', strcspn(command->words, " ")) != NULL;
}

/* Prints them, if there are any, with spaces between them. */
static void
print_first_words(const struct command *command, const char *before,
                  const char *after)
{
    if (!has_first_words(command))
        return;
    fputs(before, stdout);
    for (const char *c = command->words; *c != '\0' && *c != ' '; c++)
        putchar(*c == '|' ? ' ' : *c);
    fputs(after, stdout);
}

/* Goes through the options of a command, then through those that it has for
 * topics alone, and then through those that other commands have, too. */
struct walk {
    const struct command *command;
    const struct argument_option *next;
    unsigned step;
};

static struct walk
walk_of(const struct command *command)
{
    return (struct walk){command, command->options, 0};
}

static bool
has_option(const struct command *command, const char *name)
{
    const struct argument_option *option = command->options;

    while (option->name != NULL && strcmp(option->name, name) != 0)
        option++;
    return option->name != NULL;
}

/* Returns the next option that is to be completed, or NULL. */
static const struct argument_option *
next_option(struct walk *walk)
{
    const struct command *for_topics = walk->command->for_topics;

    for (;;) {
        const struct argument_option *option = walk->next;

        if (option->name != NULL) {
            walk->next++;
            if (option->name[0] != '\0' && option->instead == NULL &&
                !(walk->step > 0 && has_option(walk->command, option->name)))
                return option;
        } else if (walk->step == 0) {
            walk->step++;
            walk->next =
                for_topics == NULL ? options_none : for_topics->options;
        } else if (walk->step == 1) {
            walk->step++;
            walk->next = command_common_options(walk->command);
        } else {
            return NULL;
        }
    }
}

static const char *
dashes_of(const struct argument_option *option)
{
    return option->name[1] == '\0' ? "-" : "--";
}

/* ---------------------------------------------------------------- bash --- */

/* Prints the branches for values of options, and for words with a column: a
 * condition, or a list, of which the last part is completed. Columns are quoted
 * as the line needs it. */
static void
print_bash_words(void)
{
    puts("    elif [[ ${COMP_WORDS[COMP_CWORD-1]} == --format ]]; then");
    puts("        mapfile -t COMPREPLY < <(compgen -W '" FORMATS
         "' -- \"$word\")");
    puts("    elif [[ ${COMP_WORDS[COMP_CWORD-1]} =~ "
         "^--(select|order|set|unset|by|sum|avg|min|max|first|last|time|"
         "(approx-)?distinct|p[579]+0?)$ ||");
    puts("        ${COMP_WORDS[1]} =~ ^(find|group|export|delete|update)$ &&");
    puts("        ${COMP_WORDS[COMP_CWORD-1]} != --* ]]; then");
    puts("        compopt +o filenames -o nospace 2>/dev/null");
    puts("        [[ $word != *,* ]] || lead=${word%,*},");
    puts("        while IFS= read -r column; do");
    puts("            printf -v column %q \"$column\"");
    puts("            [[ $lead$column != \"$word\"* ]] ||");
    puts("                COMPREPLY+=(\"$lead$column\")");
    puts("        done < <(" COLUMNS("\"${COMP_WORDS[2]/#\\~/$HOME}\"",
                                     "\"${COMP_WORDS[3]}\"") ")");
}

static void
print_bash(const struct session *session)
{
    const struct argument_option *option;
    const struct command *command;

    printf("# Completes the words of colander in bash.\n"
           "_colander() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} options=--help family\n"
           "    local column= lead= first=\n"
           "    COMPREPLY=()\n"
           "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; (command = command_at(session, i)) != NULL; i++) {
        struct walk walk = walk_of(command);

        printf("    %s) options+='", command->name);
        while ((option = next_option(&walk)) != NULL)
            printf(" %s%s", dashes_of(option), option->name);
        putchar('\'');
        print_first_words(command, " first='", "'");
        puts(" ;;");
    }
    puts("    esac");
    puts("    if ((COMP_CWORD == 1)); then");
    printf("        mapfile -t COMPREPLY < <(compgen -d -- \"$word\"\n"
           "            compgen -W '");
    for (size_t i = 0; (command = command_at(session, i)) != NULL; i++)
        printf("%s%s", i == 0 ? "" : " ", command->name);
    puts("' -- \"$word\")");
    puts("    elif [[ $word == -* ]]; then");
    puts("        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- "
         "\"$word\")");
    puts("    elif ((COMP_CWORD == 2)) && [[ $first ]]; then");
    puts(
        "        mapfile -t COMPREPLY < <(compgen -W \"$first\" -- \"$word\")");
    puts("    elif ((COMP_CWORD == 3)); then");
    puts("        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")");
    puts("        while IFS= read -r family; do");
    puts("            [[ $family != \"$word\"* ]] || COMPREPLY+=(\"$family\")");
    puts("        done < <(" FAMILIES("\"${COMP_WORDS[2]/#\\~/$HOME}\"") ")");
    print_bash_words();
    puts("    else");
    puts("        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")");
    puts("    fi");
    puts("}");
    puts("complete -o filenames -F _colander colander");
}

/* ----------------------------------------------------------------- zsh --- */

/* Prints an option as _arguments reads it: '*--any[help]:VALUE:_files'. */
static void
print_zsh_option(const struct command *command,
                 const struct argument_option *option)
{
    const char *values = values_of(command, option);

    printf(" \\\n            '%s%s%s[", option->repeats ? "*" : "",
           dashes_of(option), option->name);
    for (const char *at = option->help; *at != '\0' && *at != '\n'; at++) {
        if (*at == '\'')
            printf("'\\'");
        if (*at == '[' || *at == ']' || *at == ':' || *at == '\\')
            putchar('\\');
        putchar(*at);
    }
    putchar(']');
    if (option->value != NULL) {
        printf(":");
        print_line(option->value, "[]:\\");
        if (values != NULL)
            printf(":(%s)", values);
        else
            printf(takes_columns(option) ? ":_colander_column" : ":_files");
    }
    putchar('\'');
}

static void
print_zsh(const struct session *session)
{
    const struct command *command;

    puts("#compdef colander");
    puts("# Completes the words of colander in zsh.");
    puts("_colander_family() {");
    puts("    local store=${${(Q)words[3]}/#\\~/$HOME}");
    puts("    local -a families=(${(f)\"$(" FAMILIES("$store") ")\"})");
    puts("    compadd -a families");
    puts("    _files");
    puts("}");
    puts("_colander_column() {");
    puts("    local store=${${(Q)words[3]}/#\\~/$HOME}");
    puts("    local -a columns=(${(f)\"$(" COLUMNS("$store",
                                                   "${(Q)words[4]}") ")\"})");
    puts("    compset -P '*,'");
    puts("    compadd -S '' -a columns");
    puts("}");
    puts("_colander() {");
    puts("    local -a commands=(");
    for (size_t i = 0; (command = command_at(session, i)) != NULL; i++)
        printf("        '%s:%s'\n", command->name, command->summary);
    printf("    )\n"
           "    if ((CURRENT == 2)); then\n"
           "        _describe command commands\n"
           "        _files -/\n"
           "        return\n"
           "    fi\n"
           "    case $words[2] in\n");
    for (size_t i = 0; (command = command_at(session, i)) != NULL; i++) {
        struct walk walk = walk_of(command);
        const struct argument_option *option;

        printf("    %s)\n        _arguments 1:command: ", command->name);
        print_first_words(command, "'2:word:(", ")'");
        if (!has_first_words(command))
            printf("'2:store:_files -/'");
        printf(" \\\n            3:family:_colander_family '*:word:_%s'",
               has_columns(command) ? "colander_column" : "files");
        while ((option = next_option(&walk)) != NULL)
            print_zsh_option(command, option);
        printf(" ;;\n");
    }
    printf("    esac\n"
           "}\n"
           "if [ \"$funcstack[1]\" = _colander ]; then\n"
           "    _colander \"$@\"\n"
           "else\n"
           "    compdef _colander colander\n"
           "fi\n");
}

/* ---------------------------------------------------------------- fish --- */

static void
print_fish(const struct session *session)
{
    const struct command *command;

    puts("# Completes the words of colander in fish.");
    puts("function __colander_families");
    puts("    set -l words (commandline -opc)");
    puts("    " FAMILIES("(string replace -r '^~' $HOME -- $words[3])"));
    puts("end");
    puts("function __colander_columns");
    puts("    set -l words (commandline -opc)");
    puts("    set -l lead (commandline -ct | string replace -r '[^,]*$' '')");
    puts("    printf '%s\\n' $lead(" COLUMNS(
        "(string replace -r '^~' $HOME -- $words[3])", "$words[4]") ")");
    puts("end");
    puts("complete -c colander -n 'test (count (commandline -opc)) = 3' "
         "-a '(__colander_families)'");
    for (size_t i = 0; (command = command_at(session, i)) != NULL; i++) {
        struct walk walk = walk_of(command);
        const struct argument_option *option;

        printf("complete -c colander -n __fish_use_subcommand -a %s -d '",
               command->name);
        print_line(command->summary, "'\\");
        printf("'\n");
        if (has_first_words(command))
            printf("complete -c colander -n '__fish_seen_subcommand_from %s; "
                   "and test (count (commandline -opc)) = 2' -f",
                   command->name);
        print_first_words(command, " -a '", "'\n");
        if (has_columns(command))
            printf("complete -c colander -n '__fish_seen_subcommand_from %s; "
                   "and test (count (commandline -opc)) -gt 3' "
                   "-a '(__colander_columns)'\n",
                   command->name);
        while ((option = next_option(&walk)) != NULL) {
            printf("complete -c colander -n '__fish_seen_subcommand_from %s' "
                   "%s %s%s -d '",
                   command->name, option->name[1] == '\0' ? "-s" : "-l",
                   option->name, option->value == NULL ? "" : " -r");
            print_line(option->help, "'\\");
            printf("'");
            if (values_of(command, option) != NULL)
                printf(" -f -a '%s'", values_of(command, option));
            else if (takes_columns(option))
                printf(" -f -a '(__colander_columns)'");
            putchar('\n');
        }
    }
}

static enum session_exit
run_completion(struct session *session, const struct arguments *arguments)
{
    static const struct {
        const char *name;
        void (*print)(const struct session *session);
    } shells[] = {
        {"bash", print_bash},
        {"zsh", print_zsh},
        {"fish", print_fish},
    };

    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        if (strcmp(shells[i].name, arguments->words[0]) == 0) {
            shells[i].print(session);
            return SESSION_FINE;
        }
    }
    return session_complain(session, SESSION_USAGE,
                            "no shell '%s': use bash, zsh or fish",
                            arguments->words[0]);
}

const struct command command_completion = {
    .name = "completion",
    .words = "bash|zsh|fish",
    .summary = "print a script that completes words in a shell",
    .help = "Prints a script with which a shell completes commands, options,\n"
            "families and columns. They are installed where the shells look "
            "for them.\n",
    .examples = "  source <(colander completion bash)\n",
    .options = options_none,
    .store = COMMAND_ALONE,
    .word_count_min = 1,
    .run = run_completion,
};
