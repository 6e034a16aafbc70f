/* Style sheets and scripts of reports, src/plot/web, as they were when the library was built. */
#ifndef ATN_PLOT_WEB_H
#define ATN_PLOT_WEB_H

typedef struct atn_web_file {
    const char *name; /* without its ending; NULL ends the table */
    const char *text;
} atn_web_file;

extern const atn_web_file ATN_WEB_FILES[]; /* by name; made by the build */

const char *atn_web(const char *name); /* its text; of one of ours */

#endif
