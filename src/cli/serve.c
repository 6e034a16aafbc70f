/* The live page. Every connection has a thread (libmicrohttpd), which waits up to a second for what is newer than what
 * its page has. Requests other than GET, without the token, or under another host's name (a page elsewhere that was
 * rebound to this address) are refused. */
#include "cli/serve.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "plot/page.h"
#include "plot/slices.h"
#include "plot/surface.h"
#include "plot/web.h"

#ifdef ATN_HAVE_MICROHTTPD

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ABOUT = 1024, TOKEN = 32, MOST_EVENTS = 20000, MOST_CONNECTIONS = 16, FRAMES_A_SECOND = 30 };
static const double WAIT_S = 1, GONE_S = 5, UNSEEN_S = 60; /* of a request; of a page that was closed; before the first
                                                            * page */

/* Bytes that several threads may be sending. */
typedef struct block {
    atn_serve *serve;
    atomic_int users;
    size_t length, room;
    char bytes[];
} block;

struct atn_serve {
    const atn_cli_call *call;
    const atn_ctx *ctx;
    struct MHD_Daemon *daemon;
    char token[TOKEN + 1];
    char host[2][32]; /* that a request may name */
    char address[80];
    atn_text page; /* as it is sent */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t frame;          /* number of the newest; 0: none */
    block *newest;          /* a length, an object, bytes */
    block *filling;         /* the next one, not shown yet */
    _Atomic(block *) spare; /* one that is no longer being sent: large blocks cost more to allocate than to fill */
    char **events;          /* owned texts */
    size_t n_events, room;
    bool ended, closing;
    atomic_int waiting;     /* requests for a frame that is not there yet */
    _Atomic int64_t side;   /* pixels that the largest of them draws along a side; 0: none is waiting */
    double due_s;           /* when the next frame may be sent; used by the thread that does */
    _Atomic double asked_s; /* when a page asked last; 0: never */
};

/* ---- blocks ---- */

static void let_go(void *given) {
    block *b = given;
    if (!b || atomic_fetch_sub(&b->users, 1) != 1) return;
    const atn_ctx *ctx = b->serve->ctx;
    atn_free(ctx, atomic_exchange(&b->serve->spare, b));
}

static block *block_make(atn_serve *s, size_t length) {
    block *b = atomic_exchange(&s->spare, NULL);
    if (b && b->room < length) {
        atn_free(s->ctx, b);
        b = NULL;
    }
    if (!b && (b = atn_alloc(s->ctx, sizeof *b + length))) b->room = length;
    if (!b) return NULL;
    b->serve = s;
    b->length = length;
    atomic_init(&b->users, 1);
    return b;
}

/* ---- answers ---- */

static void wait_a_little(atn_serve *s, double until_s) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    double left = fmax(0, until_s - atn_clock_seconds());
    long nano = end.tv_nsec + (long)(left * 1e9);
    end.tv_sec += nano / 1000000000;
    end.tv_nsec = nano % 1000000000;
    pthread_cond_timedwait(&s->changed, &s->lock, &end);
}

static enum MHD_Result send_response(struct MHD_Connection *to, unsigned code, const char *type,
                                     struct MHD_Response *r) {
    static const char *const HEADERS[][2] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                                    "connect-src 'self'; img-src data:"}};
    if (!r) return MHD_NO;
    MHD_add_response_header(r, "Content-Type", type);
    for (size_t k = 0; k < sizeof HEADERS / sizeof *HEADERS; ++k)
        MHD_add_response_header(r, HEADERS[k][0], HEADERS[k][1]);
    enum MHD_Result sent = MHD_queue_response(to, code, r);
    MHD_destroy_response(r);
    return sent;
}

static enum MHD_Result send_text(struct MHD_Connection *to, unsigned code, const char *type, const char *text) {
    return send_response(to, code, type,
                         MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY));
}

static int64_t number_of(struct MHD_Connection *connection, const char *name) {
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
    return text ? strtoll(text, NULL, 10) : 0;
}

/* A page that says nothing wants every pixel. */
static void wait_for(atn_serve *s, int64_t side) {
    int64_t wanted = side > 0 ? side : INT64_MAX, before = atomic_load(&s->side);
    while (before < wanted && !atomic_compare_exchange_weak(&s->side, &before, wanted)) continue;
    atomic_fetch_add(&s->waiting, 1);
}

