/* A file of the notation: kernels and functions, each kernel with its lines by indentation. After an error the next
 * line is read on, so that all of a file is heard at once. */
#include "graph/notation.h"

#include "base/number.h"

#include <string.h>

typedef struct walk {
    atn_reader *reader;
    atn_file_text *file;
    size_t at; /* the current line */
    atn_kernel_text *kernel;
} walk;

static atn_parser begin(walk *w, const char *what) {
    atn_parser parser = {.reader = w->reader,
                         .text = &w->file->text,
                         .what = what,
                         .token = {.text = ""},
                         .offset = w->file->lines[w->at].offset,
                         .notation = true};
    atn_parser_advance(&parser);
    return parser;
}

static int32_t indent_of(const walk *w) { return w->at < w->file->n_lines ? w->file->lines[w->at].indent : -1; }

/* finite, tolerance 1e-5: promises that precede the lines. */
static bool promises(walk *w, atn_parser *parser) {
    bool any = false;
    while (!parser->failed) {
        size_t behind = parser->offset;
        atn_token next = atn_token_next(parser->text->value, &behind);
        if (atn_parser_at(parser, "finite") && (next.kind == ATN_TOKEN_END || *next.text == ',')) {
            atn_parser_advance(parser);
            w->kernel->finite = true;
        } else if (atn_parser_at(parser, "tolerance") &&
                   (next.kind == ATN_TOKEN_NUMBER || next.kind == ATN_TOKEN_INTEGER)) {
            atn_parser_advance(parser);
            double number =
                parser->token.kind == ATN_TOKEN_NUMBER ? parser->token.number : (double)parser->token.integer;
            if (!(number >= 0 && number < 1))
                atn_parser_complain(parser, parser->token.offset,
                                    "tolerance is a relative error from 0 to below 1, not '%.*s'",
                                    (int)parser->token.length, parser->token.text);
            w->kernel->tolerance = number;
            atn_parser_advance(parser);
        } else {
            break;
        }
        any = true;
        if (!atn_parser_take(parser, ",")) break;
    }
    if (any && !parser->failed && parser->token.kind != ATN_TOKEN_END)
        atn_parser_complain(parser, parser->token.offset, "unexpected '%.*s'", (int)parser->token.length,
                            parser->token.text);
    return any;
}

static atn_line *read_lines(walk *w, int32_t outer, int32_t depth) {
    atn_line *first = NULL, **last = &first;
    int32_t indent = indent_of(w);
    while (indent_of(w) > outer && !w->reader->failed) {
        atn_parser parser = begin(w, w->kernel->name);
        if (indent_of(w) != indent) {
            atn_parser_complain(&parser, w->file->lines[w->at].offset,
                                "the line is indented by %d, those before it by %d", indent_of(w), indent);
            w->kernel->unsure = true;
            ++w->at;
            continue;
        }
        if (depth == 1 && (atn_notation_fact(&parser, w->kernel) || promises(w, &parser))) {
            ++w->at;
            continue;
        }
        atn_line *line = atn_reader_alloc(w->reader, sizeof *line);
        if (!line) break;
        atn_notation_line(&parser, line);
        line->failed = parser.failed;
        if (parser.failed && !line->names) w->kernel->unsure = true;
        ++w->at;
        bool loop = line->kind == ATN_LINE_OVER || line->kind == ATN_LINE_FOR;
        if (indent_of(w) > indent) {
            atn_line *below = NULL;
            if (depth >= ATN_LIMIT_DEPTH) {
                atn_reader_complain(w->reader, atn_attribute_place(w->reader, &w->file->text, line->offset),
                                    w->kernel->name, "nested deeper than %d", (int)ATN_LIMIT_DEPTH);
                w->kernel->failed = true;
                while (indent_of(w) > indent) ++w->at;
            } else {
                size_t here = w->file->lines[w->at].offset;
                below = read_lines(w, indent, depth + 1);
                if (!loop && !line->failed)
                    atn_reader_complain(w->reader, atn_attribute_place(w->reader, &w->file->text, here),
                                        w->kernel->name, "the line is indented, but is in no loop");
            }
            if (line->child)
                line->child->child = below;
            else
                line->child = below;
        }
        *last = line;
        while (*last) last = &(*last)->next; /* one line may stand for several */
    }
    return first;
}

static void read_kernel(walk *w, atn_parser *parser, atn_kernel_text ***last) {
    atn_kernel_text *kernel = atn_reader_alloc(w->reader, sizeof *kernel);
    if (!kernel) return;
    int32_t indent = indent_of(w);
    atn_notation_head(parser, kernel);
    atn_notation_check_head(parser, kernel);
    if (parser->failed) kernel->failed = true;
    if (!kernel->name) kernel->name = "";
    w->kernel = kernel;
    ++w->at;
    kernel->lines = read_lines(w, indent, 1);
    **last = kernel;
    *last = &kernel->next;
    w->kernel = NULL;
}

