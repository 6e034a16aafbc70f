/* The live page: who may have it, what it gets, and that work does not wait for it. */
#include "clikit.h"

#include "base/memory.h"
#include "cli/serve.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef ATN_HAVE_MICROHTTPD

typedef struct served {
    atn_cli_call call;
    atn_cli_given given;
    char *said;
    size_t length;
    atn_serve *serve;
    int port;
    char token[33];
} served;

static const atn_cli_option *serve_option(void) {
    const atn_cli_option *o = ATN_VERB_UNWRAP.options;
    while (strcmp(o->name, "serve") != 0) ++o;
    return o;
}

static void begin(served *s) {
    *s = (served){.given = {serve_option(), "0"}};
    s->call = (atn_cli_call){.ctx = cli_ctx,
                             .err = open_memstream(&s->said, &s->length),
                             .verb = &ATN_VERB_UNWRAP,
                             .given = &s->given,
                             .n_given = 1};
    kit_ok(cli_ctx, atn_serve_open(&s->call, "surface", "a <stream>", &s->serve));
    fflush(s->call.err);
    assert_int_equal(sscanf(s->said, "live view: http://127.0.0.1:%d/%32[0-9a-f]/", &s->port, s->token), 2);
    assert_int_equal(strlen(s->token), 32);
}

static void end(served *s) {
    atn_serve_close(s->serve);
    fclose(s->call.err);
    free(s->said);
}

/* Sends `request`, where %s is the token and %d the port; what came back is the caller's. */
static char *ask(const served *s, const char *method, const char *what, const char *host, size_t *length) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)s->port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    char request[512], *answer = calloc(1, 1 << 16);
    int fd = socket(AF_INET, SOCK_STREAM, 0), n;
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    n = snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: %s:%d\r\nConnection: close\r\n\r\n", method, what,
                 host, s->port);
    assert_int_equal(write(fd, request, (size_t)n), n);
    *length = 0;
    for (ssize_t got; (got = read(fd, answer + *length, (1 << 16) - 1 - *length)) > 0;) *length += (size_t)got;
    close(fd);
    return answer;
}

static void expect(const served *s, const char *method, const char *what, const char *host, const char *begins,
                   const char *part) {
    size_t length;
    char *answer = ask(s, method, what, host, &length);
    if (strncmp(answer + 9, begins, strlen(begins)) != 0) fail_msg("%s %s of %s: %.60s", method, what, host, answer);
    if (part) kit_contains(answer, part);
    free(answer);
}

KIT_TEST(strangers_get_nothing) {
    served s;
    char path[128];
    begin(&s);
    snprintf(path, sizeof path, "/%s/", s.token);
    expect(&s, "GET", path, "127.0.0.1", "200", "a &#60;stream&#62;");
    expect(&s, "GET", path, "localhost", "200", "Content-Security-Policy: default-src 'none'");
    expect(&s, "GET", path, "evil.example", "404", "not here");
    expect(&s, "POST", path, "127.0.0.1", "405", NULL);
    expect(&s, "GET", "/", "127.0.0.1", "404", NULL);
    expect(&s, "GET", "/00000000000000000000000000000000/", "127.0.0.1", "404", NULL);
    snprintf(path, sizeof path, "/%s", s.token);
    expect(&s, "GET", path, "127.0.0.1", "404", NULL);
    snprintf(path, sizeof path, "/%s/../etc/passwd", s.token);
    expect(&s, "GET", path, "127.0.0.1", "404", NULL);
    end(&s);
}