/* The newest frame, once it is another one than the page has. */
static enum MHD_Result send_frame(atn_serve *s, struct MHD_Connection *to) {
    int64_t after = number_of(to, "after"), side = number_of(to, "side");
    double until = atn_clock_seconds() + WAIT_S;
    block *b = NULL;
    pthread_mutex_lock(&s->lock);
    bool waits = s->frame == after;
    if (waits) wait_for(s, side);
    while (s->frame == after && !s->closing && !s->ended && atn_clock_seconds() < until) wait_a_little(s, until);
    if (waits) atomic_fetch_sub(&s->waiting, 1);
    if (s->frame != after && s->newest) {
        b = s->newest;
        atomic_fetch_add(&b->users, 1);
    }
    pthread_mutex_unlock(&s->lock);
    if (!b) return send_text(to, MHD_HTTP_NO_CONTENT, "text/plain", "");
    struct MHD_Response *r = MHD_create_response_from_buffer_with_free_callback_cls(b->length, b->bytes, let_go, b);
    if (!r) let_go(b);
    return send_response(to, MHD_HTTP_OK, "application/octet-stream", r);
}

/* {"next": N, "ended": false, "events": [...]} from event number `after` on. */
static enum MHD_Result send_events(atn_serve *s, struct MHD_Connection *to) {
    atn_text text = {.ctx = s->ctx};
    int64_t after = number_of(to, "after");
    size_t from = after > 0 ? (size_t)after : 0;
    double until = atn_clock_seconds() + WAIT_S;
    pthread_mutex_lock(&s->lock);
    while (from >= s->n_events && !s->closing && !s->ended && atn_clock_seconds() < until) wait_a_little(s, until);
    atn_text_printf(&text, "{\"next\":%zu,\"ended\":%s,\"events\":[", s->n_events, s->ended ? "true" : "false");
    for (size_t k = from; k < s->n_events; ++k) {
        atn_text_add(&text, k > from ? "," : "");
        atn_text_add(&text, s->events[k]);
    }
    pthread_mutex_unlock(&s->lock);
    atn_text_add(&text, "]}");
    enum MHD_Result sent =
        text.failed ? MHD_NO : send_text(to, MHD_HTTP_OK, "application/json; charset=utf-8", atn_text_str(&text));
    atn_text_free(&text);
    return sent;
}

static bool allowed(const atn_serve *s, struct MHD_Connection *connection) {
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    return host && (strcmp(host, s->host[0]) == 0 || strcmp(host, s->host[1]) == 0);
}

static enum MHD_Result answer(void *given, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload,
                              size_t *upload_size, /* NOLINT(readability-non-const-parameter): as the library has it */
                              void **state) {
    atn_serve *s = given;
    (void)version, (void)upload, (void)upload_size;
    if (!*state) { /* the header alone: answered now, the connection would have to be closed */
        *state = s;
        return MHD_YES;
    }
    if (strcmp(method, "GET") != 0)
        return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", "GET only\n");
    if (!allowed(s, connection) || *url != '/' || strncmp(url + 1, s->token, TOKEN) != 0 || url[1 + TOKEN] != '/')
        return send_text(connection, MHD_HTTP_NOT_FOUND, "text/plain", "not here\n");
    atomic_store(&s->asked_s, atn_clock_seconds());
    const char *what = url + TOKEN + 2;
    if (!*what) return send_text(connection, MHD_HTTP_OK, "text/html; charset=utf-8", atn_text_str(&s->page));
    if (strcmp(what, "frame") == 0) return send_frame(s, connection);
    if (strcmp(what, "events") == 0) return send_events(s, connection);
    return send_text(connection, MHD_HTTP_NOT_FOUND, "text/plain", "not here\n");
}

/* ---- the page ---- */

static void make_page(atn_serve *s, const char *kind, const char *title) {
    atn_text *page = &s->page;
    bool surface = strcmp(kind, "surface") == 0, needle = strcmp(kind, "needle") == 0;
    char heading[64];
    snprintf(heading, sizeof heading, "attune %s, live", s->call->verb->name);
    atn_page_begin(page, heading, title);
    atn_text_printf(page, "<style>\n%s</style>\n<div id=\"live\">\n", atn_web("live_style"));
    atn_text_add(page, "<p class=\"tools\"><span id=\"state\" class=\"state\">connecting</span>"
                       "<button type=\"button\" id=\"pause\">Pause</button><span id=\"facts\"></span></p>\n");
    if (surface) atn_surface_frame(page);
    if (needle) atn_slices_frame(page);
    if (surface || needle) atn_text_add(page, "</div>\n");
    atn_text_add(page, "<div id=\"charts\" class=\"charts\"></div><div id=\"rows\"></div></div>\n"
                       "<script>/*<![CDATA[*/\n(function() {\n");
    if (surface) atn_text_add(page, atn_web("surface"));
    if (needle) atn_text_add(page, atn_web("slices"));
    atn_text_printf(page, "%sshowLive('%s', %s);\n})();\n/*]]>*/</script>\n", atn_web("live"), kind,
                    surface  ? "showSurface(document.querySelector('.surface'))"
                    : needle ? "showSlices(document.querySelector('.slices'))"
                             : "null");
    atn_cli_origin origin;
    atn_cli_origin_make(s->call, &origin);
    atn_page_end(page, &origin.page);
    if (origin.command.failed || origin.machine.failed) page->failed = true;
    atn_cli_origin_free(&origin);
}

