/* See broker_options.h. SPDX-License-Identifier: MIT */
#include "shell/broker_options.h"

#include <stdlib.h>

enum colander_code
broker_options_read(struct broker_options *options,
                    const struct arguments *arguments, const char *address,
                    struct colander_error *err)
{
    options->settings =
        calloc(arguments->choice_count + 1, sizeof(*options->settings));
    if (options->settings == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for options");
    for (size_t i = 0; i < arguments->choice_count; i++) {
        const struct argument_choice *choice = &arguments->choices[i];

        if (strcmp(choice->option->name, "set") == 0)
            options->settings[options->options.setting_count++] = choice->value;
    }
    options->options.settings = options->settings;
    options->options.settings_file = arguments_value(arguments, "settings");
    options->options.address = address;
    return COLANDER_OK;
}

enum colander_code
broker_options_add(struct broker_options *options,
                   const struct cluster_texts *first,
                   struct colander_error *err)
{
    const size_t count = options->options.setting_count;
    const char **all = calloc(first->count + count + 1, sizeof(*all));

    if (all == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for options");
    for (size_t i = 0; i < first->count; i++)
        all[i] = first->items[i];
    for (size_t i = 0; i < count; i++)
        all[first->count + i] = options->options.settings[i];
    free(options->settings);
    options->settings = all;
    options->options.settings = all;
    options->options.setting_count = first->count + count;
    return COLANDER_OK;
}

void
broker_options_release(struct broker_options *options)
{
    free(options->settings);
}
