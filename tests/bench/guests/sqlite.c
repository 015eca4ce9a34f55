/* SPDX-License-Identifier: MIT */
/* sqlite.c - a database in memory: rows, an index, a join, an update. Many functions, none hot. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static int print_row(void *unused, int count, char **values, char **names)
{
	(void)unused, (void)names;
	for (int i = 0; i < count; i++)
		printf("%s ", values[i]);
	puts("");
	return 0;
}

static const char steps[] =
	"CREATE INDEX by_name ON item(name);"
	"SELECT count(*), sum(a.price) FROM item a JOIN item b ON a.name = b.name"
	"	WHERE b.price > 10 AND a.name LIKE '%7%';"
	"SELECT name, count(*) n FROM item GROUP BY substr(name, 1, 2) ORDER BY n DESC LIMIT 3;"
	"UPDATE item SET name = name || 'x' WHERE id % 3 = 0;"
	"DELETE FROM item WHERE id % 2 = 0;"
	"SELECT count(*) FROM item;";

int main(int argc, char **argv)
{
	int rows = argc > 1 ? atoi(argv[1]) : 1000;
	char *fill, *error = NULL;
	sqlite3 *database;

	if (sqlite3_open(":memory:", &database) != SQLITE_OK)
		return 1;
	fill = sqlite3_mprintf(
		"CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL);"
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
		"	INSERT INTO item SELECT i, hex(i * 7919 %% %d), i * 0.5 FROM n;",
		rows, rows);
	if (sqlite3_exec(database, fill, NULL, NULL, &error) != SQLITE_OK ||
	    sqlite3_exec(database, steps, print_row, NULL, &error) != SQLITE_OK) {
		fprintf(stderr, "sqlite: %s\n", error);
		return 1;
	}
	return 0;
}