static atn_action *read_actions(walk *w, atn_program_text *program, int32_t outer, int32_t depth) {
    atn_action *first = NULL, **last = &first;
    int32_t indent = indent_of(w);
    while (indent_of(w) > outer && !w->reader->failed) {
        atn_parser parser = begin(w, program->name);
        if (depth == 1 && (atn_notation_fact(&parser, w->kernel) || promises(w, &parser))) {
            if (parser.failed) program->failed = true;
            ++w->at;
            continue;
        }
        atn_action *action = atn_reader_alloc(w->reader, sizeof *action);
        if (!action) break;
        if (indent_of(w) != indent)
            atn_parser_complain(&parser, w->file->lines[w->at].offset,
                                "the line is indented by %d, those before it by %d", indent_of(w), indent);
        else if (depth > ATN_LIMIT_DEPTH)
            atn_parser_complain(&parser, w->file->lines[w->at].offset, "nested deeper than %d", (int)ATN_LIMIT_DEPTH);
        else
            atn_notation_action(&parser, action);
        ++w->at;
        action->failed = parser.failed;
        if (parser.failed) program->failed = true;
        if (indent_of(w) > indent && depth <= ATN_LIMIT_DEPTH) {
            size_t here = w->file->lines[w->at].offset;
            action->child = read_actions(w, program, indent, depth + 1);
            if (action->kind < ATN_ACTION_REPEAT && !action->failed)
                atn_reader_complain(w->reader, atn_attribute_place(w->reader, &w->file->text, here), program->name,
                                    "the line is indented, but is in no repeat, while or if");
        }
        *last = action;
        last = &action->next;
    }
    return first;
}

static void read_program(walk *w, atn_parser *parser, atn_program_text ***last) {
    atn_program_text *program = atn_reader_alloc(w->reader, sizeof *program);
    if (!program) return;
    int32_t indent = indent_of(w);
    atn_kernel_text head = {0};
    atn_notation_head(parser, &head);
    program->name = head.name ? head.name : "";
    program->offset = head.offset;
    program->failed = head.failed;
    program->data = head.data;
    ++w->at;
    w->kernel = &head; /* what it says of its use */
    program->actions = read_actions(w, program, indent, 1);
    w->kernel = NULL;
    program->finite = head.finite;
    program->tolerance = head.tolerance;
    **last = program;
    *last = &program->next;
}

bool atn_notation_parse(atn_reader *reader, atn_file_text *file) {
    walk w = {.reader = reader, .file = file};
    atn_kernel_text **kernels = &file->kernels;
    atn_function_text **functions = &file->functions;
    atn_program_text **programs = &file->programs;
    while (w.at < file->n_lines && !reader->failed) {
        atn_parser parser = begin(&w, NULL);
        if (atn_parser_take(&parser, "kernel")) {
            read_kernel(&w, &parser, &kernels);
        } else if (atn_parser_take(&parser, "function")) {
            atn_function_text *function = atn_reader_alloc(reader, sizeof *function);
            if (!function) return false;
            atn_notation_function(&parser, function);
            ++w.at;
            *functions = function;
            functions = &function->next;
        } else if (atn_parser_take(&parser, "program")) {
            read_program(&w, &parser, &programs);
        } else if (atn_parser_take(&parser, "sequence")) {
            file->sequence = atn_notation_word(&parser, "the sequence's name", &file->sequence_offset);
            ++w.at;
        } else {
            atn_suggestion suggestion = {.wrong = atn_parser_word(&parser, parser.token)};
            atn_suggestion_try(reader, &suggestion, "kernel");
            atn_suggestion_try(reader, &suggestion, "function");
            atn_suggestion_try(reader, &suggestion, "program");
            atn_suggestion_try(reader, &suggestion, "sequence");
            atn_parser_complain(&parser, parser.token.offset, "expected a kernel, a function or a program here%s",
                                atn_suggestion_text(reader, &suggestion));
            int32_t indent = indent_of(&w); /* what belongs to it is not looked at */
            for (++w.at; w.at < file->n_lines && indent_of(&w) > indent;) ++w.at;
        }
    }
    if (!file->kernels && !file->programs && !reader->n_complaints && !reader->failed)
        atn_reader_complain(reader, (atn_place){1, 1}, NULL, "the description holds no kernel");
    return (file->kernels || file->programs) && !reader->failed;
}
