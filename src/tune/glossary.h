/* What knobs mean, in a few words, for reports; docs/lowering.md has the whole. */
#ifndef ATN_TUNE_GLOSSARY_H
#define ATN_TUNE_GLOSSARY_H

const char *atn_glossary(const char *knob); /* "lanes_p0" as "lanes_p"; "" for one that is not ours */

#endif