KIT_TEST(frames_and_events_arrive) {
    served s;
    char path[128];
    size_t length;
    begin(&s);
    int64_t side;
    assert_false(atn_serve_wants(s.serve, &side)); /* nobody waits */
    assert_false(atn_serve_wants(NULL, &side));
    snprintf(path, sizeof path, "/%s/frame?after=0", s.token);
    expect(&s, "GET", path, "127.0.0.1", "204", NULL); /* after a second: there is none */
    for (int k = 0; k < 3; ++k) {                      /* the last one counts; blocks are used again */
        memcpy(atn_serve_room(s.serve, 6), k < 2 ? "others" : "pixels", 6);
        atn_serve_show(s.serve, json_pack("{s:i}", "number", 1));
    }
    memcpy(atn_serve_room(s.serve, 6), "wasted", 6);
    atn_serve_show(s.serve, NULL); /* what cannot be described is not shown */
    char *answer = ask(&s, "GET", path, "127.0.0.1", &length);
    const char *body = strstr(answer, "\r\n\r\n") + 4;
    uint32_t front;
    memcpy(&front, body, 4);
    assert_int_equal(front % 8, 0);
    assert_memory_equal(body + 8, "{\"number\":1}", 12);
    assert_memory_equal(body + 8 + front, "pixels", 6);
    assert_int_equal(length - (size_t)(body - answer), 8 + front + 6);
    free(answer);
    atn_serve_event(s.serve, json_pack("{s:i}", "n", 7));
    atn_serve_event(s.serve, NULL); /* no memory for it: left out */
    atn_serve_event(s.serve, json_pack("{s:i}", "n", 8));
    snprintf(path, sizeof path, "/%s/events?after=1", s.token);
    expect(&s, "GET", path, "127.0.0.1", "200", "{\"next\":2,\"ended\":false,\"events\":[{\"n\":8}]}");
    end(&s);
}

/* A page that waits for a frame: what it says it draws is what is asked of the work. */
typedef struct looker {
    const served *s;
    const char *path;
    char *answer;
    size_t length;
} looker;

static void *look(void *given) {
    looker *l = given;
    l->answer = ask(l->s, "GET", l->path, "127.0.0.1", &l->length);
    return NULL;
}

KIT_TEST(pages_say_how_much_they_draw) {
    static const struct {
        const char *wants;
        int64_t side;
    } CASES[] = {{"&side=300", 300}, {"", 0}, {"&side=-4", 0}, {"&side=1", 1}};
    served s;
    char path[128];
    begin(&s);
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        looker l = {.s = &s, .path = path};
        pthread_t thread;
        int64_t side = -1;
        snprintf(path, sizeof path, "/%s/frame?after=%zu%s", s.token, k, CASES[k].wants);
        assert_int_equal(pthread_create(&thread, NULL, look, &l), 0);
        while (!atn_serve_wants(s.serve, &side)) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        assert_int_equal(side, CASES[k].side);
        assert_false(atn_serve_wants(s.serve, &side)); /* not twice at once */
        memcpy(atn_serve_room(s.serve, 6), "pixels", 6);
        atn_serve_show(s.serve, json_pack("{s:i}", "number", (int)k + 1));
        pthread_join(thread, NULL);
        assert_memory_equal(l.answer + 9, "200", 3);
        free(l.answer);
    }
    end(&s);
}

KIT_TEST(what_is_refused) {
    cli_refuses("unwrap - --stream --shape 4x4 --serve 70000 --frames 1", 2, "--serve cannot be '70000'");
    cli_refuses("unwrap @/none.npy --serve", 2, "--serve is for --stream");
    cli_refuses("needle @/a.ply @/b --serve", 2, "--serve is for --stream");
    cli_refuses("register @/a.ply @/b.ply @/c.ply --serve", 2, "--serve is for one pair");
    cli_refuses("register --batch @/list.csv --serve=81", 2, "--serve is for one pair");
}

#endif

int main(void) {
#ifdef ATN_HAVE_MICROHTTPD
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strangers_get_nothing),
        cmocka_unit_test(frames_and_events_arrive),
        cmocka_unit_test(pages_say_how_much_they_draw),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
#else
    puts("skipped: built without libmicrohttpd");
    return 0;
#endif
}
