/* report_dump.c: `report_dump texts|sentences page|chart` prints an example's page or chart. */
#include "report_example.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: report_dump texts|sentences page|chart\n");
        return 2;
    }
    ReportExample x = report_example(strcmp(argv[1], "sentences") == 0);
    fputs(strcmp(argv[2], "page") == 0 ? x.page.data : x.chart.data, stdout);
    report_example_free(&x);
    return 0;
}