/* ---- opening and closing ---- */

static atn_status make_token(const atn_ctx *ctx, char token[TOKEN + 1]) {
    unsigned char bytes[TOKEN / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return atn_fail(ctx, ATN_ERR_IO, "--serve: no random numbers for its address");
    for (size_t k = 0; k < sizeof bytes; ++k) snprintf(token + 2 * k, 3, "%02x", bytes[k]);
    return ATN_OK;
}

static atn_status start(atn_serve *s, unsigned port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, (uint16_t)port, NULL,
                                 NULL, answer, s, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_LIMIT,
                                 (unsigned)MOST_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, 30u, MHD_OPTION_END);
    const union MHD_DaemonInfo *info = s->daemon ? MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info)
        return atn_fail(s->ctx, ATN_ERR_IO, "--serve: port %u of 127.0.0.1 cannot be listened on%s%s", port,
                        errno ? ": " : "", errno ? strerror(errno) : "");
    snprintf(s->host[0], sizeof s->host[0], "127.0.0.1:%u", (unsigned)info->port);
    snprintf(s->host[1], sizeof s->host[1], "localhost:%u", (unsigned)info->port);
    return ATN_OK;
}

static atn_status read_port(const atn_cli_call *call, unsigned *port) {
    const char *text = atn_cli_value(call, "serve");
    char *end;
    *port = 0;
    if (!text) return ATN_OK;
    double number = atn_number_read(text, &end);
    if (end == text || *end || !(number >= 0 && number <= 65535) || number != floor(number))
        return atn_cli_misuse((atn_cli_call *)(uintptr_t)call, "--serve cannot be '%s'; it takes a port, or nothing",
                              text);
    *port = (unsigned)number;
    return ATN_OK;
}

const char *atn_serve_address(const atn_serve *s) { return s->address; }

atn_status atn_serve_start(const atn_cli_call *call, unsigned port, const char *kind, const char *title,
                           atn_serve **out) {
    atn_status status;
    *out = NULL;
    atn_serve *s = atn_zalloc(call->ctx, sizeof *s);
    if (!s) return ATN_ERR_MEMORY;
    s->call = call;
    s->ctx = call->ctx;
    s->page = (atn_text){.ctx = call->ctx};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    make_page(s, kind, title);
    status = atn_text_status(&s->page);
    if (!status) status = make_token(s->ctx, s->token);
    errno = 0;
    if (!status) status = start(s, port);
    if (status) {
        atn_serve_close(s);
        return status;
    }
    snprintf(s->address, sizeof s->address, "%s/%s", s->host[0], s->token);
    *out = s;
    return ATN_OK;
}

atn_status atn_serve_open(const atn_cli_call *call, const char *kind, const char *title, atn_serve **out) {
    unsigned port;
    *out = NULL;
    if (!atn_cli_has(call, "serve")) return ATN_OK;
    atn_status status = read_port(call, &port);
    if (!status) status = atn_serve_start(call, port, kind, title, out);
    if (!status) {
        fprintf(call->err, "live view: http://%s/\n", (*out)->address);
        fflush(call->err);
    }
    return status;
}

void atn_serve_close(atn_serve *s) {
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (s->daemon) MHD_stop_daemon(s->daemon);
    let_go(s->newest);
    let_go(s->filling);
    atn_free(s->ctx, atomic_load(&s->spare));
    for (size_t k = 0; k < s->n_events; ++k) atn_free(s->ctx, s->events[k]);
    atn_free(s->ctx, s->events);
    atn_text_free(&s->page);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    atn_free(s->ctx, s);
}

/* ---- what is shown ---- */

static int append(const char *bytes, size_t length, void *text) {
    atn_text_add_bytes(text, bytes, length);
    return 0;
}

