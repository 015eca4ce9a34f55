/* SPDX-License-Identifier: MIT */
/* filter.c - understands what is asked for: patterns, times, labels. Threads: any. */
#include "preload/read/filter.h"

#include "preload/read/filter_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS ((uint64_t)1000 * 1000 * 1000)

enum { SECONDS_MAX = 1000 * 1000 * 1000 };

static int fail(char **why, const char *format, ...) PRINTF_LIKE(2, 3);
static int fail(char **why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(why, format, args) < 0)
		*why = NULL;
	va_end(args);
	return -EINVAL;
}

/* ---- patterns -------------------------------------------------------------------------------- */

static int compile(regex_t *regex, const char *option, const char *pattern, char **why)
{
	char text[128];
	int error;

	if (strlen(pattern) >= FILTER_PATTERN_SIZE)
		return fail(why, "--%s: a pattern has less than %d characters", option,
			    FILTER_PATTERN_SIZE);
	error = regcomp(regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (error == 0)
		return 0;
	regerror(error, regex, text, sizeof(text));
	return fail(why, "--%s %s: %s", option, pattern, text);
}

static int compile_all(regex_t *list, size_t *count, const char *option,
		       const char *const *patterns, char **why)
{
	while (*count < FILTER_PATTERNS_MAX && patterns[*count] != NULL) {
		int error = compile(&list[*count], option, patterns[*count], why);

		if (error != 0)
			return error;
		++*count;
	}
	return 0;
}

/* The value must match as a whole: `tenant=acme` is not `acme2`. */
static int add_label(struct filter_label *label, const char *text, char **why)
{
	const char *equals = strchr(text, '=');
	size_t length = equals != NULL ? (size_t)(equals - text) : strlen(text);
	char *pattern;
	int error;

	if (length == 0)
		return fail(why, "--label takes KEY or KEY=PATTERN, not %s", text);
	label->key = strndup(text, length);
	if (label->key == NULL)
		return -ENOMEM;
	if (equals == NULL)
		return 0;
	if (asprintf(&pattern, "^(%s)$", equals + 1) < 0)
		return -ENOMEM;
	error = compile(&label->value, "label", pattern, why);
	free(pattern);
	label->has_value = error == 0;
	return error;
}

static int add_labels(struct filter *filter, const struct filter_wish *wish, char **why)
{
	int error = 0;

	for (size_t i = 0; error == 0 && i < FILTER_PATTERNS_MAX && wish->labels[i] != NULL; i++)
		error = add_label(&filter->labels[filter->label_count++], wish->labels[i], why);
	return error;
}

/* ---- times, views, names --------------------------------------------------------------------- */

/* Whole seconds; *AT moves behind them. */
static bool read_seconds(const char **at, uint64_t *ns)
{
	char *after;
	unsigned long seconds;

	if (**at < '0' || **at > '9')
		return false;
	seconds = strtoul(*at, &after, 10);
	*at = after;
	*ns = seconds * SECOND_NS;
	return seconds < SECONDS_MAX;
}

static int set_time(struct filter *filter, const char *text, char **why)
{
	const char *at = text;
	bool is_good = true;

	if (text == NULL)
		return 0;
	filter->has_time = true;
	filter->to_ns = UINT64_MAX;
	if (*at != ':')
		is_good = read_seconds(&at, &filter->from_ns);
	is_good = is_good && *at == ':';
	if (is_good && *++at != '\0')
		is_good = read_seconds(&at, &filter->to_ns) && *at == '\0';
	if (!is_good)
		return fail(why,
			    "--time takes FROM:TO in whole seconds, which is how a recording "
			    "keeps time, not %s",
			    text);
	return filter->from_ns < filter->to_ns ? 0
					       : fail(why, "--time %s: nothing lies there", text);
}

static int set_view(struct filter *filter, const char *text, char **why)
{
	static const char *const names[] = {
		[FILTER_VIEW_GUEST] = "guest",
		[FILTER_VIEW_HOSTCALLS] = "hostcalls",
		[FILTER_VIEW_FULL] = "full",
	};

	if (text == NULL)
		return 0;
	for (size_t i = FILTER_VIEW_GUEST; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], text) == 0) {
			filter->view = (enum filter_view)i;
			return 0;
		}
	}
	return fail(why, "--view takes guest, hostcalls or full, not %s", text);
}

static int copy_text(char **to, const char *from)
{
	*to = from != NULL ? strdup(from) : NULL;
	return from != NULL && *to == NULL ? -ENOMEM : 0;
}

/* ---- as text --------------------------------------------------------------------------------- */

static void put_option(FILE *out, const char *option, const char *value)
{
	if (value != NULL)
		fprintf(out, "%s--%s %s", ftell(out) > 0 ? " " : "", option, value);
}

static int set_text(struct filter *filter, const struct filter_wish *wish)
{
	size_t size;
	FILE *out = open_memstream(&filter->text, &size);

	if (out == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < FILTER_PATTERNS_MAX; i++) {
		put_option(out, "include", wish->include[i]);
		put_option(out, "exclude", wish->exclude[i]);
		put_option(out, "label", wish->labels[i]);
	}
	put_option(out, "focus", wish->focus);
	put_option(out, "module", wish->module);
	put_option(out, "instance", wish->instance);
	put_option(out, "thread", wish->thread);
	put_option(out, "time", wish->time);
	put_option(out, "view", wish->view);
	return fclose(out) == 0 && filter->text != NULL ? 0 : -ENOMEM;
}

/* ---- a filter -------------------------------------------------------------------------------- */

static int set_patterns(struct filter *filter, const struct filter_wish *wish, char **why)
{
	int error =
		compile_all(filter->include, &filter->include_count, "include", wish->include, why);

	if (error == 0)
		error = compile_all(filter->exclude, &filter->exclude_count, "exclude",
				    wish->exclude, why);
	if (error == 0 && wish->focus != NULL) {
		error = compile(&filter->focus, "focus", wish->focus, why);
		filter->has_focus = error == 0;
	}
	return error != 0 ? error : add_labels(filter, wish, why);
}

struct filter *filter_new(const struct filter_wish *wish, char **why)
{
	struct filter *filter = calloc(1, sizeof(*filter));
	int error = filter != NULL ? 0 : -ENOMEM;

	*why = NULL;
	if (error == 0)
		error = set_patterns(filter, wish, why);
	if (error == 0)
		error = set_time(filter, wish->time, why);
	if (error == 0)
		error = set_view(filter, wish->view, why);
	if (error == 0)
		error = copy_text(&filter->module, wish->module);
	if (error == 0)
		error = copy_text(&filter->instance, wish->instance);
	if (error == 0)
		error = copy_text(&filter->thread, wish->thread);
	if (error == 0)
		error = set_text(filter, wish);
	if (error == 0)
		return filter;
	filter_free(filter);
	return NULL;
}

void filter_free(struct filter *filter)
{
	if (filter == NULL)
		return;
	for (size_t i = 0; i < filter->include_count; i++)
		regfree(&filter->include[i]);
	for (size_t i = 0; i < filter->exclude_count; i++)
		regfree(&filter->exclude[i]);
	for (size_t i = 0; i < filter->label_count; i++) {
		if (filter->labels[i].has_value)
			regfree(&filter->labels[i].value);
		free(filter->labels[i].key);
	}
	if (filter->has_focus)
		regfree(&filter->focus);
	free(filter->module);
	free(filter->instance);
	free(filter->thread);
	free(filter->text);
	free(filter);
}