/* An object in one line; drops the reference. False: there is none, or no memory. */
static bool print(const atn_serve *s, json_t *object, atn_text *out) {
    *out = (atn_text){.ctx = s ? s->ctx : NULL};
    bool good = s && object && json_dump_callback(object, append, out, JSON_COMPACT) == 0 && !out->failed;
    json_decref(object);
    if (!good && s) atn_text_free(out);
    return good;
}

bool atn_serve_wants(atn_serve *s, int64_t *side) {
    const double period = 1.0 / FRAMES_A_SECOND;
    if (!s || atomic_load(&s->waiting) == 0) return false;
    double now = atn_clock_seconds();
    if (now < s->due_s) return false;
    /* On time on average, though frames come when they come. */
    s->due_s = (now - s->due_s < period ? s->due_s : now) + period;
    int64_t wanted = atomic_exchange(&s->side, 0);
    *side = wanted == INT64_MAX ? 0 : wanted;
    return true;
}

void *atn_serve_room(atn_serve *s, size_t length) {
    s->filling = block_make(s, 8 + MOST_ABOUT + length);
    return s->filling ? s->filling->bytes + 8 + MOST_ABOUT : NULL;
}

void atn_serve_show(atn_serve *s, json_t *about) {
    atn_text text;
    block *b = s->filling;
    s->filling = NULL;
    if (!print(s, about, &text) || text.length > MOST_ABOUT) {
        let_go(b);
        return;
    }
    const uint32_t sizes[2] = {MOST_ABOUT, 0};
    memcpy(b->bytes, sizes, 8);
    memset(b->bytes + 8, ' ', MOST_ABOUT);
    memcpy(b->bytes + 8, text.data, text.length);
    atn_text_free(&text);
    pthread_mutex_lock(&s->lock);
    block *before = s->newest;
    s->newest = b;
    ++s->frame;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    let_go(before);
}

void atn_serve_event(atn_serve *s, json_t *event) {
    atn_text text;
    if (!print(s, event, &text)) return;
    pthread_mutex_lock(&s->lock);
    bool kept = s->n_events < MOST_EVENTS &&
                atn_grow(s->ctx, (void **)&s->events, &s->room, s->n_events, sizeof *s->events) == ATN_OK;
    if (kept) s->events[s->n_events++] = text.data;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (!kept) atn_text_free(&text);
}

void atn_serve_end(atn_serve *s, json_t *summary) {
    if (!s) {
        json_decref(summary);
        return;
    }
    atn_serve_event(s, summary);
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    int descriptor = fileno(s->call->err);
    bool told = descriptor >= 0 && isatty(descriptor), said = false;
    double since = atn_clock_seconds();
    while (atn_check_cancel(s->ctx) == ATN_OK) {
        double asked = atomic_load(&s->asked_s), now = atn_clock_seconds();
        if (asked > 0 ? now - asked > GONE_S : !told || now - since > UNSEEN_S) break;
        if (!said && told) fprintf(s->call->err, "done; the live view stays until its page is closed, or Ctrl-C\n");
        said = true;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
}

#else

atn_status atn_serve_start(const atn_cli_call *call, unsigned port, const char *kind, const char *title,
                           atn_serve **out) {
    (void)port, (void)kind, (void)title;
    *out = NULL;
    return atn_fail(call->ctx, ATN_ERR_UNSUPPORTED, "attune was built without libmicrohttpd");
}
const char *atn_serve_address(const atn_serve *serve) {
    (void)serve;
    return "";
}
atn_status atn_serve_open(const atn_cli_call *call, const char *kind, const char *title, atn_serve **out) {
    (void)kind, (void)title;
    *out = NULL;
    if (!atn_cli_has(call, "serve")) return ATN_OK;
    return atn_fail(call->ctx, ATN_ERR_UNSUPPORTED, "--serve: attune was built without libmicrohttpd");
}
void atn_serve_close(atn_serve *serve) { (void)serve; }
bool atn_serve_wants(atn_serve *serve, int64_t *side) {
    (void)serve, (void)side;
    return false;
}
void *atn_serve_room(atn_serve *serve, size_t length) {
    (void)serve, (void)length;
    return NULL;
}
void atn_serve_show(atn_serve *serve, json_t *about) {
    (void)serve;
    json_decref(about);
}
void atn_serve_event(atn_serve *serve, json_t *event) {
    (void)serve;
    json_decref(event);
}
void atn_serve_end(atn_serve *serve, json_t *summary) {
    (void)serve;
    json_decref(summary);
}

#endif
